"""Plays scripts against a cluster, Apache Kafka's or ours, and writes down the answers."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable, Iterator, Mapping
from struct import pack, unpack
from typing import Protocol

from odradek.protocol.frame import decode_response, encode_request
from odradek.protocol.messages.api_versions import API_VERSIONS
from odradek.protocol.messages.create_topics import (
    CREATE_TOPICS,
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from odradek.protocol.messages.init_producer_id import INIT_PRODUCER_ID, InitProducerIdRequest
from odradek.protocol.messages.list_offsets import LIST_OFFSETS, ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.messages.metadata import METADATA, MetadataRequest
from odradek.protocol.schema import Message, ProtocolError
from tests.apache_kafka import ApacheKafka
from tests.broker.harness import World

from .rendering import Renderer
from .script import LOCALHOST, Ask, Case, Raw, Topic, id_of

CORRELATION_ID, PROBE_ID = 7, 0x7FFFFFFF
PROBE = pack(">ihhih", 10, API_VERSIONS.key, 0, PROBE_ID, -1)
PATIENCE_S = 1.5
CLOSED, SILENT = "closed", "no answer"
TOPICS_AT_ONCE = 200
WINDOW_MS = 600_000
SETTINGS = {
    "auto.create.topics.enable": "false",
    "log.retention.ms": "-1",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
}
INTERNAL = [Topic(name, {"cleanup.policy": "compact"}, ((1,),)) for name in ("__consumer_offsets", "__transaction_state")]


class Connection(Protocol):
    """What a script talks to."""

    def exchange(self, frames: bytes) -> bytes | None:
        """The next frame that comes back, without its length; empty if the connection was closed, None if nothing came."""


class Side(Protocol):
    """A cluster of two nodes."""

    def connect(self, node: int, host: str = LOCALHOST) -> Connection: ...

    def settle(self) -> None:
        """Returns when all brokers know of a change."""

    def now_ms(self) -> int: ...


class EmulatedConnection:
    def __init__(self, world: World, node: int, host: str) -> None:
        self.world, self.client = world, world.client(node, host=host)

    def exchange(self, frames: bytes) -> bytes | None:
        self.world.advance(1)  # else records of different requests have the same time
        self.client.feed(frames)
        if not self.client.sent and not self.client.closed:
            self.world.advance(int(PATIENCE_S * 1000))
        sent = self.client.sent
        if not sent:
            return b"" if self.client.closed else None
        size = int.from_bytes(sent[:4], "big")
        frame = bytes(sent[4 : 4 + size])
        del sent[: 4 + size]
        return frame


class Emulated:
    """Ours, without a socket."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self.world = World(nodes=2, settings={**SETTINGS, **settings})

    def connect(self, node: int, host: str = LOCALHOST) -> EmulatedConnection:
        return EmulatedConnection(self.world, node, host)

    def settle(self) -> None:
        """They know at once."""

    def now_ms(self) -> int:
        return self.world.timers.now_ms


class ApacheConnection:
    def __init__(self, port: int, host: str) -> None:
        self.socket = socket.create_connection((LOCALHOST, port), 10, (host, 0))
        self.socket.settimeout(PATIENCE_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __del__(self) -> None:
        self.socket.close()

    def exchange(self, frames: bytes) -> bytes | None:
        try:
            self.socket.sendall(frames)
            head = self._receive(4)
            return self._receive(unpack(">i", head)[0]) if head else b""
        except TimeoutError:
            return None
        except ConnectionError:
            return b""

    def _receive(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                return b""
            data += part
        return bytes(data)


class Apache:
    """Apache Kafka, which is running."""

    def __init__(self, kafka: ApacheKafka) -> None:
        self.kafka = kafka

    def connect(self, node: int, host: str = LOCALHOST) -> ApacheConnection:
        return ApacheConnection(self.kafka.nodes[node - 1].ports["CLIENT"], host)

    def settle(self) -> None:
        self.kafka.settle()

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000


def play(side: Side, cases: Iterable[Case]) -> Iterator[tuple[Case, list[str]]]:
    """The answers to each case, a line for each of its steps. All topics are made first."""
    cases = list(cases)
    topics = {topic.name: topic for topic in (*(topic for case in cases for topic in case.topics), *INTERNAL)}
    ids = _create(side, list(topics.values()))
    for case in cases:
        yield case, Playing(side, ids).play(case)


class Playing:
    """One case: a connection to each node, opened when needed and again after it was closed."""

    def __init__(self, side: Side, ids: dict[str, bytes]) -> None:
        self.side, self.ids = side, ids
        self.connections: dict[tuple[int, str], Connection] = {}
        self.real: dict[bytes, bytes] = {}

    def play(self, case: Case) -> list[str]:
        self.real = {id_of(topic.name): self.ids[topic.name] for topic in case.topics}
        return [self.step(step) for step in case.steps]

    def step(self, step: Ask | Raw) -> str:
        began_ms = self.side.now_ms()
        where = step.node, step.host
        if where not in self.connections:
            self.connections[where] = self.side.connect(*where)
        frame = self.with_real_ids(step.frame if isinstance(step, Raw) else self.frame_of(step, began_ms))
        silent = isinstance(step, Ask) and not step.answered
        answer = self.connections[where].exchange(frame + PROBE if silent else frame)
        if step.settles:
            self.side.settle()
        if not answer or (silent and unpack(">i", answer[:4]) == (PROBE_ID,)):
            if answer == b"":
                del self.connections[where]
            return CLOSED if answer == b"" else SILENT
        renderer = Renderer({real: name for name, real in self.ids.items()}, began_ms - WINDOW_MS, self.side.now_ms() + WINDOW_MS)
        return _text(step, answer, renderer)

    def frame_of(self, ask: Ask, now_ms: int) -> bytes:
        payload = ask.payload(now_ms) if callable(ask.payload) and not isinstance(ask.payload, Message) else ask.payload
        if isinstance(payload, Message):
            frame = b"".join(encode_request(ask.api, ask.version, CORRELATION_ID, ask.client_id or "", payload))
            if ask.client_id is not None:
                return frame
            payload = payload.encode(ask.version)
        assert isinstance(payload, bytes)
        client = b"\xff\xff" if ask.client_id is None else pack(">h", len(ask.client_id)) + ask.client_id.encode()
        flexible = ask.api.request_header_version(ask.version) == 2
        frame = pack(">hhi", ask.api.key, ask.version, CORRELATION_ID) + client + b"\0" * flexible + payload
        return pack(">i", len(frame)) + frame

    def with_real_ids(self, frame: bytes) -> bytes:
        for symbol, real in self.real.items():
            if symbol in frame:
                frame = frame.replace(symbol, real)
        return frame


def _text(step: Ask | Raw, answer: bytes, renderer: Renderer) -> str:
    if isinstance(step, Raw):
        return answer.hex()
    api, version = step.api, step.version
    if api is API_VERSIONS and version not in api.versions:
        version = 0
    try:
        correlation_id, response = decode_response(api, version, memoryview(answer))
    except ProtocolError as error:
        return f"{error}: {answer.hex()}"
    assert correlation_id == CORRELATION_ID
    return renderer.line(api, version, response)


def _create(side: Side, topics: list[Topic]) -> dict[str, bytes]:
    """The ids of the topics, which are there when both nodes say so."""
    connections = [side.connect(1), side.connect(2)]
    ids: dict[str, bytes] = {}
    for start in range(0, len(topics), TOPICS_AT_ONCE):
        some = topics[start : start + TOPICS_AT_ONCE]
        request = CreateTopicsRequest(topics=[_creatable(topic) for topic in some])
        answer = connections[0].exchange(b"".join(encode_request(CREATE_TOPICS, 7, 1, "test", request)))
        assert answer
        for created in decode_response(CREATE_TOPICS, 7, memoryview(answer))[1].topics:
            assert created.error_code == 0, created
            ids[created.name] = created.topic_id
    while _is_loading(connections[0]):
        pass
    for node, connection in enumerate(connections, 1):
        while not (_all_there(connection, len(topics)) and _leads(connection, node, topics)):
            pass
    return ids


def _is_loading(connection: Connection) -> bool:
    """Whether there are no producer ids yet, which come last."""
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
    answer = connection.exchange(b"".join(encode_request(INIT_PRODUCER_ID, 0, 1, "test", request)))
    assert answer
    return bool(decode_response(INIT_PRODUCER_ID, 0, memoryview(answer))[1].error_code)


def _creatable(topic: Topic) -> CreatableTopic:
    return CreatableTopic(
        name=topic.name,
        num_partitions=-1,
        replication_factor=-1,
        assignments=[CreatableReplicaAssignment(partition_index=n, broker_ids=list(nodes)) for n, nodes in enumerate(topic.replicas)],
        configs=[CreatableTopicConfig(name=name, value=value) for name, value in topic.configs.items()],
    )


def _all_there(connection: Connection, count: int) -> bool:
    request = MetadataRequest(topics=None, allow_auto_topic_creation=False)
    answer = connection.exchange(b"".join(encode_request(METADATA, 9, 1, "test", request)))
    assert answer
    topics = decode_response(METADATA, 9, memoryview(answer))[1].topics
    leaders = [partition.error_code for topic in topics for partition in topic.partitions]
    return len(topics) == count and not any(leaders)


def _leads(connection: Connection, node: int, topics: list[Topic]) -> bool:
    """Whether a node knows of every partition whose first replica it is that it leads it."""
    led = [
        ListOffsetsTopic(name=topic.name, partitions=[ListOffsetsPartition(partition_index=n, timestamp=-2) for n in indexes])
        for topic in topics
        if (indexes := [n for n, replicas in enumerate(topic.replicas) if replicas[0] == node])
    ]
    answer = connection.exchange(b"".join(encode_request(LIST_OFFSETS, 1, 1, "test", ListOffsetsRequest(replica_id=-1, topics=led))))
    assert answer
    answers = decode_response(LIST_OFFSETS, 1, memoryview(answer))[1].topics
    return not any(partition.error_code for topic in answers for partition in topic.partitions)
