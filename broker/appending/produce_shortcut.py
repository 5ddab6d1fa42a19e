"""A producer sends the same Produce request over and over, with another batch in it: only the batch is looked at then.

Decoding the request and encoding the answer are two thirds of what a small Produce costs. After one to a single partition was
answered, the next one on the connection is recognised by its bytes: from the client id up to the records they are equal, only
correlation id, length and batch differ. Whatever is not quite so, or does not get in, goes the long way.
"""

from __future__ import annotations

from struct import Struct

from ...protocol.frame import encode_response
from ...protocol.messages.produce import PRODUCE, PartitionProduceResponse, ProduceRequest, ProduceResponse, TopicProduceResponse
from ...protocol.records import HEADER, TRANSACTIONAL_BIT
from ...protocol.schema import ProtocolError
from ...protocol.varints import uvarint_rest
from ..context import Context
from ..topics.partition import Partition
from .append import APPEND_REFUSALS, ATTRIBUTES_POSITION, append, one_batch

MAX_KNOWN = 1000
_HEADER = Struct(">ii")
_INT32 = Struct(">i")
_CLIENT_ID_POSITION = 8
_EMPTY_TAGS = b"\0\0\0"  # behind the records, from the flexible versions on: of the partition, the topic and the request


def recognise(request: ProduceRequest, context: Context) -> None:
    """Has the connection recognise the like of a request that has just succeeded, if it was for one partition."""
    repeated = RepeatedProduce.after(request, context)
    if repeated is not None:
        known = context.shortcut if isinstance(context.shortcut, RepeatedProduces) else RepeatedProduces()
        known.add(repeated)
        context.shortcut = known


class RepeatedProduces:
    """The requests of a connection that are recognised: one for each partition that its producer writes to."""

    def __init__(self) -> None:
        self._known: dict[int, dict[bytes, RepeatedProduce]] = {}  # by where their records begin, and by their bytes up to there

    def add(self, repeated: RepeatedProduce) -> None:
        """Recognises one more; when there are too many it begins anew."""
        if sum(map(len, self._known.values())) >= MAX_KNOWN:
            self._known.clear()
        self._known.setdefault(repeated.end, {})[repeated.same] = repeated

    def answer(self, frame: memoryview, owns_buffer: bool) -> bytes | None:
        """The whole answer to a request that is the like of a known one; None if it is not, or its batch does not get in."""
        for end, known in self._known.items():
            repeated = known.get(bytes(frame[_CLIENT_ID_POSITION:end]))
            if repeated is not None:
                return repeated.answer(frame, owns_buffer)
        return None


class RepeatedProduce:
    """The bytes of one Produce request around its records, and those of its answer around its offsets."""

    def __init__(self, request: ProduceRequest, partition: Partition, records: memoryview, context: Context) -> None:
        self._partition = partition
        self._acks = request.acks
        self._transactional_id = request.transactional_id
        self._context = context
        self._flexible = context.version >= PRODUCE.request.flexible_from
        self._tail = _EMPTY_TAGS if self._flexible else b""
        frame = context.frame
        self._key_and_version, _ = _HEADER.unpack_from(frame)
        self.end = len(frame) - len(self._tail) - len(records) - self._length_size(len(records))
        self.same = bytes(frame[_CLIENT_ID_POSITION : self.end])
        self._split_answer(request)
        context.frame = memoryview(b"")  # it may be large, and is not kept alive by what remembers it

    @classmethod
    def after(cls, request: ProduceRequest, context: Context) -> RepeatedProduce | None:
        """What recognises the like of a request that has just succeeded; None if it is not for one partition."""
        if len(request.topic_data) != 1 or len(request.topic_data[0].partition_data) != 1:
            return None
        (topic_data,) = request.topic_data
        (data,) = topic_data.partition_data
        cluster = context.cluster
        topic = cluster.topics.get(topic_data.name) or cluster.topics_by_id[topic_data.topic_id]
        assert isinstance(data.records, memoryview)
        return None if topic.is_internal else cls(request, topic.partitions[data.index], data.records, context)

    def answer(self, frame: memoryview, owns_buffer: bool) -> bytes | None:
        """The whole answer to a request that is the like; None if it is not, or its batch does not get in."""
        end, context, partition = self.end, self._context, self._partition
        if len(frame) < end + HEADER.size:
            return None
        key_and_version, correlation_id = _HEADER.unpack_from(frame)
        if key_and_version != self._key_and_version or partition.leader != context.broker.node_id:
            return None
        context.owns_buffer = owns_buffer
        try:
            start, behind = self._find_records(frame)
            if behind > len(frame) or bytes(frame[behind:]) != self._tail:
                return None
            batch = one_batch(frame[start:behind], context.version)
            if self._transactional_id is None and batch[ATTRIBUTES_POSITION] & TRANSACTIONAL_BIT:
                return None
            appended = append(partition, batch, self._acks, self._transactional_id, context)
        except (ProtocolError, *APPEND_REFUSALS):
            return None
        log_start_offset = (partition.log.start_offset,) if self._has_log_start else ()
        offsets = self._offsets.pack(appended.base_offset, appended.timestamp, *log_start_offset)
        return b"".join((self._length, _INT32.pack(correlation_id), self._head, offsets, self._foot))

    def _length_size(self, size: int) -> int:
        return (max(size + 1, 1).bit_length() + 6) // 7 if self._flexible else _INT32.size

    def _find_records(self, frame: memoryview) -> tuple[int, int]:
        """Where they begin and where they end, going by their length. Raises ProtocolError."""
        start = self.end
        if not self._flexible:
            (size,) = _INT32.unpack_from(frame, start)
            return start + _INT32.size, start + _INT32.size + max(size, 0)
        size, start = frame[start], start + 1
        if size > 127:
            size, start = uvarint_rest(frame, size, start)
        return start, start + max(size - 1, 0)

    def _split_answer(self, request: ProduceRequest) -> None:
        """Finds the offsets in the answer by encoding it with two different ones."""
        (topic,) = request.topic_data

        def answer(base_offset: int) -> bytes:
            partitions = [PartitionProduceResponse(index=self._partition.index, base_offset=base_offset)]
            topics = [TopicProduceResponse(name=topic.name, topic_id=topic.topic_id, partition_responses=partitions)]
            return b"".join(encode_response(PRODUCE, self._context.version, 0, ProduceResponse(responses=topics)))

        one, other = answer(0), answer(-1)
        position = next(n for n, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)
        self._has_log_start = self._context.version >= 5
        self._offsets = Struct(">qqq" if self._has_log_start else ">qq")
        self._length = one[: _INT32.size]
        self._head, self._foot = one[_HEADER.size : position], one[position + self._offsets.size :]
