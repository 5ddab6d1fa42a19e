"""Serves repeated Produce requests from their bytes, without decoding the request or encoding the response.

A producer sends the same Produce request again and again, each time with another batch. Decoding the request and encoding the response
are two thirds of the cost of a small Produce. So after a Produce to one partition has succeeded, `learn` stores a `ProduceTemplate` on
the connection. It consists of the request's bytes around the records and the response's bytes around the offsets:

    request   key, version | correlation id | client id ... index of the partition | size | records | tagged fields
              compared       copied           compared with `prefix`                 read   appended  compared with `suffix`

    response  length | correlation id | topic ... error code | base offset, append time, log start offset | rest
              stored   copied           `head`                 written                                      `tail`

A frame is served by a template only if all compared bytes are equal, so that decoding it would give the same request apart from
correlation id and records. Then `append` makes the same checks as for a decoded request. If anything differs, or `append` refuses the
batch, `answer` returns None without having changed anything, and the connection decodes the request as usual. Therefore this
module builds no error responses.

Templates are not used with an authorizer, because a permission may be withdrawn between two requests.
"""

from __future__ import annotations

from struct import Struct

from ...protocol.frame import Buffer, encode_response
from ...protocol.messages.produce import PRODUCE, PartitionProduceResponse, ProduceRequest, ProduceResponse, TopicProduceResponse
from ...protocol.records import HEADER, TRANSACTIONAL_BIT
from ...protocol.schema import ProtocolError
from ...protocol.varints import uvarint_rest
from ..context import Context
from ..topics.partition import Partition
from .append import ATTRIBUTES_POSITION, append, one_batch
from .error_codes import APPEND_REFUSALS

MAX_TEMPLATES = 1000
_HEADER = Struct(">ii")  # of a request: key and version, correlation id; of a response: length, correlation id
_INT32 = Struct(">i")
_CLIENT_ID_POSITION = 8
_EMPTY_TAGS = b"\0\0\0"  # after the records in flexible versions: the tagged fields of the partition, the topic and the request


def learn(request: ProduceRequest, context: Context) -> None:
    """Stores a template of a request that has just succeeded, if the request was for one partition of a topic that is not internal."""
    if len(request.topic_data) != 1 or len(request.topic_data[0].partition_data) != 1:
        return
    (topic_data,) = request.topic_data
    (data,) = topic_data.partition_data
    cluster = context.cluster
    topic = cluster.topics.get(topic_data.name) or cluster.topics_by_id[topic_data.topic_id]
    if topic.is_internal:
        return
    assert isinstance(data.records, memoryview)
    template = ProduceTemplate(request, topic.partitions[data.index], data.records, context)
    shortcut = context.shortcut if isinstance(context.shortcut, ProduceShortcut) else ProduceShortcut()
    shortcut.add(template)
    context.shortcut = shortcut


class ProduceShortcut:
    """The templates of one connection: one for each partition that its producer writes to."""

    def __init__(self) -> None:
        self._templates: dict[int, dict[bytes, ProduceTemplate]] = {}  # by length of the prefix, then by prefix

    def add(self, template: ProduceTemplate) -> None:
        """Adds a template. If there are MAX_TEMPLATES already, they are all dropped first."""
        if sum(map(len, self._templates.values())) >= MAX_TEMPLATES:
            self._templates.clear()
        self._templates.setdefault(template.prefix_end, {})[template.prefix] = template

    def answer(self, frame: memoryview, owns_buffer: bool) -> list[Buffer] | None:
        """Returns the response frame, or None if no template fits or the batch is refused."""
        for prefix_end, templates in self._templates.items():
            template = templates.get(bytes(frame[_CLIENT_ID_POSITION:prefix_end]))
            if template is not None:
                response = template.answer(frame, owns_buffer)
                return None if response is None else [response]
        return None


class ProduceTemplate:
    """The bytes of one Produce request around its records, and those of its response around the offsets."""

    def __init__(self, request: ProduceRequest, partition: Partition, records: memoryview, context: Context) -> None:
        self._partition = partition
        self._acks = request.acks
        self._transactional_id = request.transactional_id
        self._context = context
        self._flexible = context.version >= PRODUCE.request.flexible_from
        self._suffix = _EMPTY_TAGS if self._flexible else b""
        frame = context.frame
        self._key_and_version, _ = _HEADER.unpack_from(frame)
        self.prefix_end = len(frame) - len(self._suffix) - len(records) - self._length_size(len(records))
        self.prefix = bytes(frame[_CLIENT_ID_POSITION : self.prefix_end])
        self._split_response(request)
        context.frame = memoryview(b"")  # the template keeps the context but must not keep the frame, which may be large

    def answer(self, frame: memoryview, owns_buffer: bool) -> bytes | None:
        """Returns the response frame, or None if the frame differs from the template or its batch is refused."""
        context = self._context
        if len(frame) < self.prefix_end + HEADER.size:
            return None
        key_and_version, correlation_id = _HEADER.unpack_from(frame)
        if key_and_version != self._key_and_version:
            return None
        context.owns_buffer = owns_buffer
        try:
            start, end = self._find_records(frame)
            if end > len(frame) or bytes(frame[end:]) != self._suffix:
                return None
            batch = one_batch(frame[start:end], context.version)
            if self._transactional_id is None and batch[ATTRIBUTES_POSITION] & TRANSACTIONAL_BIT:
                return None
            appended = append(self._partition, batch, self._acks, self._transactional_id, context)
        except (ProtocolError, *APPEND_REFUSALS):
            return None
        log_start_offset = (self._partition.log.start_offset,) if self._has_log_start else ()
        offsets = self._offsets.pack(appended.base_offset, appended.timestamp, *log_start_offset)
        return b"".join((self._length, _INT32.pack(correlation_id), self._head, offsets, self._tail))

    def _length_size(self, size: int) -> int:
        """Returns the size in bytes of the length field before `size` bytes of records."""
        return (max(size + 1, 1).bit_length() + 6) // 7 if self._flexible else _INT32.size

    def _find_records(self, frame: memoryview) -> tuple[int, int]:
        """Returns the positions at which the records begin and end, according to their length field. Raises ProtocolError."""
        start = self.prefix_end
        if not self._flexible:
            (size,) = _INT32.unpack_from(frame, start)
            return start + _INT32.size, start + _INT32.size + max(size, 0)
        size, start = frame[start], start + 1
        if size > 127:
            size, start = uvarint_rest(frame, size, start)
        return start, start + max(size - 1, 0)

    def _split_response(self, request: ProduceRequest) -> None:
        """Finds the position of the offsets by encoding the response with two different base offsets and comparing the bytes."""
        (topic,) = request.topic_data

        def encoded(base_offset: int) -> bytes:
            partitions = [PartitionProduceResponse(index=self._partition.index, base_offset=base_offset)]
            topics = [TopicProduceResponse(name=topic.name, topic_id=topic.topic_id, partition_responses=partitions)]
            return b"".join(encode_response(PRODUCE, self._context.version, 0, ProduceResponse(responses=topics)))

        one, other = encoded(0), encoded(-1)
        position = next(n for n, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)
        self._has_log_start = self._context.version >= 5
        self._offsets = Struct(">qqq" if self._has_log_start else ">qq")
        self._length = one[: _INT32.size]
        self._head, self._tail = one[_HEADER.size : position], one[position + self._offsets.size :]
