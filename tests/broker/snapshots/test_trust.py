"""A state file from somebody else: its settings name no address, file or URL that the cluster uses, unless the file is trusted."""

from __future__ import annotations

import re
from random import Random

import pytest

from odradek.broker.cluster.state import ClusterState
from odradek.broker.scheduling.timers import Timers
from odradek.broker.scheduling.turns import Turns
from odradek.broker.settings.cluster_config import cluster_of
from odradek.broker.settings.properties import InvalidConfig
from odradek.broker.settings.rows import SETTINGS
from odradek.broker.snapshots.cluster import State, write_cluster
from odradek.broker.snapshots.loading import OUTSIDE, loaded_config

LOCAL = {"listeners": "PLAINTEXT://127.0.0.1:9092"}
JWKS = "sasl.oauthbearer.jwks.endpoint.url"


def saved(**dynamic: dict[str, str]) -> State:
    cluster = ClusterState(cluster_of([LOCAL], nodes=1), Turns(Timers(0), lambda: 0.0), Random(1))
    state = write_cluster(cluster)
    for kind, settings in dynamic.items():
        state["nodes"][0][kind] = [list(pair) for pair in settings.items()]
    return state


def edited(**static: str) -> State:
    state = saved()
    settings = dict(state["nodes"][0]["static"]) | {name.replace("_", "."): value for name, value in static.items()}
    state["nodes"][0]["static"] = [[name, value] for name, value in settings.items() if value]
    return state


HOSTILE = [
    (edited(listeners="PLAINTEXT://0.0.0.0:9092", advertised_listeners=""), "listeners=PLAINTEXT://0.0.0.0:9092"),
    (edited(listeners=""), "listeners=PLAINTEXT://0.0.0.0:9092"),
    (edited(listeners="", advertised_listeners="PLAINTEXT://localhost:9092"), "listeners=PLAINTEXT://0.0.0.0:9092"),
    (edited(advertised_listeners="PLAINTEXT://evil.example:9092"), "advertised.listeners=PLAINTEXT://evil.example:9092"),
    (edited(ssl_keystore_location="/etc/shadow"), "ssl.keystore.location=/etc/shadow"),
    (edited(ssl_truststore_location="/dev/zero"), "ssl.truststore.location=/dev/zero"),
    (edited(listener_name_plaintext_ssl_keystore_location="/a"), "listener.name.plaintext.ssl.keystore.location=/a"),
    (edited(sasl_oauthbearer_jwks_endpoint_url="http://10.0.0.1/"), f"{JWKS}=http://10.0.0.1/"),
    (saved(own={"listener.name.plaintext.ssl.keystore.location": "/a"}), "listener.name.plaintext.ssl.keystore.location=/a"),
    (saved(cluster_wide={"ssl.truststore.location": "/a"}), "ssl.truststore.location=/a"),
]


@pytest.mark.parametrize(("state", "named"), HOSTILE)
def test_settings_that_name_something_outside_need_trust(state: State, named: str) -> None:
    expected = re.escape(f"the saved settings of node 1 contain {named}; set it yourself, or, if you trust")
    with pytest.raises(InvalidConfig, match=expected):
        loaded_config(state, [{}])
    assert loaded_config(state, [{}], trust=True).nodes


@pytest.mark.parametrize(
    ("state", "given"),
    [
        (edited(listeners="PLAINTEXT://0.0.0.0:9092", advertised_listeners=""), {"listeners": "PLAINTEXT://0.0.0.0:1"}),
        (edited(advertised_listeners="PLAINTEXT://evil.example:9092"), {"advertised.listeners": "PLAINTEXT://kafka:9092"}),
        (edited(advertised_listeners="PLAINTEXT://evil.example:9092"), {"listeners": "PLAINTEXT://127.0.0.1:1"}),
        (edited(ssl_keystore_location="/etc/shadow"), {"ssl.keystore.location": "mine.pem"}),
    ],
)
def test_given_settings_replace_those_that_need_trust(state: State, given: dict[str, str]) -> None:
    (node,) = loaded_config(state, [given]).nodes
    assert all(node.properties[name] == value for name, value in given.items())
    assert "evil" not in str(node) and "shadow" not in str(node)


NOT_OUTSIDE = {
    **dict.fromkeys(("listeners", "advertised.listeners"), "the addresses are checked"),
    **dict.fromkeys(("log.dir", "log.dirs", "cordoned.log.dirs"), "names in responses; logs are in memory"),
    **dict.fromkeys(("authorizer.class.name", "metric.reporters", "replica.selector.class"), "names of known classes; none is loaded"),
    **dict.fromkeys(("controller.listener.names", "inter.broker.listener.name"), "names of listeners"),
    "listener.security.protocol.map": "protocols of listeners",
    "replica.alter.log.dirs.io.max.bytes.per.second": "a quota",
    "sasl.jaas.config": "users and passwords; no login module is loaded",
}


def test_each_setting_that_may_name_something_outside_is_judged() -> None:
    pattern = re.compile(r"listeners?\b|\b(location|url|file|path|dirs?|hosts?|servers|voters|class|reporters|providers|jaas)\b")
    found = {row.name for row in SETTINGS if row.acts and pattern.search(row.name)}
    assert found == NOT_OUTSIDE.keys() | set(OUTSIDE)
