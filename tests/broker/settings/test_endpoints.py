"""Addresses of listeners, including those under the names used before Kafka 3.0."""

from __future__ import annotations

import pytest

from odradek.broker.settings.endpoints import ListenerEndpoint, endpoints_of, is_loopback, listening_endpoints, with_listeners_of_old_names
from odradek.broker.settings.properties import InvalidConfig


def test_endpoints_of_shifts_ports_other_than_0() -> None:
    found = endpoints_of({"listeners": "a://h:1, B://[::1]:0,"}, "listeners", 2)
    assert found == [ListenerEndpoint("A", "h", 3), ListenerEndpoint("B", "::1", 0)]
    assert [str(each) for each in found] == ["A://h:3", "B://[::1]:0"]


@pytest.mark.parametrize(
    ("text", "message"),
    [("h:1", "invalid listener 'h:1' in listeners: use NAME://host:port"), ("A://h:65535", "invalid port 65536 in listeners")],
)
def test_endpoints_of_invalid_raises(text: str, message: str) -> None:
    with pytest.raises(InvalidConfig, match=message):
        endpoints_of({"listeners": text}, "listeners", 1)


def test_listening_endpoints_default_to_advertised_ports() -> None:
    assert listening_endpoints({"advertised.listeners": "A://kafka:9"}) == [ListenerEndpoint("A", "0.0.0.0", 9)]
    assert listening_endpoints({}, 1) == [ListenerEndpoint("PLAINTEXT", "127.0.0.1", 9093)]


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({"port": "9"}, {"listeners": "PLAINTEXT://:9"}),
        ({"host.name": "::1"}, {"listeners": "PLAINTEXT://[::1]:9092"}),
        (
            {"advertised.host.name": "kafka", "port": "9"},
            {"listeners": "PLAINTEXT://:9", "advertised.listeners": "PLAINTEXT://kafka:9"},
        ),
        ({"port": "9", "listeners": "A://:1"}, {"listeners": "A://:1"}),
        ({"num.partitions": "3"}, {"num.partitions": "3"}),
    ],
)
def test_with_listeners_of_old_names_replaces_them(properties: dict[str, str], expected: dict[str, str]) -> None:
    assert with_listeners_of_old_names(properties) == expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("", False), ("kafka", False)],
)
def test_loopback_addresses_are_recognised(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected
