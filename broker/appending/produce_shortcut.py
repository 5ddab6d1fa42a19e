"""Serves Produce requests that have the same shape as an earlier one, without decoding the request or encoding the response.

A producer sends the same Produce request again and again, each time with another batch. Two requests of the same length, with a batch of
one record, differ only in the record's key and value and in a few numbers. So the connection stores what does not differ:

* A `ProduceTarget` is a partition, with the bytes that the requests of a producer to it and their responses have in common:

      request    key, version | correlation id | client id ... index of the partition | size | records | tagged fields
                 compared       copied           compared with `prefix`                 read   appended  compared with `suffix`

      response   length | correlation id | topic ... error code | base offset, append time, log start offset | rest
                 stored   copied           `head`                 written                                      `tail`

* A `ProduceShape` is one length of requests. Its Struct unpacks a request of that length at once: the numbers that may differ and, between
  them, as bytes, all that must be the same as before.

      same       key and version
      differs    correlation id
      same       client id, ..., index of the partition, size of the records, start of the batch header until the magic
      differs    CRC
      same       attributes, last offset delta
      differs    base timestamp, max timestamp, producer id, epoch, sequence
      same       count of records; of the record: size, attributes, deltas, and without a key also the lengths of key and value
      differs    key length, if there is a key
      skipped    key, value length, value; the value length follows from the key length
      same       count of headers, tagged fields of the request

If the bytes that must be the same equal those of an earlier request, then request, batch and record are well formed, because they have the
structure of that request. `append_unpacked` makes the checks of `append` that depend on the numbers and on the state of the cluster:
leader, in-sync replicas, settings of the topic, timestamp, memory, CRC and sequence number. The log and the producer's state receive the
numbers that were unpacked, and one `pack` makes the response.

A batch of at most MAX_RECORDS records without headers has a shape too. Of each record the timestamp delta, of one byte, may differ, and key
and value are skipped; their lengths must be the same. Such shapes are stored only for lengths that repeat, because the sizes of the records
otherwise vary.

Another length, or another kind of batch (many records, headers, compression): the target is found by the bytes before the records, and
`append` checks the batch as it does for a decoded request. If the request has a shape, it is stored. A connection stores at most
MAX_SHAPES shapes and MAX_TARGETS targets; all are dropped when one more is to be stored.

For any other difference, and for a batch that may have to be refused, `answer` returns None without having changed anything. The connection
then decodes the request, and the handler decides. Therefore this module builds no error responses.

`ClusterState.shortcut_allowed` switches all of this off for the connections of a cluster, from the next request on. It is False with an
authorizer, because a permission may be withdrawn between two requests. With a gate (`broker/api/gate.py`), a connection uses its shortcut
only for requests that the present gate has let pass before. `Connection._usable_shortcut` decides both.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from operator import itemgetter
from struct import Struct
from typing import Any, NamedTuple

from ...protocol.batches.checks import MAX_LONG
from ...protocol.batches.checks.scan import read_varint
from ...protocol.batches.records import CRC_START, HEADER, TRANSACTIONAL_BIT
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
from ..topics.names import INTERNAL_TOPICS
from ..topics.partition import Partition
from .append import ALL_REPLICAS, ATTRIBUTES_POSITION, append, append_unpacked, one_batch
from .batch_checks import AppendRules
from .error_codes import APPEND_REFUSALS

MAX_TARGETS, MAX_SHAPES, MAX_SHAPE_LENGTH = 1000, 1024, 16 * 1024
_unpack_correlation_id = Struct(">4xi").unpack_from
_UP_TO_63 = frozenset(range(0, 128, 2))  # as zigzag varints of one byte
LOG_START_SINCE = 5
_INT32 = Struct(">i")
_EMPTY_TAGS = b"\0\0\0"  # after the records in flexible versions: the tagged fields of the partition, the topic and the request
FieldsOf = Callable[[tuple[Any, ...]], Any]
"""A function that returns some of the fields that were unpacked."""
MAX_RECORDS = 9
"""Batches of more records are checked as runs (`protocol/batches/checks`)."""
_CRC, _COUNT = 17, 57  # positions in a batch, of the CRC and of the count of records
NUMBERS = 10
"""The number of fields before the count of records."""
_unpack_attributes_and_count = Struct(">h34xi").unpack_from
_COMMON_OF_ONE = itemgetter(0, 2, 4, 10, 12)


def learn(request: ProduceRequest, context: Context) -> None:
    """Stores the target of a request that has just succeeded, if the request was for one partition of a topic that is not internal."""
    if len(request.topic_data) != 1 or len(request.topic_data[0].partition_data) != 1:
        return
    (topic_data,) = request.topic_data
    (data,) = topic_data.partition_data
    cluster = context.cluster
    topic = cluster.topics.get(topic_data.name) or cluster.topics_by_id[topic_data.topic_id]
    if topic.name in INTERNAL_TOPICS:
        return
    assert isinstance(data.records, memoryview)  # noqa: S101  (it narrows a type)
    end = prefix_end(context, len(data.records))
    if end is not None:
        shapes = context.shortcut if isinstance(context.shortcut, ProduceShortcut) else ProduceShortcut()
        shapes.add(ProduceTarget(request, topic.partitions[data.index], end, context))
        context.shortcut = shapes


class ProduceShortcut:
    """The targets and shapes of one connection."""

    __slots__ = ("_learned", "_previous_size", "_shapes", "_targets")

    def __init__(self) -> None:
        self._targets: dict[int, dict[bytes, ProduceTarget]] = {}  # by length of the prefix, then by prefix
        self._shapes: dict[int, ProduceShape] = {}  # by length of the request
        self._learned = 0
        self._previous_size = 0  # of the last request that was served by its target

    def add(self, target: ProduceTarget) -> None:
        """Adds a target. If there are MAX_TARGETS already, they are all dropped first."""
        if sum(map(len, self._targets.values())) >= MAX_TARGETS:
            self._targets.clear()
        self._targets.setdefault(len(target.prefix), {})[target.prefix] = target

    def answer(self, data: memoryview, position: int, size: int, owns_buffer: bool) -> bytes | None:
        """Returns the response to the request of `size` bytes at `position`: b"" with acks=0, None if the request has to be decoded."""
        shape = self._shapes.get(size)
        if shape is None:
            return self._answer_by_target(data[position : position + size], owns_buffer)
        unpack, common, target, rules, others, _, start, end, key, headers, _, deltas_of = shape
        if deltas_of is not None:
            response = self._answer_several(shape, deltas_of, data, position)
            return self._answer_by_target(data[position : position + size], owns_buffer) if response is None else response
        api, correlation_id, request, crc, kind, timestamp, latest, producer_id, epoch, sequence, record, key_size, rest = unpack(
            data, position
        )
        if (api, request, kind, record, rest) != common:
            found = others.get((api, request, kind, record, rest))
            if found is None:
                return self._answer_by_target(data[position : position + size], owns_buffer)
            target, rules = found
        if timestamp == latest and (not key or value_fits(data, position + key + 1, key_size, position + headers)):
            batch = data[position + start : position + end]
            base_offset = append_unpacked(
                target.partition, target.context, rules, batch, crc, timestamp, latest, producer_id, epoch, sequence, 0
            )
            if base_offset >= 0:
                return target.response(correlation_id, base_offset, -1)
        return self._answer_by_target(data[position : position + size], owns_buffer)

    def _answer_several(self, shape: ProduceShape, deltas_of: FieldsOf, data: memoryview, position: int) -> bytes | None:
        """Returns the response to a request with several records, or None if a field that must be the same differs or needs more checks."""
        fields = shape.unpack(data, position)
        found, deltas = shape.find(shape.common_of(fields)), deltas_of(fields)
        _, correlation_id, _, crc, _, timestamp, latest, producer_id, epoch, sequence = fields[:NUMBERS]
        if found is None or not _UP_TO_63.issuperset(deltas) or timestamp + (max(deltas) >> 1) != latest:
            return None
        (target, rules), batch = found, data[position + shape.batch : position + shape.batch_end]
        base_offset = append_unpacked(
            target.partition, target.context, rules, batch, crc, timestamp, latest, producer_id, epoch, sequence, shape.records - 1
        )
        return target.response(correlation_id, base_offset, -1) if base_offset >= 0 else None

    def _answer_by_target(self, request: memoryview, owns_buffer: bool) -> bytes | None:
        for prefix_size, targets in self._targets.items():
            target = targets.get(bytes(request[CLIENT_ID_POSITION : CLIENT_ID_POSITION + prefix_size]))
            if target is not None:
                break
        else:
            return None
        found = target.append(request, owns_buffer)
        if found is None:
            return None
        batch, (base_offset, append_time_ms) = found
        size, previous_size, self._previous_size = len(request), self._previous_size, len(request)
        if size <= MAX_SHAPE_LENGTH and may_have_shape(batch, size == previous_size):
            self._learn(request, size - len(target.suffix) - len(batch), batch, target)
        (correlation_id,) = _unpack_correlation_id(request)
        return target.response(correlation_id, base_offset, append_time_ms)

    def _learn(self, request: memoryview, start: int, batch: memoryview, target: ProduceTarget) -> None:
        """Stores the shape of a request whose batch, at `start`, was appended."""
        size, rules = len(request), target.partition.topic.config.derived.get(AppendRules)
        if rules is None or rules.codec or not rules.create_time or rules.before_ms != MAX_LONG:
            return
        shape = self._shapes.get(size)
        known = None if shape is None else shape.find(shape.common_of(shape.unpack(request, 0)))
        if known is not None and known[0] is target and known[1] is rules:
            return  # its numbers were those of a request for the general path
        new = shape_of(request, start, batch, target, rules)
        if new is None:
            return
        if self._learned == MAX_SHAPES:
            self._shapes.clear()
            self._learned, shape = 0, None
        self._shapes[size] = new.merge(shape)
        self._learned += 1


# Targets


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


class ProduceTarget:
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
        if AppendRules.cached(self.partition.topic.config).schemas is not None:
            return None  # the schemas of many records are checked in slices
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

        def encode(base_offset: int) -> bytes:
            partitions = [PartitionProduceResponse(index=self.partition.index, base_offset=base_offset)]
            topics = [TopicProduceResponse(name=topic.name, topic_id=topic.topic_id, partition_responses=partitions)]
            return b"".join(encode_response(PRODUCE, self.context.version, 0, ProduceResponse(responses=topics)))

        one, other = encode(0), encode(-1)
        position = next(n for n, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)
        has_log_start = self.context.version >= LOG_START_SINCE
        self._has_log_start = has_log_start and self.acks != 0
        after = position + (24 if has_log_start else 16)
        self._length, self._head, self._tail = one[: _INT32.size], one[CLIENT_ID_POSITION:position], one[after:]
        self._pack = Struct(f">4si{len(self._head)}s{'qqq' if has_log_start else 'qq'}{len(self._tail)}s").pack


# Shapes


class ProduceShape(NamedTuple):
    """One length of requests. `batch`, `batch_end`, `key` and `headers` are positions in a request.

    `unpack` returns key and version, correlation id, client id to magic, CRC, attributes and last offset delta, base timestamp, max
    timestamp, producer id, epoch, sequence, and the fields of the records. For one record these are its bytes before the key length, the
    key length (b"" without a key), and the bytes from the header count on, which is at `headers`. `key` is the position of the key length,
    0 without a key.

    `common_of` extracts the fields that must not differ, and `deltas_of`, if there are several records, their timestamp deltas. `common`
    are the fields of the first request, and the keys of `others` those of later requests, for example to other partitions. With them are
    stored the target, and the rules that batches of this length and structure comply with.
    """

    unpack: Callable[[memoryview, int], tuple[Any, ...]]
    common: tuple[bytes, ...]
    target: ProduceTarget
    rules: AppendRules
    others: dict[tuple[bytes, ...], tuple[ProduceTarget, AppendRules]]
    records: int
    batch: int
    batch_end: int
    key: int
    headers: int
    common_of: FieldsOf
    deltas_of: FieldsOf | None

    def find(self, common: tuple[bytes, ...]) -> tuple[ProduceTarget, AppendRules] | None:
        """Returns the target and the rules of earlier requests with these common fields."""
        return (self.target, self.rules) if common == self.common else self.others.get(common)

    def merge(self, known: ProduceShape | None) -> ProduceShape:
        """Returns the known shape of the same length with this request added; `self` if that shape has another structure."""
        if known is None or known.unpack != self.unpack:
            return self
        if known.common == self.common:
            return known._replace(target=self.target, rules=self.rules)
        others = known.others or {}
        others[self.common] = self.target, self.rules
        return known._replace(others=others)


_NO_OTHERS: dict[tuple[bytes, ...], tuple[ProduceTarget, AppendRules]] = {}
"""Shared by all shapes without other requests, to save memory."""


class _Record(NamedTuple):
    """Positions of a record's timestamp delta, key length and value, and of its end."""

    delta: int
    key: int
    value: int
    end: int


def may_have_shape(batch: memoryview, repeats_length: bool) -> bool:
    """Returns whether looking for the shape of a request with a valid batch pays.

    With several records it pays only if the previous request had the same length (`repeats_length`), because otherwise the sizes of the
    records vary, and each combination of sizes would be a shape of its own.
    """
    (attributes, count) = _unpack_attributes_and_count(batch, CRC_START)
    return not attributes and (count == 1 or (repeats_length and count <= MAX_RECORDS))


def shape_of(request: memoryview, start: int, batch: memoryview, target: ProduceTarget, rules: AppendRules) -> ProduceShape | None:
    """Returns the shape of a request with a valid and uncompressed batch at `start`; None if it has no shape."""
    (_, count) = _unpack_attributes_and_count(batch, CRC_START)
    records = _plain_records(batch, count)
    if not records:
        return None
    record, key, headers = records[0], 0, 0
    common_of: FieldsOf = _COMMON_OF_ONE
    deltas_of: FieldsOf | None = None
    if count > 1:
        formats, common, deltas = _several(batch, records)
        common_of, deltas_of = itemgetter(0, 2, 4, *common), itemgetter(*deltas)
    elif batch[record.delta] or batch[record.delta + 1] or batch[record.key] > 127:
        return None
    else:
        headers = start + record.end - 1
        if batch[record.key] & 1:  # no key
            formats = f"{record.value - _COUNT}s0s{record.end - 1 - record.value}x"
        else:
            formats, key = f"{record.key - _COUNT}sB{record.end - record.key - 2}x", start + record.key
    numbers, end = f">4si{start + _CRC - CLIENT_ID_POSITION}sI6sqqqhi", start + len(batch)
    unpack = _unpack_function(f"{numbers}{formats}{len(request) - end + 1}s")
    common_fields = common_of(unpack(request, 0))
    return ProduceShape(unpack, common_fields, target, rules, _NO_OTHERS, count, start, end, key, headers, common_of, deltas_of)


@lru_cache(4096)  # connections share the functions
def _unpack_function(formats: str) -> Callable[[memoryview, int], tuple[Any, ...]]:
    return Struct(formats).unpack_from


def _plain_records(batch: memoryview, count: int) -> list[_Record]:
    """Returns the records of a valid batch, an empty list if one of them is not plain."""
    records, at = [], HEADER.size
    for _ in range(count):
        _, attributes = read_varint(batch, at)
        _, key_at = read_varint(batch, attributes + 2)
        key, at = read_varint(batch, key_at)
        value, value_at = read_varint(batch, at if key & 1 else at + (key >> 1))
        at = value_at + 1 if value & 1 else value_at + 1 + (value >> 1)
        if batch[attributes + 1] > 127 or batch[at - 1]:  # a long delta, or headers
            return []
        records.append(_Record(attributes + 1, key_at, value_at, at))
    return records


def _several(batch: memoryview, records: list[_Record]) -> tuple[str, list[int], list[int]]:
    """Returns (the format of the records up to the last header count, the numbers of the common fields, those of the deltas)."""
    formats, at = "", _COUNT
    common: list[int] = []
    deltas: list[int] = []
    for record in records:
        key, after_key = read_varint(batch, record.key)
        value_length = after_key if key & 1 else after_key + (key >> 1)
        number = NUMBERS + len(common) + len(deltas)
        formats += f"{record.delta - at}sB{after_key - record.delta - 1}s{value_length - after_key}x{record.value - value_length}s"
        common += [number, number + 2, number + 3]
        deltas.append(number + 1)
        at = record.end - 1
        formats += f"{at - record.value}x"
    return formats, [*common, NUMBERS + len(common) + len(deltas)], deltas


def value_fits(data: memoryview, at: int, key_length: int, headers: int) -> bool:
    """Returns whether a key of `key_length`, before zigzag, at `at` is followed by a value that ends at `headers`.

    Returns False for a missing value and for one of 8 KiB and more, which need the general path.
    """
    at += key_length >> 1
    size = headers - at - 1
    if key_length & 1 or key_length > 127:
        return False
    if size < 64:
        return size >= 0 and data[at] == size << 1
    size -= 1
    return 64 <= size < 8192 and data[at] == (size << 1 & 127 | 128) and data[at + 1] == size >> 6
