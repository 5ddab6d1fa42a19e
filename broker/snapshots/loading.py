"""The configuration of a cluster that is started with a saved state: its nodes and static settings, with listeners that may be others.

A file from somebody else may contain any settings. Unless the file is trusted, they must not make the cluster reachable for others, send
clients to another address, or read what the user has not named: addresses to listen on, files and URLs are refused. Settings that only
appear in responses, such as `log.dirs`, are not restricted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..settings.cluster_config import ClusterConfig, NodeConfig, cluster_of
from ..settings.endpoints import LOOPBACK, NEW_NAMES, ListenerEndpoint, is_loopback
from ..settings.listeners import TLS_PROTOCOLS, Listener
from ..settings.properties import InvalidConfig
from ..settings.spelling import check_spelling
from ..settings.values import base_name
from .cluster import State, nodes_of, users_of
from .state_file import load


def load_on_any_ports(file: Path, settings: Mapping[str, str], *, as_version: str | None, trust: bool) -> tuple[State, ClusterConfig]:
    """Returns the state in a file and the configuration of its nodes on free ports, with other settings.

    Raises InvalidConfig as `loaded_config` does, InvalidStateFile or OSError.
    """
    state = load(file)
    nodes = nodes_of(state)
    changed = [any_ports(node.listeners, keep_hosts=trust) | dict(settings) for node in nodes]
    return state, loaded_config(state, changed, [settings] * len(nodes), as_version=as_version, trust=trust)


def any_ports(listeners: Iterable[Listener], *, keep_hosts: bool) -> dict[str, str]:
    """Returns the setting for the same listeners on free ports, unless `keep_hosts` on addresses that only this machine can reach."""
    hosts = ((each.name, each.host if keep_hosts or is_loopback(each.host) else LOOPBACK) for each in listeners)
    return {"listeners": ",".join(str(ListenerEndpoint(name, host, 0)) for name, host in hosts)}


def loaded_config(
    state: State,
    changed: Sequence[Mapping[str, str]],
    given: Sequence[Mapping[str, str]] | None = None,
    *,
    as_version: str | None = None,
    trust: bool = False,
    ignore_unknown_settings: bool = False,
) -> ClusterConfig:
    """Returns the configuration of the nodes of a state, with changed settings for each node, of which the user has `given` these.

    By default, the user has given all changed settings. A node with other `listeners` advertises these. `as_version` is the release to
    emulate, None for that of the state. Raises InvalidConfig, without `trust` also for saved settings that `check_trusted` refuses.
    """
    saved = nodes_of(state)
    brokers = [_merge_settings(node.properties, settings) for node, settings in zip(saved, changed, strict=True)]
    as_version = state["as_version"] if as_version is None else as_version
    if not ignore_unknown_settings:
        check_spelling(set[str]().union(*changed))
    # The cluster that was saved may have ignored unknown settings; its file is not refused because of them.
    config = cluster_of(brokers, cluster_id=state["cluster"]["cluster_id"], as_version=as_version, ignore_unknown_settings=True)
    config = replace(config, tls=any(map(_has_generated_certificate, config.nodes)), users=users_of(state))
    present, expected = [node.node_id for node in config.nodes], [node.node_id for node in saved]
    if present != expected:
        raise InvalidConfig(f"the saved cluster has the nodes {expected}, not {present}; do not set node.id")
    if not trust:
        check_trusted(state, config.nodes, changed if given is None else given)
    return config


def _has_generated_certificate(node: NodeConfig) -> bool:
    uses_tls = any(listener.security_protocol in TLS_PROTOCOLS for listener in node.listeners)
    return uses_tls and not any("ssl.keystore." in name for name in node.properties)


def _merge_settings(saved: Mapping[str, str], settings: Mapping[str, str]) -> dict[str, str]:
    kept = saved if "listeners" not in settings else {name: text for name, text in saved.items() if name != "advertised.listeners"}
    return {**kept, **settings}


OUTSIDE = ("ssl.keystore.location", "ssl.truststore.location", "sasl.oauthbearer.jwks.endpoint.url")
"""The settings whose values are read from outside of the cluster. They may have the prefix of a listener."""


def check_trusted(state: State, nodes: Sequence[NodeConfig], given: Sequence[Mapping[str, str]]) -> None:
    """Raises InvalidConfig if settings of a state that the user has not given name something outside of the cluster.

    `nodes` are those with which the cluster starts, and `given` the settings that the user has given for each.
    """
    for node, written, own in zip(nodes, state["nodes"], given, strict=True):
        dynamic = dict(written["own"]) | dict(written["cluster_wide"])
        for problem in (*_paths_outside(node.properties, own), *_paths_outside(dynamic, {}), *_addresses(node, own)):
            raise InvalidConfig(
                f"the saved settings of node {node.node_id} contain {problem}; set it yourself, or, if you trust the author of the file, "
                "load it with --trust (in Python trust=True)"
            )


def _paths_outside(properties: Mapping[str, str], given: Mapping[str, str]) -> Iterator[str]:
    for name, value in properties.items():
        if value and name not in given and base_name(name).endswith(OUTSIDE):
            yield f"{name}={value}"


def _addresses(node: NodeConfig, given: Mapping[str, str]) -> Iterator[str]:
    """Yields the saved addresses that others than this machine have. Given `listeners` replace the advertised addresses too."""
    listening, advertised = (name in given for name in NEW_NAMES)
    for listener in node.listeners:
        if not listening and not is_loopback(listener.host):
            yield f"listeners={ListenerEndpoint(listener.name, listener.host, listener.port)}"
        if not (listening or advertised) and not is_loopback(listener.advertised_host):
            yield f"advertised.listeners={listener.name}://{listener.advertised}"
