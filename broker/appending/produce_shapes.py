"""Serves Produce requests that have the same shape as an earlier one, without decoding the request or encoding the response.

A producer sends the same Produce request again and again, each time with another batch. Two requests of the same length, with a batch of
one record, differ only in the record's key and value and in a few numbers. So the connection stores what does not differ:

* A `Target` (`produce_target.py`) is a partition, with the bytes that the requests to it and their responses have in common.
* A `Shape` is one length of requests. Its Struct unpacks a request of that length at once: the numbers that may differ and, between them,
  as bytes, all that must be the same as before.

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
structure of that request. `_append` makes the checks of `append` that depend on the numbers and on the state of the cluster: leader,
in-sync replicas, settings of the topic, timestamp, memory, CRC and sequence number. The log and the producer's state receive the numbers
that were unpacked, and one `pack` makes the response.

Another length, or a batch of several records, with headers or compressed: the target is found by the bytes before the records, and `append`
checks the batch as it does for a decoded request. If the batch is one plain record, its shape is stored. A connection stores at most
MOST_SHAPES shapes and MOST_TARGETS targets.

For any other difference, and for a batch that may have to be refused, `answer` returns None without having changed anything. The connection
then decodes the request, and the handler decides. Therefore this module builds no error responses.

`ClusterState.shortcut_allowed` switches all of this off for the connections of a cluster, from the next request on. It must be False while
anything but the handler and the log may influence a response: with an authorizer, because a permission may be withdrawn between two
requests, and with injected faults, because they may match any field. `Connection._serve` reads it, through which all requests pass.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from struct import Struct
from typing import Any, NamedTuple

from ...protocol import records
from ...protocol.messages.produce import ProduceRequest
from ...protocol.record_checks import MAX_LONG
from ...protocol.record_checks.scan import read_varint
from ...protocol.records import CRC_START, HEADER
from ..context import Context
from .append import ALL_REPLICAS
from .batch_checks import AppendRules
from .produce_target import CLIENT_ID_POSITION, Target, correlation_id_of, prefix_end

MOST_TARGETS, MOST_SHAPES, LONGEST_SHAPE = 1000, 1024, 16 * 1024
_CRC, _COUNT = 17, 57  # positions in a batch, of the CRC and of the count of records
_unpack_int16, _unpack_int32 = Struct(">h").unpack_from, Struct(">i").unpack_from


def learn(request: ProduceRequest, context: Context) -> None:
    """Stores the target of a request that has just succeeded, if the request was for one partition of a topic that is not internal."""
    if len(request.topic_data) != 1 or len(request.topic_data[0].partition_data) != 1:
        return
    (topic_data,) = request.topic_data
    (data,) = topic_data.partition_data
    cluster = context.cluster
    topic = cluster.topics.get(topic_data.name) or cluster.topics_by_id[topic_data.topic_id]
    if topic.is_internal:
        return
    assert isinstance(data.records, memoryview)
    end = prefix_end(context, len(data.records))
    if end is not None:
        shapes = context.shortcut if isinstance(context.shortcut, ProduceShapes) else ProduceShapes()
        shapes.add(Target(request, topic.partitions[data.index], end, context))
        context.shortcut = shapes


class Shape(NamedTuple):
    """One length of requests with one plain record.

    `unpack` returns the fields that the module lists. `same` maps the fields that must not differ to the target of the requests and the
    rules that the length of the batch and the presence of a key comply with. The other fields are positions in the request; `key` is that
    of the key length, 0 if the record has no key.
    """

    unpack: Callable[[memoryview, int], tuple[Any, ...]]
    same: dict[tuple[bytes, ...], tuple[Target, AppendRules]]
    batch: int
    batch_end: int
    key: int
    headers: int


class ProduceShapes:
    """The targets and shapes of one connection."""

    __slots__ = ("_learned", "_shapes", "_targets")

    def __init__(self) -> None:
        self._targets: dict[int, dict[bytes, Target]] = {}  # by length of the prefix, then by prefix
        self._shapes: dict[int, Shape] = {}  # by length of the request
        self._learned = 0

    def add(self, target: Target) -> None:
        """Adds a target. If there are MOST_TARGETS already, they are all dropped first."""
        if sum(map(len, self._targets.values())) >= MOST_TARGETS:
            self._targets.clear()
        self._targets.setdefault(len(target.prefix), {})[target.prefix] = target

    def answer(self, data: memoryview, position: int, size: int, owns_buffer: bool) -> bytes | None:
        """Returns the response to the request of `size` bytes at `position`: b"" with acks=0, None if the request has to be decoded."""
        shape = self._shapes.get(size)
        if shape is None:
            return self._answer_by_target(data[position : position + size], owns_buffer)
        unpack, same, start, end, key, headers = shape
        api, correlation_id, request, crc, kind, timestamp, latest, producer_id, epoch, sequence, record, key_size, rest = unpack(
            data, position
        )
        found = same.get((api, request, kind, record, rest))
        if found is not None and timestamp == latest and (not key or _value_fits(data, position + key + 1, key_size, position + headers)):
            batch = data[position + start : position + end]
            base_offset = _append(*found, batch, crc, timestamp, producer_id, epoch, sequence)
            if base_offset >= 0:
                return found[0].response(correlation_id, base_offset, -1)
        return self._answer_by_target(data[position : position + size], owns_buffer)

    def _answer_by_target(self, request: memoryview, owns_buffer: bool) -> bytes | None:
        target = self._find_target(request)
        batch = None if target is None else target.find_batch(request)
        if target is None or batch is None or (appended := target.append(batch, owns_buffer)) is None:
            return None
        if len(request) <= LONGEST_SHAPE:
            self._learn_shape(request, len(request) - len(target.suffix) - len(batch), batch, target)
        return target.response(correlation_id_of(request), appended.base_offset, appended.timestamp)

    def _find_target(self, request: memoryview) -> Target | None:
        for prefix_size, targets in self._targets.items():
            target = targets.get(bytes(request[CLIENT_ID_POSITION : CLIENT_ID_POSITION + prefix_size]))
            if target is not None:
                return target
        return None

    def _learn_shape(self, request: memoryview, start: int, batch: memoryview, target: Target) -> None:
        """Stores the shape of a request whose batch, at `start`, was appended, if the batch is one plain record."""
        size, rules = len(request), target.partition.topic.config.derived.get(AppendRules)
        shape = self._shapes.get(size)
        known = None if shape is None else shape.same.get(_same_fields(shape, request))
        if known is not None and known[0] is target and known[1] is rules:
            return  # its numbers were those of a request for the general path
        layout = _layout(request, start, batch)
        if layout is None or rules is None or rules.codec or not rules.create_time or rules.before_ms != MAX_LONG:
            return
        if self._learned == MOST_SHAPES:
            self._shapes.clear()
            self._learned, shape = 0, None
        if shape is None or shape.unpack != layout.unpack:
            shape = self._shapes[size] = layout
        shape.same[_same_fields(shape, request)] = target, rules
        self._learned += 1


def _same_fields(shape: Shape, request: memoryview) -> tuple[bytes, ...]:
    api, _, prefix, _, kind, *_, record, _, rest = shape.unpack(request, 0)
    return api, prefix, kind, record, rest


def _layout(request: memoryview, start: int, batch: memoryview) -> Shape | None:
    """Returns the shape of a request with a valid batch at `start`, without targets; None if the batch is not one plain record."""
    if _unpack_int16(batch, CRC_START)[0] or _unpack_int32(batch, _COUNT)[0] != 1:
        return None
    _, after_size = read_varint(batch, HEADER.size)
    key_at = after_size + 3  # after attributes, timestamp delta and offset delta
    key, value_at = read_varint(batch, key_at)
    value, after = read_varint(batch, value_at if key & 1 else value_at + (key >> 1))
    headers = after if value & 1 else after + (value >> 1)
    if batch[after_size + 1] or batch[after_size + 2] or batch[key_at] > 127 or batch[headers] or headers != len(batch) - 1:
        return None
    until_end = f"{len(request) - start - headers}s"
    if key & 1:
        rest = f"{after - _COUNT}s0s{headers - after}x{until_end}"
    else:
        rest = f"{key_at - _COUNT}sB{headers - key_at - 1}x{until_end}"
    unpack = _struct(f">4si{start + _CRC - CLIENT_ID_POSITION}sI6sqqqhi{rest}").unpack_from
    return Shape(unpack, {}, start, start + len(batch), 0 if key & 1 else start + key_at, start + headers)


_struct = lru_cache(4 * MOST_SHAPES)(Struct)  # the connections share them


def _value_fits(data: memoryview, at: int, key_length: int, headers: int) -> bool:
    """Returns whether a key of `key_length`, before zigzag, at `at` is followed by a value that ends at `headers`.

    Returns False for a value without bytes or of 8 KiB and more, which needs the general path.
    """
    at += key_length >> 1
    size = headers - at - 1
    if key_length & 1 or key_length > 127:
        return False
    if size < 64:
        return size >= 0 and data[at] == size << 1
    size -= 1
    return 64 <= size < 8192 and data[at] == (size << 1 & 127 | 128) and data[at + 1] == size >> 6


def _append(
    target: Target, rules: AppendRules, batch: memoryview, crc: int, timestamp: int, producer_id: int, epoch: int, sequence: int
) -> int:
    """Appends a batch of one record and returns its base offset, or -1, without a change, if the general path has to decide."""
    partition, context = target.partition, target.context
    log, now_ms = partition.log, context.cluster.timers.now_ms
    if (
        partition.leader != context.broker.node_id
        or partition.topic.config.derived.get(AppendRules) is not rules
        or not 0 <= timestamp <= now_ms + rules.after_ms
        or (target.acks == ALL_REPLICAS and not partition.has_min_isr)
        or (log.memory is not None and not log.memory.has_room(len(batch)))
        or records.crc32c(batch[CRC_START:]) != crc
    ):
        return -1
    leader_epoch = partition.leader_epoch
    if producer_id < 0:
        base_offset = log.append_copy(batch, leader_epoch, 0, timestamp)
    else:
        producers = partition.producers
        if not producers.continues_at(producer_id, epoch, sequence, now_ms):
            return -1
        base_offset = log.append_copy(batch, leader_epoch, 0, timestamp)
        producers.record(producer_id, epoch, sequence, sequence, base_offset, base_offset, timestamp, now_ms)
    context.cluster.wake(partition)
    return base_offset
