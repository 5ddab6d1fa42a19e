"""The configuration of a cluster that is started with a saved state."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from odradek.broker.cluster.state import ClusterState
from odradek.broker.scheduling.timers import Timers
from odradek.broker.scheduling.turns import Turns
from odradek.broker.settings.cluster_config import NodeConfig, cluster_of
from odradek.broker.settings.listeners import Listener
from odradek.broker.settings.properties import InvalidConfig
from odradek.broker.snapshots.cluster import State, nodes_of, write_cluster
from odradek.broker.snapshots.loading import any_ports, loaded_config

LISTENERS = "INTERNAL://127.0.0.1:29092,EXTERNAL://127.0.0.1:9092"
SETTINGS = {
    "listeners": LISTENERS,
    "advertised.listeners": "INTERNAL://kafka:29092,EXTERNAL://localhost:9092",
    "listener.security.protocol.map": "INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT",
    "broker.rack": "a",
    "num.partitions": "7",
}


def saved(nodes: int = 2, **others: str) -> tuple[State, tuple[NodeConfig, ...]]:
    config = cluster_of([SETTINGS | others], nodes=nodes, cluster_id="id", ignore_unknown_settings=True)
    config = replace(config, nodes=tuple(node.with_listeners(node.listeners) for node in config.nodes))
    cluster = ClusterState(config, Turns(Timers(0), lambda: 0.0), Random(1))
    return write_cluster(cluster), config.nodes


def test_loaded_config_without_changes_is_the_saved_one() -> None:
    state, nodes = saved()
    config = loaded_config(state, [{}, {}], trust=True)
    assert (config.cluster_id, config.nodes) == ("id", nodes)
    assert nodes_of(state) == nodes


def test_loaded_config_on_any_ports_keeps_names_and_hosts() -> None:
    state, nodes = saved()
    config = loaded_config(state, [any_ports(node.listeners, keep_hosts=True) for node in nodes])
    listeners = [(each.name, each.host, each.port, each.advertised) for each in config.nodes[1].listeners]
    assert listeners == [("INTERNAL", "127.0.0.1", 0, "127.0.0.1:0"), ("EXTERNAL", "127.0.0.1", 0, "127.0.0.1:0")]
    assert [node.rack for node in config.nodes] == ["a", "a"]


def test_any_ports_replace_hosts_that_others_can_reach() -> None:
    hosts = ("127.0.0.2", "0.0.0.0", "kafka", "localhost", "::1", "::")
    listeners = [Listener(1, f"L{number}", host, 9092, host, 9092) for number, host in enumerate(hosts)]
    kept, replaced = (any_ports(listeners, keep_hosts=keep)["listeners"].split(",") for keep in (True, False))
    assert [text.partition("://")[2] for text in kept] == ["127.0.0.2:0", "0.0.0.0:0", "kafka:0", "localhost:0", "[::1]:0", "[::]:0"]
    assert [text.partition("://")[2] for text in replaced] == [
        *("127.0.0.2:0", "127.0.0.1:0", "127.0.0.1:0", "localhost:0", "[::1]:0", "127.0.0.1:0")
    ]


def test_loaded_config_has_the_saved_users() -> None:
    state, _ = saved(1)
    state["users"] = [["alice", "secret"]]
    assert loaded_config(state, [{}], trust=True).users == {"alice": "secret"}


def test_loaded_config_with_changed_settings_keeps_the_others() -> None:
    state, _ = saved(1)
    (node,) = loaded_config(state, [{"num.partitions": "9", "log.retention.ms": "5"}], trust=True).nodes
    assert (node.properties["num.partitions"], node.properties["log.retention.ms"], node.properties["broker.rack"]) == ("9", "5", "a")


def test_loaded_config_keeps_unknown_settings_of_the_state() -> None:
    state, nodes = saved(2, **{"num.partition": "3"})
    assert loaded_config(state, [{}, {}], trust=True).nodes == nodes
    with pytest.raises(InvalidConfig, match=r"unknown setting num\.io\.thread;"):
        loaded_config(state, [{"num.io.thread": "1"}, {}], trust=True)
    assert loaded_config(state, [{"num.io.thread": "1"}, {}], trust=True, ignore_unknown_settings=True).unknown == (
        "num.io.thread",
        "num.partition",
    )


def test_loaded_config_emulates_the_release_of_the_state() -> None:
    state, _ = saved(1)
    state["as_version"] = "2.8"
    releases = [loaded_config(state, [{}], as_version=as_version, trust=True).release for as_version in (None, "3.9", "4.3")]
    assert [release and release.name for release in releases] == ["2.8", "3.9", None]


def test_loaded_config_with_another_node_id_is_refused() -> None:
    state, _ = saved(1)
    with pytest.raises(InvalidConfig, match=r"the saved cluster has the nodes \[1\], not \[7\]; do not set node.id"):
        loaded_config(state, [{"node.id": "7", "broker.id": "7"}])
