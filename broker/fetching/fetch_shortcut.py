"""Serves repeated Fetch requests from their bytes, without decoding the request or encoding the response.

A consumer that reads one partition without a fetch session sends the same request again and again, each time with another offset. So after
such a request has been read without an error, `learn` stores a `FetchTemplate` on the connection. It consists of the request's bytes around
the offset, and of the response's bytes around the numbers that differ:

    request   key, version | correlation id | client id ... leader epoch | offset | limits, rack, tagged fields
              compared       copied           compared with `prefix`       read     compared with `suffix`

    response  length | correlation id | topic ... error code | high watermark, last stable offset, log start offset |
              written  copied           stored                 written

              aborted transactions ... preferred replica | size of the records | records | tagged fields
              stored                                       written               read      stored

A frame is served by a template only if all compared bytes are equal, so that decoding it would give the same request apart from correlation
id and offset. If the response needs anything else than records, such as an error or aborted transactions, `answer` returns None without
having changed anything, and the connection decodes the request as usual.

A request that has to wait for more bytes is kept as its bytes. The template answers it when its partition is woken or `max_wait_ms` has
passed. If the template does not apply any more, for example because the leader has changed, the request is then decoded and passed to the
handler with the rest of its `max_wait_ms`. So the handler decides everything unusual, whether it happens before the wait or during it.

Templates are not used with an authorizer, because a permission may be withdrawn between two requests, for followers, and for clients that
name a rack, because a nearer replica may become available.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from itertools import islice
from struct import Struct

from ...protocol.frame import CLIENT_ID_POSITION, Buffer, encode_response, read_request_header
from ...protocol.messages.fetch import FETCH, FetchableTopicResponse, FetchRequest, FetchResponse, PartitionData
from ...protocol.schema import ProtocolError
from ...protocol.varints import put_uvarint
from ..api.context import Context, Waiting
from ..api.registry import HANDLERS
from ..cluster.fetch_sessions import FINAL_EPOCH
from ..scheduling.waiting import Wait
from ..topics.partition import Partition
from .read import NO_FOLLOWER, READ_COMMITTED

MAX_TEMPLATES = 100
MAX_FRAME_BYTES = 4096
"""The size of the largest request of which a template is stored, so that the templates of a connection need little memory."""
SINCE = 5  # the first version with the log start offset beside the other two offsets
SINCE_IN_OLDER_RELEASES = 10  # before, Fetch refuses topics in zstd, which a change of the topic's settings may bring about
MAX_CANDIDATES = 16
_INT32, _INT64 = Struct(">i"), Struct(">q")
_OFFSETS = Struct(">qqq")


def learn(request: FetchRequest, partition: Partition, context: Context) -> None:
    """Stores a template of a request for records of one partition, which has just been read without an error."""
    shortcut = FetchShortcut() if context.shortcut is None else context.shortcut
    if not isinstance(shortcut, FetchShortcut) or not _is_plain(request, context):
        return  # a connection has one kind of shortcut, and the one for Produce saves more
    template = shortcut.find(context.frame)
    if template is not None and template.is_current(partition):
        return
    position = _offset_position(request, context)
    if position is not None:
        shortcut.add(FetchTemplate(request, partition, position, context))
        context.shortcut = shortcut


def _is_plain(request: FetchRequest, context: Context) -> bool:
    """Returns whether the request is small, and its response depends on nothing but its offset and the partition's log."""
    follower = request.replica_id if request.replica_state is None else request.replica_state.replica_id
    return (
        context.version >= (SINCE if context.cluster.release is None else SINCE_IN_OLDER_RELEASES)
        and len(context.frame) <= MAX_FRAME_BYTES
        and request.session_id == 0
        and request.session_epoch == FINAL_EPOCH
        and follower == NO_FOLLOWER
        and not (context.broker.rack_aware and request.rack_id)
        and request.topics[0].partitions[0].last_fetched_epoch < 0
        and context.cluster.shortcut_allowed
    )


def _offset_position(request: FetchRequest, context: Context) -> int | None:
    """Returns the position of the offset in the frame of a request, which is found by decoding changed copies; None if it is not found."""
    frame, offset = bytes(context.frame), _INT64.pack(request.topics[0].partitions[0].fetch_offset)
    candidates = (found.start() for found in re.compile(b"(?=" + re.escape(offset) + b")").finditer(frame, CLIENT_ID_POSITION))
    return next((position for position in islice(candidates, MAX_CANDIDATES) if _is_offset(position, frame, request)), None)


def _is_offset(position: int, frame: bytes, request: FetchRequest) -> bool:
    """Returns whether changing the number at `position` changes the offset of the decoded request, and nothing else."""
    changed, offset = bytearray(frame), request.topics[0].partitions[0].fetch_offset ^ 1
    _INT64.pack_into(changed, position, offset)
    try:
        header = read_request_header(memoryview(changed))
        other = header.api.request.decoders[header.version](memoryview(changed), header.position)[0]
    except ProtocolError:
        return False
    parts = [part for topic in other.topics for part in topic.partitions]
    if len(parts) != 1 or parts[0].fetch_offset != offset:
        return False
    parts[0].fetch_offset = offset ^ 1
    return bool(other == request)


class FetchShortcut:
    """The templates of one connection: one for each partition that its consumer reads."""

    def __init__(self) -> None:
        self._templates: dict[int, dict[bytes, FetchTemplate]] = {}  # by length of the prefix, then by prefix

    def add(self, template: FetchTemplate) -> None:
        """Adds a template. If there are MAX_TEMPLATES already, they are all dropped first."""
        if sum(map(len, self._templates.values())) >= MAX_TEMPLATES:
            self._templates.clear()
        self._templates.setdefault(template.position, {})[template.prefix] = template

    def find(self, frame: memoryview) -> FetchTemplate | None:
        """Returns the template whose bytes are equal to those of a request."""
        for position, templates in self._templates.items():
            template = templates.get(bytes(frame[CLIENT_ID_POSITION:position]))
            if template is not None and template.fits(frame):
                return template
        return None

    def answer(self, data: memoryview, position: int, size: int, _owns_buffer: bool) -> list[Buffer] | Waiting | None:
        """Returns the parts of the response to the request of `size` bytes at `position`, or a generator if the response has to wait.

        Returns None if the request has to be decoded.
        """
        frame = data[position : position + size]
        template = self.find(frame)
        if template is None:
            return None
        parts = template.answer(frame, incomplete=template.max_wait_ms <= 0)
        return parts if parts or parts is None else self._wait(template, bytes(frame))

    def _wait(self, template: FetchTemplate, frame: bytes) -> Waiting:
        """Waits until the response is complete, the template does not apply any more, or `max_wait_ms` has passed."""
        cluster = template.cluster
        deadline_ms = cluster.timers.now_ms + template.max_wait_ms
        wait = Wait((template.partition,), deadline_ms)
        parts: list[Buffer] | None = []
        while parts is not None and not parts:
            yield wait
            timed_out = cluster.timers.now_ms >= deadline_ms
            parts = template.answer(memoryview(frame), incomplete=timed_out) if cluster.shortcut_allowed else None
        return (yield from self._decode(template, memoryview(frame), deadline_ms)) if parts is None else parts

    def _decode(self, template: FetchTemplate, frame: memoryview, deadline_ms: int) -> Waiting:
        """Returns the response of the handler, which waits until `deadline_ms` at most."""
        header = read_request_header(frame)
        request = FETCH.request.decoders[header.version](frame, header.position)[0]
        context = Context(header.version, template.client, template.cluster, template.broker, frame, False, self)
        request.max_wait_ms = deadline_ms - context.now_ms
        answer = HANDLERS[FETCH.key].rule(request, context)
        return (yield from answer) if isinstance(answer, Generator) else answer


class FetchTemplate:
    """The bytes of one Fetch request around its offset, and those of its response around offsets and records."""

    def __init__(self, request: FetchRequest, partition: Partition, position: int, context: Context) -> None:
        (topic,) = request.topics
        (wanted,) = topic.partitions
        frame = context.frame
        self.partition = partition
        self.cluster, self.broker = context.cluster, context.broker
        self.client = context.client
        self.max_wait_ms = request.max_wait_ms
        self._leader_epoch = partition.leader_epoch
        self._read_committed = request.isolation_level == READ_COMMITTED
        self._min_bytes, self._max_bytes, self._partition_max_bytes = request.min_bytes, request.max_bytes, wanted.partition_max_bytes
        self.position = position
        self.prefix = bytes(frame[CLIENT_ID_POSITION:position])
        self._key_and_version = bytes(frame[:4])
        self._suffix = bytes(frame[position + _INT64.size :])
        self._flexible = context.version >= FETCH.request.flexible_from
        self._split_response(topic.topic, topic.topic_id, context.version)

    def fits(self, frame: memoryview) -> bool:
        """Returns whether a request that begins with `prefix` is equal to the template apart from correlation id and offset."""
        return frame[self.position + _INT64.size :] == self._suffix and frame[:4] == self._key_and_version

    def is_current(self, partition: Partition) -> bool:
        """Returns whether this is the template's partition, its leader being the same as before."""
        return partition is self.partition and partition.leader == self.broker.node_id and partition.leader_epoch == self._leader_epoch

    def answer(self, frame: memoryview, *, incomplete: bool) -> list[Buffer] | None:
        """Returns the parts of the response to a request that fits, or None if it needs anything else than records.

        The list is empty if there are fewer than `min_bytes` and the response may not be `incomplete`.
        """
        partition = self.partition
        if not self.is_current(partition):
            return None
        (offset,) = _INT64.unpack_from(frame, self.position)
        log, high_watermark, last_stable_offset = partition.log, partition.high_watermark, partition.last_stable_offset
        end_offset = last_stable_offset if self._read_committed else high_watermark
        if not log.start_offset <= offset <= end_offset or (self._read_committed and partition.producers.aborted(offset, end_offset)):
            return None
        limit = min(self._max_bytes, self.broker.config.integers["fetch.max.bytes"])
        records, size = [], 0
        if offset < end_offset:
            records = log.read(offset, min(limit, self._partition_max_bytes), end_offset, at_least_one=True)
            size = sum(map(len, records))
        if not incomplete and size < min(self._min_bytes, limit):
            return []
        return self._response(frame, size, _OFFSETS.pack(high_watermark, last_stable_offset, log.start_offset), records)

    def _response(self, frame: memoryview, size: int, offsets: bytes, records: list[memoryview]) -> list[Buffer]:
        if self._flexible:
            length = bytearray()
            put_uvarint(length, size + 1)
        else:
            length = bytearray(_INT32.pack(size))
        total = _INT32.size + len(self._head) + len(offsets) + len(self._middle) + len(length) + size + len(self._tail)
        head = b"".join((_INT32.pack(total), frame[4:8], self._head, offsets, self._middle, length))
        return [head, *records, self._tail]

    def _split_response(self, topic: str, topic_id: bytes, version: int) -> None:
        """Finds the positions of offsets and records by encoding the response with different offsets and comparing the bytes."""

        def encode(offset: int) -> bytes:
            data = PartitionData(
                partition_index=self.partition.index,
                high_watermark=offset,
                last_stable_offset=offset,
                log_start_offset=offset,
                aborted_transactions=[] if self._read_committed else None,
                records=b"",
            )
            topics = [FetchableTopicResponse(topic=topic, topic_id=topic_id, partitions=[data])]
            return b"".join(encode_response(FETCH, version, 0, FetchResponse(responses=topics)))

        one, other = encode(0), encode(-1)
        position = next(n for n, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)
        # Empty records are a length only. In flexible versions the tagged fields of partition, topic and response follow it.
        after = len(one) - 4
        self._tail = b"\0\0\0" if self._flexible else b""
        self._head, self._middle = one[CLIENT_ID_POSITION:position], one[position + _OFFSETS.size : after]
