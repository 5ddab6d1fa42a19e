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

A batch of a few records has a shape too. Of each record the timestamp delta, of one byte, may differ, and key and value are skipped; their
lengths must be the same. Such shapes are stored only for lengths that repeat, because the sizes of the records otherwise vary.

Another length, or another kind of batch (many records, headers, compression): the target is found by the bytes before the records, and
`append` checks the batch as it does for a decoded request. If the request has a shape, it is stored. A connection stores at most
MAX_SHAPES shapes and MAX_TARGETS targets; all are dropped when one more is to be stored.

For any other difference, and for a batch that may have to be refused, `answer` returns None without having changed anything. The connection
then decodes the request, and the handler decides. Therefore this module builds no error responses.

`ClusterState.shortcut_allowed` switches all of this off for the connections of a cluster, from the next request on. It is False with an
authorizer, because a permission may be withdrawn between two requests. With a gate (`broker/api/gate.py`), a connection uses its shortcut
only for requests that the present gate has let pass before. `Connection._serve` decides both; all requests pass through it.
"""

from __future__ import annotations

from struct import Struct

from ...protocol.batches import records
from ...protocol.batches.checks import MAX_LONG
from ...protocol.batches.records import CRC_START
from ...protocol.frame import CLIENT_ID_POSITION
from ...protocol.messages.produce import ProduceRequest
from ...storage.producer_state import MAX_SEQUENCE
from ..api.context import Context
from .batch_checks import AppendRules
from .produce_shape import NUMBERS, FieldsOf, Shape, may_have_shape, shape_of, value_fits
from .produce_target import Target, prefix_end

MAX_TARGETS, MAX_SHAPES, MAX_SHAPE_LENGTH = 1000, 1024, 16 * 1024
_unpack_correlation_id = Struct(">4xi").unpack_from
_UP_TO_63 = frozenset(range(0, 128, 2))  # as zigzag varints of one byte


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


class ProduceShapes:
    """The targets and shapes of one connection."""

    __slots__ = ("_learned", "_previous_size", "_shapes", "_targets")

    def __init__(self) -> None:
        self._targets: dict[int, dict[bytes, Target]] = {}  # by length of the prefix, then by prefix
        self._shapes: dict[int, Shape] = {}  # by length of the request
        self._learned = 0
        self._previous_size = 0  # of the last request that was served by its target

    def add(self, target: Target) -> None:
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
            base_offset = _append(target, rules, batch, crc, timestamp, latest, producer_id, epoch, sequence, 0)
            if base_offset >= 0:
                return target.response(correlation_id, base_offset, -1)
        return self._answer_by_target(data[position : position + size], owns_buffer)

    def _answer_several(self, shape: Shape, deltas_of: FieldsOf, data: memoryview, position: int) -> bytes | None:
        """Returns the response to a request with several records, or None if a field that must be the same differs or needs more checks."""
        fields = shape.unpack(data, position)
        found, deltas = shape.known(shape.common_of(fields)), deltas_of(fields)
        _, correlation_id, _, crc, _, timestamp, latest, producer_id, epoch, sequence = fields[:NUMBERS]
        if found is None or not _UP_TO_63.issuperset(deltas) or timestamp + (max(deltas) >> 1) != latest:
            return None
        batch = data[position + shape.batch : position + shape.batch_end]
        base_offset = _append(*found, batch, crc, timestamp, latest, producer_id, epoch, sequence, shape.records - 1)
        return found[0].response(correlation_id, base_offset, -1) if base_offset >= 0 else None

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

    def _learn(self, request: memoryview, start: int, batch: memoryview, target: Target) -> None:
        """Stores the shape of a request whose batch, at `start`, was appended."""
        size, rules = len(request), target.partition.topic.config.derived.get(AppendRules)
        if rules is None or rules.codec or not rules.create_time or rules.before_ms != MAX_LONG:
            return
        shape = self._shapes.get(size)
        known = None if shape is None else shape.known(shape.common_of(shape.unpack(request, 0)))
        if known is not None and known[0] is target and known[1] is rules:
            return  # its numbers were those of a request for the general path
        new = shape_of(request, start, batch, target, rules)
        if new is None:
            return
        if self._learned == MAX_SHAPES:
            self._shapes.clear()
            self._learned, shape = 0, None
        self._shapes[size] = new.merged(shape)
        self._learned += 1


def _append(
    target: Target,
    rules: AppendRules,
    batch: memoryview,
    crc: int,
    timestamp: int,
    latest: int,
    producer_id: int,
    epoch: int,
    sequence: int,
    last_delta: int,
) -> int:
    """Appends a batch and returns its base offset, or -1, without a change, if the general path has to decide.

    `timestamp` and `latest` are the smallest and the largest timestamp of its records, `last_delta` is the last offset delta.
    """
    partition, context = target.partition, target.context
    log, now_ms = partition.log, context.cluster.timers.now_ms
    if (
        partition.leader != context.broker.node_id
        or partition.topic.config.derived.get(AppendRules) is not rules
        or timestamp < 0
        or latest > now_ms + rules.after_ms
        or partition.held_offset is not None
        or (log.memory is not None and not log.memory.has_room(len(batch)))
        or records.crc32c(batch[CRC_START:]) != crc
    ):
        return -1
    if producer_id < 0:
        base_offset = log.append_copy(batch, partition.leader_epoch, last_delta, latest)
    else:
        producers, last_sequence = partition.producers, sequence + last_delta
        if last_sequence > MAX_SEQUENCE or not producers.continues_at(producer_id, epoch, sequence, now_ms):
            return -1
        base_offset = log.append_copy(batch, partition.leader_epoch, last_delta, latest)
        producers.record(producer_id, epoch, sequence, last_sequence, base_offset, base_offset + last_delta, latest, now_ms)
    context.cluster.wake(partition)
    return base_offset
