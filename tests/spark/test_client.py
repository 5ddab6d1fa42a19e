"""The client against the emulator: restarts, moving leaders, silence, ends of the log."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace

import pytest

from odradek.broker import Cluster
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.messages.metadata import METADATA, MetadataRequest
from odradek.protocol.schema import ProtocolError
from odradek.spark_sink.client import EARLIEST, LATEST, ClientConfig, KafkaClient, TopicPartition, client_for
from odradek.spark_sink.connection import Address, Connection
from odradek.spark_sink.fetcher import Span, fetch
from tests.spark.kafka_topics import Broker, bodies, config_of, new_topic, produce


def test_topics_partitions_and_offsets(broker: Broker, client: KafkaClient) -> None:
    topic = new_topic(broker, 3)
    produce(broker, topic, bodies(5), 1)
    partitions = [TopicPartition(topic, index) for index in range(3)]
    assert client.partitions_where(lambda name: name == topic) == partitions
    assert client.partitions_where(lambda name: name.startswith("__")) == []
    assert client.partitions([topic]) == partitions
    assert client.list_offsets(dict.fromkeys(partitions, LATEST)) == dict(zip(partitions, [0, 5, 0], strict=True))
    assert client.list_offsets(dict.fromkeys(partitions, EARLIEST)) == dict.fromkeys(partitions, 0)
    assert client.list_offsets({partitions[1]: 1_700_000_000_037}) == {partitions[1]: 1}
    assert client.list_offsets({}) == {}


def test_a_topic_that_is_not_there(client: KafkaClient) -> None:
    with pytest.raises(KafkaError, match="nosuch") as caught:
        client.partitions(["nosuch"])
    assert caught.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    with closing(KafkaClient(replace(client.config, request_timeout_ms=100, api_timeout_ms=100))) as impatient, pytest.raises(KafkaError):
        impatient.list_offsets({TopicPartition("nosuch", 0): LATEST})


def test_nobody_answers() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        refused = silent.getsockname()
    config = ClientConfig((refused,), request_timeout_ms=100, api_timeout_ms=100, poll_timeout_ms=100)
    with closing(KafkaClient(config)) as client:
        with pytest.raises(ConnectionRefusedError):
            client.partitions_where(str)
        with pytest.raises(ConnectionRefusedError):
            list(fetch(client, {TopicPartition("t", 0): Span(0, 1)}))


def test_one_client_for_a_process(cluster: Cluster) -> None:
    config = config_of(cluster)
    assert client_for(config) is client_for(replace(config))
    assert client_for(config) is not client_for(replace(config, client_id="another"))


# A peer that says what it is told to, as no real broker does.

SERVES_METADATA = struct.pack(">hi3h", 0, 1, METADATA.key, 0, 1)


@contextmanager
def scripted(*bodies: bytes) -> Iterator[Address]:
    """Answers each request, by its correlation id, with the next of `bodies` and closes the connection."""

    def serve() -> None:
        with suppress(OSError), closing(server.accept()[0]) as peer:
            for body in bodies:
                request = peer.recv(4096)
                peer.sendall(body.replace(b"CORR", request[8:12]))

    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()
        thread.join()


def answer(body: bytes) -> bytes:
    return struct.pack(">i", 4 + len(body)) + b"CORR" + body


def test_versions_are_negotiated() -> None:
    with scripted(answer(SERVES_METADATA)) as address, closing(Connection(address, "me", 1000)) as connection:
        assert connection.version_of(METADATA) == 1
    for lowest, highest in [(14, 15), (0, -1)]:
        body = struct.pack(">hi3h", 0, 1, METADATA.key, lowest, highest)
        with (
            scripted(answer(body)) as address,
            closing(Connection(address, "me", 1000)) as old,
            pytest.raises(KafkaError, match="no version"),
        ):
            old.version_of(METADATA)


def test_a_broker_that_refuses_to_negotiate() -> None:
    with scripted(answer(struct.pack(">hi", 35, 0))) as address, pytest.raises(KafkaError, match="UNSUPPORTED_VERSION"):
        Connection(address, "me", 1000)


@pytest.mark.parametrize(
    ("bytes_", "error"),
    [
        (struct.pack(">i", -1), ProtocolError),
        (struct.pack(">i", 4) + b"oops", ProtocolError),
        (struct.pack(">i", 8) + b"CORR", ConnectionResetError),
        (answer(b"\0"), ProtocolError),
    ],
)
def test_answers_that_are_none(bytes_: bytes, error: type[Exception]) -> None:
    with scripted(answer(SERVES_METADATA), bytes_) as address, closing(Connection(address, "me", 1000)) as odd, pytest.raises(error):
        odd.call(METADATA, MetadataRequest(topics=None))
