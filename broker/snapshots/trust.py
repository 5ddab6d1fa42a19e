"""The settings that a saved state may not decide unless its file is trusted: addresses to listen on, files to read, and URLs to ask.

A file from somebody else may contain any settings. Without trust, they must not make the cluster reachable for others, send clients to
another address, or read what the user has not named. Settings that only appear in responses, such as `log.dirs`, are not restricted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..settings.cluster_config import NodeConfig
from ..settings.endpoints import NEW_NAMES, Endpoint, is_loopback
from ..settings.listener_prefix import base_name
from ..settings.properties import InvalidConfig
from .cluster import State

OUTSIDE = ("ssl.keystore.location", "ssl.truststore.location", "sasl.oauthbearer.jwks.endpoint.url")
"""The settings whose values are read from outside of the cluster. They may have the prefix of a listener."""


def check_trusted(state: State, nodes: Sequence[NodeConfig], given: Sequence[Mapping[str, str]]) -> None:
    """Raises InvalidConfig if settings of a state that the user has not given name something outside of the cluster.

    `nodes` are those with which the cluster starts, and `given` the settings that the user has given for each.
    """
    for node, written, own in zip(nodes, state["nodes"], given, strict=True):
        dynamic = dict(written["own"]) | dict(written["cluster_wide"])
        for problem in (*_named(node.properties, own), *_named(dynamic, {}), *_addresses(node, own)):
            raise InvalidConfig(
                f"the saved settings of node {node.node_id} contain {problem}; set it yourself, or, if you trust the author of the file, "
                "load it with --trust (in Python trust=True)"
            )


def _named(properties: Mapping[str, str], given: Mapping[str, str]) -> Iterator[str]:
    for name, value in properties.items():
        if value and name not in given and base_name(name).endswith(OUTSIDE):
            yield f"{name}={value}"


def _addresses(node: NodeConfig, given: Mapping[str, str]) -> Iterator[str]:
    """Yields the saved addresses that others than this machine have. Given `listeners` replace the advertised addresses too."""
    listening, advertised = (name in given for name in NEW_NAMES)
    for listener in node.listeners:
        if not listening and not is_loopback(listener.host):
            yield f"listeners={Endpoint(listener.name, listener.host, listener.port)}"
        if not (listening or advertised) and not is_loopback(listener.advertised_host):
            yield f"advertised.listeners={listener.name}://{listener.advertised}"
