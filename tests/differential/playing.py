"""Plays scripts against a cluster, Apache Kafka's or ours, and writes down the answers."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from struct import pack, unpack
from typing import Any, Protocol

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
from odradek.protocol.messages.offset_fetch import OFFSET_FETCH, OffsetFetchRequest
from odradek.protocol.records import HEADER, write_crc
from odradek.protocol.schema import Api, Message, ProtocolError, specs
from tests.broker.harness import World

from .rendering import Renderer
from .script import LOCALHOST, Answer, Ask, Case, Pause, Raw, Start, Step, Stop, Topic, id_of, number_of

CORRELATION_ID, PROBE_ID = 7, 0x7FFFFFFF
PROBE = pack(">ihhih", 10, API_VERSIONS.key, 0, PROBE_ID, -1)
PATIENCE_S, SHORT_PATIENCE_S, SETUP_PATIENCE_S = 1.5, 0.1, 10
SETTLED_MS = 200
STEP_MS = 10
CLOSED, SILENT, WAITS = "closed", "no answer", "waits"
NAME = re.compile(r"\$(\w+)")
TOPICS_AT_ONCE = 200
WINDOW_MS = 600_000
SETTINGS = {
    "auto.create.topics.enable": "false",
    "log.retention.ms": "-1",
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.max.size": "3",
    "group.consumer.min.heartbeat.interval.ms": "50",
    "group.consumer.min.session.timeout.ms": "100",
    "group.initial.rebalance.delay.ms": "0",
    "group.max.size": "3",
    "group.min.session.timeout.ms": "100",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
}
COMPACT = {"cleanup.policy": "compact"}


class Connection(Protocol):
    """What a script talks to."""

    def send(self, frames: bytes) -> None: ...

    def receive(self, patience_s: float) -> bytes | None:
        """The next frame that comes back, without its length; empty if the connection was closed, None if nothing came."""


class Side(Protocol):
    """A cluster of `nodes` nodes."""

    nodes: int

    def connect(self, node: int, host: str = LOCALHOST) -> Connection: ...

    def now_ms(self) -> int: ...

    def pause(self, milliseconds: int) -> None: ...

    def stop(self, node: int) -> None: ...

    def start(self, node: int) -> None: ...


class EmulatedConnection:
    def __init__(self, world: World, node: int, host: str) -> None:
        self.world, self.client = world, world.client(node, host=host)

    def send(self, frames: bytes) -> None:
        self.world.advance(1)  # else records of different requests have the same time
        self.client.feed(frames)

    def receive(self, patience_s: float) -> bytes | None:
        for waited_ms in (0, *[STEP_MS] * int(patience_s * 1000 / STEP_MS)):
            if not self.client.sent and not self.client.closed:
                self.world.advance(waited_ms)
        sent = self.client.sent
        if not sent:
            return b"" if self.client.closed else None
        size = int.from_bytes(sent[:4], "big")
        frame = bytes(sent[4 : 4 + size])
        del sent[: 4 + size]
        return frame


class Emulated:
    """Ours, without a socket."""

    def __init__(self, settings: Mapping[str, str], nodes: int = 2) -> None:
        self.nodes = nodes
        self.world = World(nodes=nodes, settings={**SETTINGS, **settings})

    def connect(self, node: int, host: str = LOCALHOST) -> EmulatedConnection:
        return EmulatedConnection(self.world, node, host)

    def now_ms(self) -> int:
        return self.world.timers.now_ms

    def pause(self, milliseconds: int) -> None:
        self.world.advance(milliseconds)

    def stop(self, node: int) -> None:
        self.world.cluster.stop_node(node)

    def start(self, node: int) -> None:
        self.world.cluster.start_node(node)


class SocketConnection:
    def __init__(self, port: int, host: str) -> None:
        self.socket = socket.create_connection((LOCALHOST, port), 10, (host, 0))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __del__(self) -> None:
        self.socket.close()

    def send(self, frames: bytes) -> None:
        with suppress(ConnectionError):
            self.socket.sendall(frames)

    def receive(self, patience_s: float) -> bytes | None:
        self.socket.settimeout(patience_s)
        try:
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


class Served:
    """A cluster behind sockets, Apache Kafka's or ours; the addresses of its nodes by id."""

    def __init__(self, bootstrap_servers: str) -> None:
        self.ports = [int(address.rpartition(":")[2]) for address in bootstrap_servers.split(",")]
        self.nodes = len(self.ports)

    def connect(self, node: int, host: str = LOCALHOST) -> SocketConnection:
        return SocketConnection(self.ports[node - 1], host)

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def pause(self, milliseconds: int) -> None:
        time.sleep(milliseconds / 1000)

    def stop(self, node: int) -> None:
        raise NotImplementedError("only nodes of our own Apache Kafka are stopped")

    def start(self, node: int) -> None:
        raise NotImplementedError("only nodes of our own Apache Kafka are started")


def topics_of(cases: Iterable[Case], coordinators: tuple[tuple[int, ...], ...] = ((1,),)) -> list[Topic]:
    """The topics of some cases and the internal ones, each once; see `Family` for `coordinators`."""
    internal = Topic("__consumer_offsets", COMPACT, coordinators), Topic("__transaction_state", COMPACT, ((1,),))
    topics = {topic.name: topic for topic in (*(topic for case in cases for topic in case.topics), *internal)}
    return list(topics.values())


def play(side: Side, cases: Iterable[Case], coordinators: tuple[tuple[int, ...], ...] = ((1,),)) -> Iterator[tuple[Case, list[str]]]:
    """The answers to each case, a line for each of its steps. All topics are made first; see `Family` for `coordinators`."""
    cases = list(cases)
    ids = create(side, topics_of(cases, coordinators))
    for case in cases:
        yield case, Playing(side, ids).play(case)


class Playing:
    """One case: a connection of each name to each node, opened when needed and again after it was closed."""

    def __init__(self, side: Side, ids: dict[str, bytes]) -> None:
        self.side, self.ids = side, ids
        self.connections: dict[tuple[int, str], Connection] = {}
        self.waiting: dict[tuple[int, str], Ask] = {}
        self.real: dict[bytes, bytes] = {}
        self.bound: dict[str, str] = {}
        """Name -> what it stands for."""
        self.numbers: dict[int, str] = {}
        """The same the other way round for numbers."""

    def play(self, case: Case) -> list[str]:
        self.real = {id_of(topic.name): self.ids[topic.name] for topic in case.topics}
        for step in case.before:
            self.step(step)
        lines = [line for step in case.steps for line in self.step(step)]
        return lines + [self.late_answer(*waiting, SHORT_PATIENCE_S) for waiting in list(self.waiting)]

    def step(self, step: Step) -> list[str]:
        match step:
            case Pause(milliseconds):
                self.side.pause(milliseconds)
                return []
            case Stop(node):
                self.connections = {key: connection for key, connection in self.connections.items() if key[0] != node}
                self.side.stop(node)
                return []
            case Start(node):
                self.side.start(node)
                return []
        return [self.late_answer(step.node, step.connection, PATIENCE_S) if isinstance(step, Answer) else self.ask(step)]

    def ask(self, step: Ask | Raw) -> str:
        began_ms = self.side.now_ms()
        frame = self.with_real_ids(step.frame if isinstance(step, Raw) else self.frame_of(step, began_ms))
        where = step.node, "" if isinstance(step, Raw) else step.connection or step.host
        if where not in self.connections:
            self.connections[where] = self.side.connect(step.node, LOCALHOST if isinstance(step, Raw) else step.host)
        if isinstance(step, Raw):
            self.connections[where].send(frame)
            return self.answer(step, where, PATIENCE_S)
        self.connections[where].send(frame if step.answered else frame + PROBE)
        if not step.waits:
            text = self.answer(step, where, PATIENCE_S)
            self.side.pause(SETTLED_MS if step.settles else 0)
            return text
        self.waiting[where] = step
        return self.late_answer(*where, SHORT_PATIENCE_S)

    def late_answer(self, node: int, connection: str, patience_s: float) -> str:
        """What a request that waits is answered; the answer ends its waiting."""
        if (node, connection) not in self.waiting:
            return "was answered before"
        text = self.answer(self.waiting[node, connection], (node, connection), patience_s)
        if text == SILENT:
            return WAITS
        del self.waiting[node, connection]
        return text

    def answer(self, step: Ask | Raw, where: tuple[int, str], patience_s: float) -> str:
        answer = self.connections[where].receive(patience_s)
        if answer == b"":
            del self.connections[where]
            return CLOSED
        silent = isinstance(step, Ask) and not step.answered
        if answer is None or (silent and unpack(">i", answer[:4]) == (PROBE_ID,)):
            return SILENT
        return self.text(step, answer)

    def text(self, step: Ask | Raw, answer: bytes) -> str:
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
        for name, field in step.binds.items():
            self.bind(name, getattr(response, field))
        now_ms = self.side.now_ms()
        names, bound = ({real: name for name, real in named.items()} for named in (self.ids, self.bound))
        return Renderer(names, bound, now_ms - WINDOW_MS, now_ms + WINDOW_MS, self.numbers).line(
            api, version, response, in_order=step.in_order
        )

    def bind(self, name: str, value: str | int | None) -> None:
        if isinstance(value, int):
            if value >= 0:
                self.real[pack(">q", number_of(name))] = pack(">q", value)
                self.numbers[value] = name
        elif value:
            self.bound[name] = value

    def frame_of(self, ask: Ask, now_ms: int) -> bytes:
        payload = ask.payload(now_ms) if callable(ask.payload) and not isinstance(ask.payload, Message) else ask.payload
        if isinstance(payload, Message):
            payload = self.with_bound(payload) if self.bound or self.numbers else payload
            frame = b"".join(encode_request(ask.api, ask.version, CORRELATION_ID, ask.client_id or "", payload))
            if ask.client_id is not None:
                return frame
            payload = payload.encode(ask.version)
        assert isinstance(payload, bytes)
        client = b"\xff\xff" if ask.client_id is None else pack(">h", len(ask.client_id)) + ask.client_id.encode()
        flexible = ask.api.request_header_version(ask.version) == 2
        frame = pack(">hhi", ask.api.key, ask.version, CORRELATION_ID) + client + b"\0" * flexible + payload
        return pack(">i", len(frame)) + frame

    def with_real_producer(self, batch: bytes) -> bytes:
        """A batch with the producer id that a number in it stands for, and a CRC that fits."""
        changed = bytearray(self.with_real_ids(batch))
        if changed != batch:
            write_crc(changed)
        return bytes(changed)

    def with_real_ids(self, frame: bytes) -> bytes:
        for symbol, real in self.real.items():
            if symbol in frame:
                frame = frame.replace(symbol, real)
        return frame

    def with_bound(self, value: Any) -> Any:
        """A message, or what is in one, with what the names in its texts stand for."""
        if isinstance(value, str):
            return NAME.sub(lambda found: self.bound.get(found[1], found[0]), value)
        if isinstance(value, bytes) and len(value) > HEADER.size:
            return self.with_real_producer(value)
        if isinstance(value, list):
            return [self.with_bound(item) for item in value]
        if isinstance(value, Message):
            return type(value)(**{spec.name: self.with_bound(getattr(value, spec.name)) for spec in specs(type(value))})
        return value


def create(side: Side, topics: list[Topic]) -> dict[str, bytes]:
    """The ids of the topics, which are there when all nodes say so."""
    connections = [side.connect(node) for node in range(1, side.nodes + 1)]
    ids: dict[str, bytes] = {}
    for start in range(0, len(topics), TOPICS_AT_ONCE):
        some = topics[start : start + TOPICS_AT_ONCE]
        request = CreateTopicsRequest(topics=[_creatable(topic) for topic in some])
        for created in _ask(connections[0], CREATE_TOPICS, 7, request).topics:
            assert created.error_code == 0, created
            ids[created.name] = created.topic_id
    for node, connection in enumerate(connections, 1):
        while not (_all_there(connection, len(topics)) and _leads(connection, node, topics)):
            pass
    while not _coordinates(connections[0]):
        pass
    probe = InitProducerIdRequest(transactional_id="probe", transaction_timeout_ms=60_000)
    while _ask(connections[0], INIT_PRODUCER_ID, 4, probe).error_code:
        pass
    return ids


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
    topics = _ask(connection, METADATA, 9, request).topics
    leaders = [partition.error_code for topic in topics for partition in topic.partitions]
    return len(topics) == count and not any(leaders)


def _leads(connection: Connection, node: int, topics: list[Topic]) -> bool:
    """Whether a node knows of every partition whose first replica it is that it leads it."""
    led = [
        ListOffsetsTopic(name=topic.name, partitions=[ListOffsetsPartition(partition_index=n, timestamp=-2) for n in indexes])
        for topic in topics
        if (indexes := [n for n, replicas in enumerate(topic.replicas) if replicas[0] == node])
    ]
    answers = _ask(connection, LIST_OFFSETS, 1, ListOffsetsRequest(replica_id=-1, topics=led)).topics
    return not any(partition.error_code for topic in answers for partition in topic.partitions)


def _coordinates(connection: Connection) -> bool:
    """Whether a node coordinates groups and transactions, which it has to load before, and has ids for producers."""
    request = InitProducerIdRequest(transactional_id="probe", transaction_timeout_ms=1000)
    offsets = _ask(connection, OFFSET_FETCH, 7, OffsetFetchRequest(group_id="probe", topics=[]))
    return not offsets.error_code and not _ask(connection, INIT_PRODUCER_ID, 4, request).error_code


def _ask(connection: Connection, api: Api, version: int, request: Message) -> Any:
    connection.send(b"".join(encode_request(api, version, 1, "test", request)))
    answer = connection.receive(SETUP_PATIENCE_S)
    assert answer
    return decode_response(api, version, memoryview(answer))[1]
