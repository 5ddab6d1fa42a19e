"""The configuration of a cluster that is started with a saved state: its nodes and static settings, with listeners that may be others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ..settings.cluster_config import ClusterConfig, NodeConfig, cluster_of
from ..settings.endpoints import Endpoint
from ..settings.listeners import TLS_PROTOCOLS, Listener
from ..settings.properties import InvalidConfig
from .cluster import State, nodes_of


def any_ports(listeners: Iterable[Listener]) -> dict[str, str]:
    """Returns the setting for the same listeners on free ports."""
    return {"listeners": ",".join(str(Endpoint(listener.name, listener.host, 0)) for listener in listeners)}


def loaded_config(state: State, changed: Sequence[Mapping[str, str]], as_version: str | None = None) -> ClusterConfig:
    """Returns the configuration of the nodes of a state, with changed settings for each node.

    A node with other `listeners` advertises these. `as_version` is the release to emulate, None for that of the state.
    Raises InvalidConfig.
    """
    saved = nodes_of(state)
    brokers = [_changed(node.properties, settings) for node, settings in zip(saved, changed, strict=True)]
    as_version = state["as_version"] if as_version is None else as_version
    config = cluster_of(brokers, cluster_id=state["cluster"]["cluster_id"], as_version=as_version)
    config = replace(config, tls=any(map(_has_generated_certificate, config.nodes)))
    present, expected = [node.node_id for node in config.nodes], [node.node_id for node in saved]
    if present != expected:
        raise InvalidConfig(f"the saved cluster has the nodes {expected}, not {present}; do not set node.id")
    return config


def _has_generated_certificate(node: NodeConfig) -> bool:
    uses_tls = any(listener.security_protocol in TLS_PROTOCOLS for listener in node.listeners)
    return uses_tls and not any("ssl.keystore." in name for name in node.properties)


def _changed(saved: Mapping[str, str], settings: Mapping[str, str]) -> dict[str, str]:
    kept = saved if "listeners" not in settings else {name: text for name, text in saved.items() if name != "advertised.listeners"}
    return {**kept, **settings}
