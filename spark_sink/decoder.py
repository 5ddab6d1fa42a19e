"""Record batches -> Arrow, column by column: no Python runs per record.

The rows are those of Spark's Kafka sources: key, value, topic, partition, offset, timestamp, timestampType and headers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..protocol.messages.fetch import AbortedTransaction
from ..protocol.records import TIMESTAMP_TYPE_BIT, InvalidRecords
from .batches import Batches, Payload, payloads, visible
from .record_boundaries import record_starts
from .varint_columns import Bytes, Longs, read_varints

ROWS, BYTES = 16384, 4 << 20
"""What one RecordBatch holds at most, in rows and roughly in bytes: Spark is fastest so."""
MICROSECONDS = 1000
LATEST_TIMESTAMP = (1 << 63) // MICROSECONDS - 1

HEADER_TYPE = pa.struct([("key", pa.string()), ("value", pa.binary())])
COLUMN_TYPES: dict[str, Any] = {
    "key": pa.binary(),
    "value": pa.binary(),
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestampType": pa.int32(),
    "headers": pa.list_(pa.field("element", HEADER_TYPE)),
}
"""The columns by name; all are nullable."""


class Slices(NamedTuple):
    """Byte strings in a buffer, in rising order; null where the length on the wire was negative."""

    starts: Longs
    ends: Longs
    valid: NDArray[np.bool_]


class Decoder:
    """Decodes what was fetched from one partition into rows of `schema`, whose names are among COLUMN_TYPES."""

    def __init__(self, schema: Any, topic: str, partition: int) -> None:
        self._schema, self._topic, self._partition = schema, topic, partition
        self._names: list[str] = schema.names

    def decode(self, batches: Batches, start: int, end: int, aborted: Sequence[AbortedTransaction] = ()) -> Iterator[Any]:
        """`pyarrow.RecordBatch`es of the records with `start` <= offset < `end`. Raises InvalidRecords.

        The columns that nobody wants are not read, and so not checked.
        """
        for payload in payloads(visible(batches, start, end, aborted)):
            if len(payload.batches.positions):
                yield from _sliced(self._rows(payload, start, end), len(payload.data))

    def _rows(self, payload: Payload, start: int, end: int) -> Any:
        records = _Records(payload)
        columns: dict[str, Callable[[], Any]] = {
            "key": lambda: _binary(payload.data, records.key),
            "value": lambda: _binary(payload.data, records.value),
            "topic": lambda: _constant("topic", self._topic, records.count),
            "partition": lambda: _constant("partition", self._partition, records.count),
            "offset": lambda: pa.array(records.offsets),
            "timestamp": lambda: _timestamps(records),
            "timestampType": lambda: pa.array((records.of_batch(payload.batches.attributes & TIMESTAMP_TYPE_BIT) != 0).astype(np.int32)),
            "headers": lambda: _headers(payload.data, records),
        }
        if not {"key", "value", "headers"}.isdisjoint(self._names):
            records.read_contents()
        rows = pa.RecordBatch.from_arrays([columns[name]() for name in self._names], schema=self._schema)
        first, stop = np.searchsorted(records.offsets, [start, end]).tolist()
        return rows.slice(first, stop - first)


def _sliced(rows: Any, size: int) -> Iterator[Any]:
    step = max(1, min(ROWS, BYTES * rows.num_rows // max(size, 1)))
    for first in range(0, rows.num_rows, step):
        yield rows.slice(first, step)


class _Records:
    """Where the fields of all records of a payload are; each is one column."""

    key: Slices
    value: Slices
    header_counts: Longs
    header_starts: Longs

    def __init__(self, payload: Payload) -> None:
        batches = payload.batches
        self._data, self._counts = payload.data, batches.counts
        starts = record_starts(payload.data, payload.starts, payload.ends, batches.counts)
        self.count = len(starts)
        self.ends = np.empty(self.count, np.int64)
        self.ends[:-1] = starts[1:]
        self.ends[np.cumsum(batches.counts) - 1] = payload.ends
        deltas, position = read_varints(payload.data, starts + _prefix_widths(self.ends - starts) + 1, bits=64)
        self.timestamps = self.of_batch(batches.base_timestamps) + deltas
        if (log_append := batches.attributes & TIMESTAMP_TYPE_BIT != 0).any():
            self.timestamps = np.where(self.of_batch(log_append), self.of_batch(batches.max_timestamps), self.timestamps)
        deltas, self._contents = read_varints(payload.data, position)
        self.offsets = self.of_batch(batches.base_offsets) + deltas
        if (self._contents >= self.ends).any():
            raise InvalidRecords("a record is too short")

    def of_batch(self, column: NDArray[Any]) -> NDArray[Any]:
        """A column of the batches as one of their records."""
        return np.repeat(column, self._counts)

    def read_contents(self) -> None:
        """Finds key, value and headers. Raises InvalidRecords for a record without headers that does not end where it should."""
        self.key = self._slices(self._contents)
        self.value = self._slices(self.key.ends)
        self.header_counts, self.header_starts = read_varints(self._data, self.value.ends)
        if ((self.header_starts != self.ends) & (self.header_counts == 0) | (self.header_starts > self.ends)).any():
            raise InvalidRecords("a record does not end where its length says")

    def _slices(self, position: Longs) -> Slices:
        lengths, starts = read_varints(self._data, position)
        return Slices(starts, starts + np.maximum(lengths, 0), lengths >= 0)


def _prefix_widths(sizes: Longs) -> Longs:
    """The widths of the length prefixes of records of these sizes, which tell them without a look at the bytes."""
    widths = np.ones(len(sizes), np.int64)
    for width in range(1, 5):
        if (longest := (1 << 7 * width - 1) - 1 + width) < sizes.max():
            widths += sizes > longest
    return widths


def _timestamps(records: _Records) -> Any:
    """Microseconds, as Spark has them. Raises InvalidRecords where a time does not fit (KAFKA_MALFORMED_RECORD_TIMESTAMP)."""
    if records.timestamps.max() > LATEST_TIMESTAMP or records.timestamps.min() < -LATEST_TIMESTAMP:
        raise InvalidRecords("a record's timestamp in milliseconds does not fit into microseconds")
    return pa.array(records.timestamps * MICROSECONDS).view(COLUMN_TYPES["timestamp"])


def _binary(data: Bytes, slices: Slices, kind: Any = COLUMN_TYPES["value"]) -> Any:
    """The slices as an Arrow array of their own: one laid over all of `data` has every gap as an element too, and loses them again."""
    count = len(slices.starts)
    nulls = count - int(np.count_nonzero(slices.valid))
    if nulls == count:
        return pa.nulls(count, kind)
    offsets = np.empty(2 * count, np.int32)
    offsets[::2], offsets[1::2] = slices.starts, slices.ends
    with_gaps = pa.Array.from_buffers(kind, 2 * count - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)], null_count=0)
    array = with_gaps.filter(_every_other(count))
    if not nulls:
        return array
    return pa.Array.from_buffers(kind, count, [_bitmap(slices.valid), *array.buffers()[1:]], null_count=nulls, offset=array.offset)


def _constant(name: str, value: object, count: int) -> Any:
    return _longer_constant(name, value, 1 << count.bit_length()).slice(0, count)


@lru_cache(maxsize=8)
def _longer_constant(name: str, value: object, count: int) -> Any:
    return pa.repeat(pa.scalar(value, COLUMN_TYPES[name]), count)


@lru_cache(maxsize=8)
def _every_other(count: int) -> Any:
    mask = np.zeros(2 * count - 1, bool)
    mask[::2] = True
    return pa.array(mask)


def _bitmap(valid: NDArray[np.bool_]) -> Any:
    return pa.py_buffer(np.packbits(valid, bitorder="little"))


def _headers(data: Bytes, records: _Records) -> Any:
    """A list for each record, null where it has no header. Raises InvalidRecords."""
    counts = records.header_counts
    if (counts < 0).any() or (counts > records.ends - records.header_starts).any():
        raise InvalidRecords("a count of headers that does not fit into its record")
    keys, values = _find_headers(data, records)
    headers = pa.StructArray.from_arrays([_strings(data, keys), _binary(data, values)], fields=list(HEADER_TYPE))
    bounds = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
    buffers = [_bitmap(counts > 0), pa.py_buffer(bounds)]
    return pa.Array.from_buffers(COLUMN_TYPES["headers"], records.count, buffers, children=[headers])


def _find_headers(data: Bytes, records: _Records) -> tuple[Slices, Slices]:
    """(keys, values) of all headers of all records: the first of each record, then the second of those that have one, and so on."""
    counts, total = records.header_counts, int(records.header_counts.sum())
    key_starts, key_ends, value_starts, value_ends = np.empty((4, total), np.int64)
    valid = np.empty(total, bool)
    slots = np.cumsum(counts) - counts
    position = records.header_starts.copy()
    for number in range(int(counts.max())):
        active = np.flatnonzero(counts > number)
        slot = slots[active] + number
        lengths, key_starts[slot] = read_varints(data, position[active])
        if (lengths < 0).any():
            raise InvalidRecords("a header without a name")
        key_ends[slot] = key_starts[slot] + lengths
        lengths, value_starts[slot] = read_varints(data, key_ends[slot])
        value_ends[slot] = position[active] = value_starts[slot] + np.maximum(lengths, 0)
        valid[slot] = lengths >= 0
    if (position != records.ends).any():
        raise InvalidRecords("a record does not end where its length says")
    return Slices(key_starts, key_ends, np.ones(total, bool)), Slices(value_starts, value_ends, valid)


def _strings(data: Bytes, slices: Slices) -> Any:
    """UTF-8; what is not is replaced as Java does, so that what Spark gets is a string."""
    strings = _binary(data, slices, pa.string())
    try:
        strings.validate(full=True)
    except pa.ArrowInvalid:
        return pa.array([name.decode("utf-8", "replace") for name in strings.cast(pa.binary()).to_pylist()], pa.string())
    return strings
