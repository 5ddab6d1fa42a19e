"""Decodes record batches to Arrow column by column, so that no Python code runs per record.

The columns are those of Spark's Kafka source: key, value, topic, partition, offset, timestamp, timestampType and headers.

`record_starts` finds where each record begins. From there, every step reads one field of all records at once with numpy: the varint at
the current position of each record, which yields a column of values and the positions of the next field. Keys, values and headers become
Arrow arrays without a copy per record: an Arrow binary array is a buffer of bytes and a list of offsets into it, so `_binary` builds an
array whose elements are, in turn, a key and the gap to the next key, and removes the gaps with Arrow's `filter`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..protocol.batches.records import TIMESTAMP_TYPE_BIT, InvalidRecords
from ..protocol.messages.fetch import AbortedTransaction
from .batches import Batches, DecompressedBatches, decompress_all, visible
from .record_boundaries import record_starts
from .varint_columns import Bytes, Longs, read_varints

ROWS, BYTES = 16384, 4 << 20
"""Upper limits of one `pyarrow.RecordBatch` in rows and, roughly, in bytes; with these sizes Spark is fastest."""
MICROSECONDS = 1000
"""In a millisecond."""
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


class DecodedSlices(NamedTuple):
    """Byte strings in a buffer, in ascending order of position; a string is null when its encoded length is negative."""

    starts: Longs
    ends: Longs
    valid: NDArray[np.bool_]


class Decoder:
    """Decodes the batches of one partition to rows of `schema`, whose names are among COLUMN_TYPES."""

    def __init__(self, schema: Any, topic: str, partition: int) -> None:
        self._schema, self._topic, self._partition = schema, topic, partition
        self._names: list[str] = schema.names

    def decode(self, batches: Batches, start: int, end: int, aborted: Sequence[AbortedTransaction] = ()) -> Iterator[Any]:
        """Yields `pyarrow.RecordBatch`es of the records with `start` <= offset < `end`. Raises InvalidRecords.

        Fields of columns that are not in the schema are neither read nor checked.
        """
        for decompressed in decompress_all(visible(batches, start, end, aborted)):
            if len(decompressed.batches.positions):
                yield from _slice(self._rows(decompressed, start, end), len(decompressed.data))

    def _rows(self, decompressed: DecompressedBatches, start: int, end: int) -> Any:
        records = _RecordFields(decompressed)
        columns: dict[str, Callable[[], Any]] = {
            "key": lambda: _binary(decompressed.data, records.key),
            "value": lambda: _binary(decompressed.data, records.value),
            "topic": lambda: _constant("topic", self._topic, records.count),
            "partition": lambda: _constant("partition", self._partition, records.count),
            "offset": lambda: pa.array(records.offsets),
            "timestamp": lambda: _timestamps(records),
            "timestampType": lambda: pa.array(
                (records.of_batch(decompressed.batches.attributes & TIMESTAMP_TYPE_BIT) != 0).astype(np.int32)
            ),
            "headers": lambda: _headers(decompressed.data, records),
        }
        if not {"key", "value", "headers"}.isdisjoint(self._names):
            records.read_contents()
        rows = pa.RecordBatch.from_arrays([columns[name]() for name in self._names], schema=self._schema)
        first, stop = np.searchsorted(records.offsets, [start, end]).tolist()
        return rows.slice(first, stop - first)


def _slice(rows: Any, size: int) -> Iterator[Any]:
    step = max(1, min(ROWS, BYTES * rows.num_rows // max(size, 1)))
    for first in range(0, rows.num_rows, step):
        yield rows.slice(first, step)


class _RecordFields:
    """The fields of all records of some batches: numbers as columns, and the positions of keys, values and headers."""

    key: DecodedSlices
    value: DecodedSlices
    header_counts: Longs
    header_starts: Longs

    def __init__(self, decompressed: DecompressedBatches) -> None:
        batches = decompressed.batches
        self._data, self._counts = decompressed.data, batches.counts
        starts = record_starts(decompressed.data, decompressed.starts, decompressed.ends, batches.counts)
        self.count = len(starts)
        self.ends = np.empty(self.count, np.int64)
        self.ends[:-1] = starts[1:]
        self.ends[np.cumsum(batches.counts) - 1] = decompressed.ends
        deltas, position = read_varints(decompressed.data, starts + _prefix_widths(self.ends - starts) + 1, bits=64)
        self.timestamps = self.of_batch(batches.base_timestamps) + deltas
        if (log_append := batches.attributes & TIMESTAMP_TYPE_BIT != 0).any():
            self.timestamps = np.where(self.of_batch(log_append), self.of_batch(batches.max_timestamps), self.timestamps)
        deltas, self._contents = read_varints(decompressed.data, position)
        self.offsets = self.of_batch(batches.base_offsets) + deltas
        if (self._contents >= self.ends).any():
            raise InvalidRecords("a record is too short")

    def of_batch(self, column: NDArray[Any]) -> NDArray[Any]:
        """Repeats the value of each batch for all of its records."""
        return np.repeat(column, self._counts)

    def read_contents(self) -> None:
        """Finds keys, values and headers. Raises InvalidRecords for a record without headers that does not end where its length says."""
        self.key = self._slices(self._contents)
        self.value = self._slices(self.key.ends)
        self.header_counts, self.header_starts = read_varints(self._data, self.value.ends)
        if ((self.header_starts != self.ends) & (self.header_counts == 0) | (self.header_starts > self.ends)).any():
            raise InvalidRecords("a record does not end where its length says")

    def _slices(self, position: Longs) -> DecodedSlices:
        lengths, starts = read_varints(self._data, position)
        return DecodedSlices(starts, starts + np.maximum(lengths, 0), lengths >= 0)


def _prefix_widths(sizes: Longs) -> Longs:
    """Returns the widths of the length prefixes of records of these sizes, which include the prefix, without reading the records."""
    widths = np.ones(len(sizes), np.int64)
    for width in range(1, 5):
        if (longest := (1 << 7 * width - 1) - 1 + width) < sizes.max():
            widths += sizes > longest
    return widths


def _timestamps(records: _RecordFields) -> Any:
    """Returns the timestamps in microseconds. Raises InvalidRecords when one does not fit (Spark's KAFKA_MALFORMED_RECORD_TIMESTAMP)."""
    if records.timestamps.max() > LATEST_TIMESTAMP or records.timestamps.min() < -LATEST_TIMESTAMP:
        raise InvalidRecords("a record's timestamp in milliseconds does not fit into microseconds")
    return pa.array(records.timestamps * MICROSECONDS).view(COLUMN_TYPES["timestamp"])


def _binary(data: Bytes, slices: DecodedSlices, kind: Any = COLUMN_TYPES["value"]) -> Any:
    """Returns an Arrow array of the slices: builds one over all of `data` with every gap as an element, and filters the gaps out."""
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


def _headers(data: Bytes, records: _RecordFields) -> Any:
    """Returns an array with a list of headers for each record, null for a record without headers. Raises InvalidRecords."""
    counts = records.header_counts
    if (counts < 0).any() or (counts > records.ends - records.header_starts).any():
        raise InvalidRecords("a count of headers that does not fit into its record")
    keys, values = _find_headers(data, records)
    headers = pa.StructArray.from_arrays([_strings(data, keys), _binary(data, values)], fields=list(HEADER_TYPE))
    bounds = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
    buffers = [_bitmap(counts > 0), pa.py_buffer(bounds)]
    return pa.Array.from_buffers(COLUMN_TYPES["headers"], records.count, buffers, children=[headers])


def _find_headers(data: Bytes, records: _RecordFields) -> tuple[DecodedSlices, DecodedSlices]:
    """Returns (keys, values) of all headers; step n reads the n-th header of all records that have one. Raises InvalidRecords."""
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
    return DecodedSlices(key_starts, key_ends, np.ones(total, bool)), DecodedSlices(value_starts, value_ends, valid)


def _strings(data: Bytes, slices: DecodedSlices) -> Any:
    """Returns an array of strings. Bytes that are not UTF-8 are replaced as Java does, because Spark requires valid strings."""
    strings = _binary(data, slices, pa.string())
    try:
        strings.validate(full=True)
    except pa.ArrowInvalid:
        return pa.array([name.decode("utf-8", "replace") for name in strings.cast(pa.binary()).to_pylist()], pa.string())
    return strings
