"""Failed connections are logged early. The tests use an alarm of their own, so they do not wait."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import closing

import pytest

from odradek import Cluster
from odradek.protocol.client.line import Address
from odradek.spark_sink.client import ClientConfig, KafkaClient
from odradek.spark_sink.connection_factory import REPORT_AFTER_S, ConnectionFactory
from tests.spark.kafka_topics import config_of


class ManualAlarm:
    """An alarm that a test triggers with `ring`."""

    def __init__(self) -> None:
        self.set_for: list[float] = []
        self.waiting = 0

    def new(self, seconds: float, function: Callable[[], None]) -> ManualAlarm:
        self.set_for.append(seconds)
        self.ring = function
        return self

    def start(self) -> None:
        self.waiting += 1

    def cancel(self) -> None:
        self.waiting -= 1


class ImmediateAlarm(ManualAlarm):
    """An alarm that triggers as soon as it is started."""

    def start(self) -> None:
        super().start()
        self.ring()


@pytest.fixture
def alarm() -> ManualAlarm:
    return ManualAlarm()


def refusing_address() -> Address:
    """Returns an address that refuses connections."""
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        address: Address = silent.getsockname()
    return address


def test_connect_refused_addresses_are_logged_once(alarm: ManualAlarm, caplog: pytest.LogCaptureFixture) -> None:
    first, second = refusing_address(), refusing_address()
    connections = ConnectionFactory([first, second], "me", 1000, alarm.new)
    for address in (first, second, first):
        with pytest.raises(ConnectionRefusedError):
            connections.connect(address)
    assert (alarm.set_for, alarm.waiting) == ([REPORT_AFTER_S], 1)
    alarm.ring()
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("odradek.spark_sink", "WARNING")
    for host, port in (first, second):
        assert f"{host}:{port} ([Errno" in record.getMessage()
    assert f"kafka.bootstrap.servers is {first[0]}:{first[1]},{second[0]}:{second[1]};" in record.getMessage()


def test_connect_silent_peer_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        host, port = silent.getsockname()
        with pytest.raises(TimeoutError):
            ConnectionFactory([(host, port)], "me", 20, ImmediateAlarm().new).connect((host, port))
    assert f"{host}:{port} (no response yet)" in caplog.text


def test_connect_success_cancels_the_alarm(cluster: Cluster, alarm: ManualAlarm) -> None:
    (there, *_) = config_of(cluster).bootstrap_servers
    connections = ConnectionFactory([there], "me", 10_000, alarm.new)
    with pytest.raises(ConnectionRefusedError):
        connections.connect(refusing_address())
    assert alarm.waiting == 1
    connections.connect(there).close()
    assert alarm.waiting == 0
    connections.connect(there).close()
    assert (len(alarm.set_for), alarm.waiting) == (2, 0)


def test_client_with_a_wrong_address_logs_it(alarm: ManualAlarm, caplog: pytest.LogCaptureFixture) -> None:
    wrong = refusing_address()
    client = KafkaClient(ClientConfig((wrong,), request_timeout_ms=100, api_timeout_ms=100))
    client._connections = ConnectionFactory([wrong], "me", 100, alarm.new)
    with closing(client), pytest.raises(ConnectionRefusedError):
        client.partitions_where(str)
    alarm.ring()
    assert f"{wrong[0]}:{wrong[1]}" in caplog.text
    assert alarm.waiting == 0
