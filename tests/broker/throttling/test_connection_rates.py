"""Limits of the rate at which connections are created, by node, listener and address."""

from __future__ import annotations

import socket
from contextlib import ExitStack

import pytest
from confluent_kafka.admin import AdminClient

from odradek import Cluster
from odradek.broker.cluster.quotas import ClientQuotas
from odradek.broker.settings.values import BrokerConfig
from odradek.broker.throttling.connection_rates import AT_ONCE, IDLE_MS, Admission, ConnectionRates

START_MS = 1_700_000_000_000


def rates(settings: dict[str, str] | None = None, **addresses: float) -> ConnectionRates:
    quotas = ClientQuotas()
    for name, rate in addresses.items():
        host = None if name == "default" else name
        quotas.alter((("ip", host),), {"connection_creation_rate": rate}, validate_only=False)
    return ConnectionRates(BrokerConfig(settings or {}), quotas)


def admitted(limits: ConnectionRates, count: int, host: str = "127.0.0.9", listener: str = "PLAINTEXT") -> list[Admission]:
    return [limits.admit(listener, host, START_MS) for _ in range(count)]


def test_unlimited_connections_are_served_at_once() -> None:
    assert admitted(rates(), 1000) == [AT_ONCE] * 1000


def test_node_above_its_rate_accepts_later() -> None:
    found = admitted(rates({"max.connection.creation.rate": "1"}), 12)
    assert found == [AT_ONCE] * 10 + [Admission(1000, refused=False)] * 2


def test_listener_has_a_rate_of_its_own() -> None:
    limits = rates({"listener.name.external.max.connection.creation.rate": "1"})
    assert admitted(limits, 11, listener="EXTERNAL")[-1] == Admission(1000, refused=False)
    assert admitted(limits, 11, listener="INTERNAL")[-1] == AT_ONCE


def test_address_above_its_rate_is_refused_and_not_counted() -> None:
    limits = rates({"max.connection.creation.rate": "2"}, default=1)
    assert admitted(limits, 30) == [AT_ONCE] * 10 + [Admission(1000, refused=True)] * 20
    assert admitted(limits, 10, host="127.0.0.8") == [AT_ONCE] * 10


def test_localhost_and_loopback_address_are_the_same() -> None:
    assert admitted(rates(localhost=1, default=1000), 11, host="127.0.0.1")[-1].refused


def test_rate_of_zero_refuses_all_for_a_window() -> None:
    assert admitted(rates({"max.connection.creation.rate": "0"}), 1) == [Admission(1000, refused=False)]


def test_silent_addresses_are_forgotten() -> None:
    limits = rates(default=1)
    limits._purge_at = 3
    for number in range(3):
        limits.admit("PLAINTEXT", f"127.0.1.{number}", START_MS)
    limits.admit("PLAINTEXT", "127.0.1.0", START_MS + IDLE_MS + 1)
    limits.admit("PLAINTEXT", "127.0.2.0", START_MS + IDLE_MS + 1)
    assert set(limits._hosts) == {"127.0.1.0", "127.0.2.0"}


@pytest.mark.sockets
def test_refused_connection_is_held_and_then_closed() -> None:
    with Cluster(nodes=1) as cluster:
        cluster.clock.freeze()
        server = cluster._cluster._server
        quotas = server.cluster.quotas
        quotas.alter((("ip", None),), {"connection_creation_rate": 1}, validate_only=False)
        host, port = cluster.bootstrap_servers.split(":")
        with ExitStack() as stack:
            sockets = [stack.enter_context(socket.create_connection((host, int(port)))) for _ in range(11)]
            cluster.wait_until(lambda: bool(server.listeners._acceptors[1][0]._held))
            assert len(cluster.connections()) == 10
            cluster.clock.advance(seconds=1)
            sockets[-1].settimeout(30)
            assert sockets[-1].recv(1) == b""
            assert len(cluster.connections()) == 10


@pytest.mark.sockets
@pytest.mark.clients
def test_delayed_connection_is_served_later() -> None:
    with Cluster(nodes=1, settings={"max.connection.creation.rate": 0}) as cluster:
        assert AdminClient({"bootstrap.servers": cluster.bootstrap_servers}).list_topics(timeout=30).brokers
