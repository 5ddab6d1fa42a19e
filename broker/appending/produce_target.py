"""A partition as one producer addresses it: the bytes that its Produce requests and their responses have in common.

Requests of one producer to one partition differ only in correlation id and records, and the responses only in correlation id and offsets:

    request   key, version | correlation id | client id ... index of the partition | size | records | tagged fields
              compared       copied           compared with `prefix`                 read   appended  compared with `suffix`

    response  length | correlation id | topic ... error code | base offset, append time, log start offset | rest
              stored   copied           `head`                 written                                      `tail`

`produce_shapes.py` stores the targets of a connection and finds the one of a request.
"""

from __future__ import annotations

from struct import Struct

from ...protocol.batches.records import HEADER, TRANSACTIONAL_BIT
from ...protocol.frame import CLIENT_ID_POSITION, encode_response, read_request_header
from ...protocol.messages.produce import (
    PRODUCE,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from ...protocol.schema import ProtocolError
from ...protocol.varints import uvarint_rest
from ...storage.producers import Appended
from ..api.context import Context
from ..topics.partition import Partition
from .append import ALL_REPLICAS, ATTRIBUTES_POSITION, append, one_batch
from .error_codes import APPEND_REFUSALS

LOG_START_SINCE = 5
_INT32 = Struct(">i")
_EMPTY_TAGS = b"\0\0\0"  # after the records in flexible versions: the tagged fields of the partition, the topic and the request


def is_flexible(version: int) -> bool:
    """Returns whether Produce of this version has lengths as varints and tagged fields (KIP-482)."""
    return version >= PRODUCE.request.flexible_from


def prefix_end(context: Context, records_size: int) -> int | None:
    """Returns the position of the records' size in the frame of a request; None if there are tagged fields after its records.

    Without tagged fields the position follows from the sizes. It is verified by decoding the bytes before it, followed by no records.
    """
    frame, version = context.frame, context.version
    if not is_flexible(version):
        return len(frame) - records_size - _INT32.size
    position = len(frame) - len(_EMPTY_TAGS) - records_size - (max(records_size + 1, 1).bit_length() + 6) // 7
    shortened = memoryview(bytes(frame[:position]) + b"\1" + _EMPTY_TAGS)
    try:
        request, _ = PRODUCE.request.decoders[version](shortened, read_request_header(shortened).position)
    except ProtocolError:
        return None
    return None if request.topic_data[0].partition_data[0].records else position


class Target:
    """The partition, the common bytes, and the settings of the requests that decide how their batches are appended."""

    __slots__ = (
        *("_head", "_length", "_pack", "_tail", "_has_log_start", "_key_and_version", "acks", "context"),
        *("partition", "prefix", "suffix", "transactional_id"),
    )

    def __init__(self, request: ProduceRequest, partition: Partition, prefix_end: int, context: Context) -> None:
        frame = context.frame
        self.partition = partition
        self.acks = request.acks
        self.transactional_id = request.transactional_id
        self.context = context
        self.suffix = _EMPTY_TAGS if is_flexible(context.version) else b""
        self._key_and_version = bytes(frame[:4])
        self.prefix = bytes(frame[CLIENT_ID_POSITION:prefix_end])
        self._split_response(request.topic_data[0])
        context.frame = memoryview(b"")  # the target keeps the context but must not keep the frame, which may be large

    def append(self, request: memoryview, owns_buffer: bool) -> tuple[memoryview, Appended] | None:
        """Appends the batch of a request that begins with `prefix`, after all checks of a batch.

        Returns the batch and where it was appended. Returns None, without a change, if other bytes of the request differ or the batch is
        refused.
        """
        context = self.context
        if self.acks == ALL_REPLICAS and self.partition.held_offset is not None:
            return None  # the response may have to wait for replicas
        if len(request) < CLIENT_ID_POSITION + len(self.prefix) + HEADER.size or bytes(request[:4]) != self._key_and_version:
            return None
        context.owns_buffer = owns_buffer
        try:
            start, end = self._find_records(request)
            if end > len(request) or bytes(request[end:]) != self.suffix:
                return None
            batch = one_batch(request[start:end], context.version)
            if self.transactional_id is None and batch[ATTRIBUTES_POSITION] & TRANSACTIONAL_BIT:
                return None
            return batch, append(self.partition, batch, self.acks, self.transactional_id, context)
        except (ProtocolError, *APPEND_REFUSALS):
            return None

    def response(self, correlation_id: int, base_offset: int, append_time_ms: int) -> bytes:
        """Returns the frame of the response; with acks=0 it is empty."""
        if self._has_log_start:
            log_start_offset = self.partition.log.start_offset
            return self._pack(self._length, correlation_id, self._head, base_offset, append_time_ms, log_start_offset, self._tail)
        return self._pack(self._length, correlation_id, self._head, base_offset, append_time_ms, self._tail) if self.acks else b""

    def _find_records(self, frame: memoryview) -> tuple[int, int]:
        """Returns the positions at which the records begin and end, according to their length field. Raises ProtocolError."""
        start = CLIENT_ID_POSITION + len(self.prefix)
        if not self.suffix:
            (size,) = _INT32.unpack_from(frame, start)
            return start + _INT32.size, start + _INT32.size + max(size, 0)
        size, start = frame[start], start + 1
        if size > 127:
            size, start = uvarint_rest(frame, size, start)
        return start, start + max(size - 1, 0)

    def _split_response(self, topic: TopicProduceData) -> None:
        """Finds the position of the offsets by encoding the response with two different base offsets and comparing the bytes."""

        def encoded(base_offset: int) -> bytes:
            partitions = [PartitionProduceResponse(index=self.partition.index, base_offset=base_offset)]
            topics = [TopicProduceResponse(name=topic.name, topic_id=topic.topic_id, partition_responses=partitions)]
            return b"".join(encode_response(PRODUCE, self.context.version, 0, ProduceResponse(responses=topics)))

        one, other = encoded(0), encoded(-1)
        position = next(n for n, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)
        has_log_start = self.context.version >= LOG_START_SINCE
        self._has_log_start = has_log_start and self.acks != 0
        after = position + (24 if has_log_start else 16)
        self._length, self._head, self._tail = one[: _INT32.size], one[CLIENT_ID_POSITION:position], one[after:]
        self._pack = Struct(f">4si{len(self._head)}s{'qqq' if has_log_start else 'qq'}{len(self._tail)}s").pack
