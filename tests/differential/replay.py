"""Sends the requests of cases to a cluster and renders its answers as text.

A case refers to topic ids, producer ids and member ids by names, because each cluster generates its own. `Replay` replaces them in requests
by the values of the cluster, and `Renderer` replaces the values in answers by the names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from struct import pack, unpack
from typing import Any

from odradek.protocol.batches.records import HEADER, write_crc
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
from odradek.protocol.schema import Api, Message, ProtocolError, specs

from .case import (
    LOCALHOST,
    Case,
    Disconnect,
    KillNode,
    Pause,
    PauseNode,
    Receive,
    ResumeNode,
    ScramExchange,
    Send,
    SendRaw,
    StartNode,
    Step,
    StopNode,
    TokenRequest,
    Topic,
    id_of,
    number_of,
)
from .clusters import Connection, TargetCluster
from .rendering import Renderer
from .requests import request_of
from .scram_exchange import exchange, token_hmac, token_password

CORRELATION_ID, PROBE_ID = 7, 0x7FFFFFFF
PROBE = pack(">ihhih", 10, API_VERSIONS.key, 0, PROBE_ID, -1)
PATIENCE_S, SHORT_PATIENCE_S, SETUP_PATIENCE_S = 1.5, 0.1, 60
SETTLED_MS = 200
CLOSED, SILENT, WAITS = "closed", "no answer", "waits"
NAME = re.compile(r"\$(\w+)")
TOPICS_AT_ONCE = 200
WINDOW_MS = 600_000
COMPACT = {"cleanup.policy": "compact"}


def topics_of(cases: Iterable[Case], coordinators: tuple[tuple[int, ...], ...] = ((1,),)) -> list[Topic]:
    """Returns the topics of some cases and the internal topics, without duplicates; see `Family` for `coordinators`."""
    internal = Topic("__consumer_offsets", COMPACT, coordinators), Topic("__transaction_state", COMPACT, ((1,),))
    topics = {topic.name: topic for topic in (*(topic for case in cases for topic in case.topics), *internal)}
    return list(topics.values())


def replay(
    target: TargetCluster,
    cases: Iterable[Case],
    coordinators: tuple[tuple[int, ...], ...] = ((1,),),
    patience_s: float = PATIENCE_S,
) -> Iterator[tuple[Case, list[str]]]:
    """Yields each case with a line for each of its answers. All topics are created first; see `Family` for `coordinators`.

    A request without an answer after `patience_s` counts as not answered.
    """
    cases = list(cases)
    ids = create_topics(target, topics_of(cases, coordinators))
    for case in cases:
        yield case, Replay(target, ids, patience_s).run(case)


class Replay:
    """Runs one case. A connection of a name to a node is opened when needed, and again after the broker has closed it."""

    def __init__(self, target: TargetCluster, ids: dict[str, bytes], patience_s: float = PATIENCE_S) -> None:
        self.target, self.ids, self.patience_s = target, ids, patience_s
        self.connections: dict[tuple[int, str], Connection] = {}
        self.waiting: dict[tuple[int, str], Send] = {}
        self.real: dict[bytes, bytes] = {}
        self.texts = dict(target.texts)
        """Name -> the text that it stands for."""
        self.numbers: dict[int, str] = {}
        """Number -> the name that stands for it."""

    def run(self, case: Case) -> list[str]:
        self.real = {id_of(topic.name): self.ids[topic.name] for topic in case.topics}
        try:
            for step in case.before:
                self.step(step)
            lines = [line for step in case.steps for line in self.step(step)]
            return lines + [self.late_answer(*waiting, SHORT_PATIENCE_S) for waiting in list(self.waiting)]
        finally:
            self.close(list(self.connections))

    def close(self, wheres: Iterable[tuple[int, str]]) -> None:
        for where in wheres:
            self.connections.pop(where).close()

    def step(self, step: Step) -> list[str]:
        match step:
            case Pause(milliseconds):
                self.target.pause(milliseconds)
                return []
            case Disconnect(connection, node):
                self.close([(node, connection)])
                self.target.pause(SETTLED_MS)
                return []
            case StopNode(node) | KillNode(node):
                self.close([where for where in self.connections if where[0] == node])
                (self.target.stop if isinstance(step, StopNode) else self.target.kill)(node)
                return []
            case StartNode(node):
                self.target.start(node)
                return []
            case PauseNode(node):
                self.target.suspend(node)
                return []
            case ResumeNode(node):
                self.target.resume(node)
                return []
            case ScramExchange():
                first = NAME.sub(lambda found: self.texts.get(found[1], found[0]), step.first)
                password = token_password(self.texts[step.password]) if step.password in self.texts else step.password
                return [self.with_names(line) for line in exchange(step._replace(first=first, password=password), self.send)]
            case TokenRequest():
                fields = {**step.fields, "hmac": token_hmac(self.texts.get(step.token, step.token))}
                request = request_of(step.api, fields)
                return [self.send(Send(step.api, step.version, request, listener=step.listener, settles=True))]
        return [self.late_answer(step.node, step.connection, self.patience_s) if isinstance(step, Receive) else self.send(step)]

    def send(self, step: Send | SendRaw) -> str:
        began_ms = self.target.now_ms()
        frame = self.with_real_ids(step.frame if isinstance(step, SendRaw) else self.frame_of(step, began_ms))
        host = LOCALHOST if isinstance(step, SendRaw) else step.host
        where = step.node, step.listener or ("" if isinstance(step, SendRaw) else step.connection or step.host)
        if where not in self.connections:
            self.connections[where] = self.target.connect(step.node, host, step.listener)
        if isinstance(step, SendRaw):
            self.connections[where].send(frame)
            return self.answer(step, where, self.patience_s)
        self.connections[where].send(frame if step.answered else frame + PROBE)
        if not step.waits:
            text = self.answer(step, where, self.patience_s)
            self.target.pause(SETTLED_MS if step.settles else 0)
            return text
        self.waiting[where] = step
        return self.late_answer(*where, SHORT_PATIENCE_S)

    def late_answer(self, node: int, connection: str, patience_s: float) -> str:
        """Returns the answer to a request that waits, or WAITS if there is none yet."""
        if (node, connection) not in self.waiting:
            return "was answered before"
        text = self.answer(self.waiting[node, connection], (node, connection), patience_s)
        if text == SILENT:
            return WAITS
        del self.waiting[node, connection]
        return text

    def answer(self, step: Send | SendRaw, where: tuple[int, str], patience_s: float) -> str:
        answer = self.connections[where].receive(patience_s)
        if answer == b"":
            self.close([where])
            return CLOSED
        silent = isinstance(step, Send) and not step.answered
        if answer is None or (silent and unpack(">i", answer[:4]) == (PROBE_ID,)):
            return SILENT
        return self.text(step, answer)

    def text(self, step: Send | SendRaw, answer: bytes) -> str:
        if isinstance(step, SendRaw):
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
        now_ms = self.target.now_ms()
        topic_names = {topic_id: name for name, topic_id in self.ids.items()}
        bound_names = {text: name for name, text in self.texts.items()}
        return Renderer(topic_names, bound_names, now_ms - WINDOW_MS, now_ms + WINDOW_MS, self.numbers).line(
            api, version, response, in_order=step.in_order
        )

    def with_names(self, line: str) -> str:
        """Returns a line with the names of bound texts in place of the texts."""
        for name, text in self.texts.items():
            line = line.replace(text, f"${name}")
        return line

    def bind(self, name: str, value: str | int | None) -> None:
        if isinstance(value, int):
            if value >= 0:
                self.real[pack(">q", number_of(name))] = pack(">q", value)
                self.numbers[value] = name
        elif value:
            self.texts[name] = value

    def frame_of(self, request: Send, now_ms: int) -> bytes:
        payload = request.payload(now_ms) if callable(request.payload) and not isinstance(request.payload, Message) else request.payload
        if isinstance(payload, Message):
            payload = self.with_bound(payload) if self.texts or self.numbers else payload
            frame = b"".join(encode_request(request.api, request.version, CORRELATION_ID, request.client_id or "", payload))
            if request.client_id is not None:
                return frame
            payload = payload.encode(request.version)
        assert isinstance(payload, bytes)
        client = b"\xff\xff" if request.client_id is None else pack(">h", len(request.client_id)) + request.client_id.encode()
        flexible = request.version >= request.api.request.flexible_from
        frame = pack(">hhi", request.api.key, request.version, CORRELATION_ID) + client + b"\0" * flexible + payload
        return pack(">i", len(frame)) + frame

    def with_real_producer(self, batch: bytes) -> bytes:
        """Returns a batch with the real producer id instead of its placeholder, and the CRC updated."""
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
        """Returns a message, or a value in one, with bound names replaced by the texts that they stand for."""
        if isinstance(value, str):
            return NAME.sub(lambda found: self.texts.get(found[1], found[0]), value)
        if isinstance(value, bytes) and len(value) > HEADER.size:
            return self.with_real_producer(value)
        if isinstance(value, list):
            return [self.with_bound(item) for item in value]
        if isinstance(value, Message):
            return type(value)(**{spec.name: self.with_bound(getattr(value, spec.name)) for spec in specs(type(value))})
        return value


def create_topics(target: TargetCluster, topics: list[Topic]) -> dict[str, bytes]:
    """Creates topics and returns their ids, after all nodes know the topics and lead their partitions."""
    with ExitStack() as stack:
        connections = [stack.enter_context(closing(target.connect(node))) for node in range(1, target.nodes + 1)]
        ids = {topic.name: topic.topic_id for topic in _created(connections[0], topics)}
        for node, connection in enumerate(connections, 1):
            while not (_has_all_topics(connection, len(topics)) and _leads(connection, node, topics)):
                pass
        while not _coordinates(connections[0]):
            pass
        probe = InitProducerIdRequest(transactional_id="probe", transaction_timeout_ms=60_000)
        while _call(connections[0], INIT_PRODUCER_ID, 4, probe).error_code:
            pass
    return ids


def _created(connection: Connection, topics: list[Topic]) -> Iterator[Any]:
    for start in range(0, len(topics), TOPICS_AT_ONCE):
        some = topics[start : start + TOPICS_AT_ONCE]
        request = CreateTopicsRequest(topics=[_creatable(topic) for topic in some])
        for created in _call(connection, CREATE_TOPICS, 7, request).topics:
            assert created.error_code == 0, created
            yield created


def _creatable(topic: Topic) -> CreatableTopic:
    return CreatableTopic(
        name=topic.name,
        num_partitions=-1,
        replication_factor=-1,
        assignments=[CreatableReplicaAssignment(partition_index=n, broker_ids=list(nodes)) for n, nodes in enumerate(topic.replicas)],
        configs=[CreatableTopicConfig(name=name, value=value) for name, value in topic.configs.items()],
    )


def _has_all_topics(connection: Connection, count: int) -> bool:
    request = MetadataRequest(topics=None, allow_auto_topic_creation=False)
    topics = _call(connection, METADATA, 9, request).topics
    leaders = [partition.error_code for topic in topics for partition in topic.partitions]
    return len(topics) == count and not any(leaders)


def _leads(connection: Connection, node: int, topics: list[Topic]) -> bool:
    """Returns whether a node acts as the leader of every partition whose first replica it is."""
    led = [
        ListOffsetsTopic(name=topic.name, partitions=[ListOffsetsPartition(partition_index=n, timestamp=-2) for n in indexes])
        for topic in topics
        if (indexes := [n for n, replicas in enumerate(topic.replicas) if replicas[0] == node])
    ]
    answers = _call(connection, LIST_OFFSETS, 1, ListOffsetsRequest(replica_id=-1, topics=led)).topics
    return not any(partition.error_code for topic in answers for partition in topic.partitions)


def _coordinates(connection: Connection) -> bool:
    """Returns whether a node has loaded groups and transactions and can assign producer ids."""
    request = InitProducerIdRequest(transactional_id="probe", transaction_timeout_ms=1000)
    offsets = _call(connection, OFFSET_FETCH, 7, OffsetFetchRequest(group_id="probe", topics=[]))
    return not offsets.error_code and not _call(connection, INIT_PRODUCER_ID, 4, request).error_code


def _call(connection: Connection, api: Api, version: int, request: Message) -> Any:
    connection.send(b"".join(encode_request(api, version, 1, "test", request)))
    answer = connection.receive(SETUP_PATIENCE_S)
    assert answer
    return decode_response(api, version, memoryview(answer))[1]
