"""Listeners of a node, from the settings that describe them."""

from __future__ import annotations

import pytest

from odradek.broker.settings.cluster_config import cluster_of
from odradek.broker.settings.listeners import Listener
from odradek.broker.settings.properties import InvalidConfig


@pytest.mark.parametrize(
    ("properties", "listener"),
    [
        ({}, ("PLAINTEXT", "127.0.0.1", 9092, "127.0.0.1:9092")),
        ({"listeners": "PLAINTEXT://:9092"}, ("PLAINTEXT", "0.0.0.0", 9092, "127.0.0.1:9092")),
        ({"listeners": "plaintext://0.0.0.0:1"}, ("PLAINTEXT", "0.0.0.0", 1, "127.0.0.1:1")),
        ({"listeners": "PLAINTEXT://[::1]:1"}, ("PLAINTEXT", "::1", 1, "[::1]:1")),
        ({"listeners": "DOCKER://kafka:1"}, ("DOCKER", "kafka", 1, "kafka:1")),
        ({"advertised.listeners": "PLAINTEXT://kafka:1"}, ("PLAINTEXT", "0.0.0.0", 1, "kafka:1")),
        ({"listeners": "A://127.0.0.1:1,CONTROLLER://:2"}, ("A", "127.0.0.1", 1, "127.0.0.1:1")),
        ({"listeners": "A://127.0.0.1:1,C://:2", "controller.listener.names": "C"}, ("A", "127.0.0.1", 1, "127.0.0.1:1")),
    ],
)
def test_listener_is_where_settings_say(properties: dict[str, str], listener: tuple[str, str, int, str]) -> None:
    (found,) = cluster_of([properties], nodes=1).nodes[0].listeners
    assert (found.name, found.host, found.port, found.advertised) == listener


def test_listener_bound_has_port_in_place_of_0() -> None:
    node = cluster_of([{"listeners": "A://127.0.0.1:0"}], nodes=2).nodes[1]
    (listener,) = node.listeners
    assert listener == Listener(2, "A", "127.0.0.1", 0, "127.0.0.1", 0)
    assert listener.with_port(4000) == Listener(2, "A", "127.0.0.1", 4000, "127.0.0.1", 4000)
    assert node.with_listeners([listener.with_port(4000)]).properties["advertised.listeners"] == "A://127.0.0.1:4000"
    forwarded = cluster_of([{"listeners": "A://:0", "advertised.listeners": "A://host:9092"}], nodes=1).nodes[0].listeners[0]
    assert forwarded.with_port(4000).advertised == "host:9092"


@pytest.mark.parametrize(
    ("properties", "nodes", "message"),
    [
        ({"listeners": "9092"}, 1, "invalid listener '9092' in listeners: use NAME://host:port"),
        ({"listeners": "A://h:1,A://h:2"}, 1, "Each listener must have a different name"),
        ({"listeners": "A://h:1,B://h:1"}, 1, "Each listener must have a different port"),
        ({"listeners": "A://h:65535"}, 2, "invalid port 65536 in listeners: use 0 to 65535"),
        ({"listeners": "CONTROLLER://:1"}, 1, "node 1 has no listener for clients"),
        ({"listeners": "A://h:1", "advertised.listeners": "B://h:1"}, 1, "advertised.listeners contains B, which is not in listeners (A)"),
        ({"listeners": "A://:1", "advertised.listeners": "A://0.0.0.0:1"}, 1, "nonroutable meta-address 0.0.0.0"),
        ({"listeners": "A://h:1", "inter.broker.listener.name": "B"}, 1, "inter.broker.listener.name is B"),
        ({"listeners": "A://h:1", "listener.security.protocol.map": "B:PLAINTEXT"}, 1, "No security protocol defined for listener A"),
        ({"listeners": "A://h:1", "listener.security.protocol.map": "A:TLS"}, 1, "invalid pair 'A:TLS' in listener.security.protocol.map"),
    ],
)
def test_invalid_listeners_raise(properties: dict[str, str], nodes: int, message: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        cluster_of([properties], nodes=nodes)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
