"""Arrow -> the records of record batches, column by column: no Python runs per record.

A record is a few binary elements: what stands before the key, the key, the length of the value, the value, the headers. Arrow's `take` lays
the elements of all records one after the other, in whatever order the records shall have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from .varint_columns import Longs, put_varints, varint_widths

BINARY = pa.binary()
OFFSET_DELTA_WIDTH = 3
"""Of a varint up to 1,048,575, which is more records than a batch of an ordinary size can have."""


NO_ATTRIBUTES = bytes(2)
"""Of a record: attributes, and a timestamp that is the batch's."""


class Records(NamedTuple):
    """Columns of one length; a missing key, value or header value is null, and so is a missing list of headers."""

    key: Any
    value: Any
    headers: Any

    def __len__(self) -> int:
        return len(self.value)


class Columns:
    """Records with all that does not depend on their order: the sizes of their parts."""

    def __init__(self, records: Records) -> None:
        """The columns are `binary`, `binary` and a list of structs of `binary`, or None. Raises ValueError for a header without a key."""
        self.key = pa.nulls(len(records), BINARY) if records.key is None else records.key
        self.value = records.value
        self.key_lengths, self.value_lengths = lengths(self.key), lengths(self.value)
        self.header_counts, self.headers = _headers(records.headers, len(records))
        contents = np.maximum(self.key_lengths, 0) + np.maximum(self.value_lengths, 0) + lengths(self.headers)
        widths = varint_widths(self.key_lengths) + varint_widths(self.value_lengths) + varint_widths(self.header_counts)
        self.sizes = contents + widths + len(NO_ATTRIBUTES)
        """Of the records without their lengths and offset deltas."""

    @property
    def largest_sizes(self) -> Longs:
        """The sizes of whole records with the widest offset delta."""
        sizes = self.sizes + OFFSET_DELTA_WIDTH
        return sizes + varint_widths(sizes)

    def encode(self, order: Longs, offset_deltas: Longs) -> tuple[memoryview, Longs]:
        """The records in this order, and where each begins and the last ends. Their timestamps are the batch's own."""
        sizes = self.sizes[order] + varint_widths(offset_deltas)
        key_lengths, value_lengths = self.key_lengths[order], self.value_lengths[order]
        if self.key.null_count == len(self.key):
            parts: list[tuple[Any, Longs | None]] = [(_bytes_of(sizes, NO_ATTRIBUTES, offset_deltas, key_lengths, value_lengths), None)]
        else:
            before_key = _bytes_of(sizes, NO_ATTRIBUTES, offset_deltas, key_lengths)
            parts = [(before_key, None), (self.key, order), (_bytes_of(value_lengths), None)]
        parts += [(self.value, order), (_bytes_of(self.header_counts[order]), None)]
        if len(self.headers.buffers()[2] or b""):
            parts.append((self.headers, order))
        ends = np.cumsum(sizes + varint_widths(sizes))
        return _interleaved(parts)[: ends[-1]], np.concatenate(([0], ends))


def lengths(array: Any) -> Longs:
    """Of the elements of a binary array, -1 for null."""
    offsets = np.frombuffer(array.buffers()[1], np.int32, len(array) + 1, 4 * array.offset)
    found = np.diff(offsets).astype(np.int64)
    if array.null_count:
        found[array.is_null().to_numpy(zero_copy_only=False)] = -1
    return found


def _headers(column: Any, count: int) -> tuple[Longs, Any]:
    """(how many headers each record has, the bytes of them). A header is a key and a value, each after its length."""
    if column is None or column.null_count == count:
        return np.zeros(count, np.int64), _slices_of(b"", np.zeros(count + 1, np.int64))
    headers = column.flatten()
    keys, values = headers.flatten()
    if keys.null_count:
        raise ValueError("the key of a header is null")
    counts = column.value_lengths().fill_null(0).to_numpy().astype(np.int64)
    bounds = np.concatenate(([0], np.cumsum(counts)))
    if not len(headers):
        return counts, _slices_of(b"", bounds)
    key_lengths, value_lengths, everyone = lengths(keys), lengths(values), np.arange(len(headers))
    parts = [(_bytes_of(key_lengths), None), (keys, everyone), (_bytes_of(value_lengths), None), (values, everyone)]
    sizes = varint_widths(key_lengths) + key_lengths + varint_widths(value_lengths) + np.maximum(value_lengths, 0)
    return counts, _slices_of(_interleaved(parts), np.concatenate(([0], np.cumsum(sizes)))[bounds])


def _slices_of(data: Any, bounds: Longs) -> Any:
    return pa.Array.from_buffers(BINARY, len(bounds) - 1, [None, pa.py_buffer(bounds.astype(np.int32)), pa.py_buffer(data)], null_count=0)


def _bytes_of(*columns: Longs | bytes) -> Any:
    """One binary element for each row: the varints of the row's values, and bytes that all rows have."""
    count = max(len(column) for column in columns if not isinstance(column, bytes))
    every: list[Any] = []
    kept: list[Any] = []
    for column in columns:
        if isinstance(column, bytes):
            every += column
            kept += [True] * len(column)
        else:
            their_bytes, has = put_varints(column)
            every += their_bytes
            kept += [True, *has]
    matrix = np.empty((count, len(every)), np.uint8)
    for number, column in enumerate(every):
        matrix[:, number] = column
    if (mask := _mask(kept, count)) is None:
        return _slices_of(matrix, np.arange(count + 1) * len(every))
    return _slices_of(matrix[mask], np.concatenate(([0], np.cumsum(np.count_nonzero(mask, axis=1)))))


def _mask(kept: Sequence[Any], count: int) -> Any:
    """None where all is kept."""
    if all(column is True or column.all() for column in kept):
        return None
    mask = np.empty((count, len(kept)), bool)
    for number, column in enumerate(kept):
        mask[:, number] = column
    return mask


def _interleaved(columns: Sequence[tuple[Any, Longs | None]]) -> memoryview:
    """The bytes of the first elements of all columns, then those of the second ones; elements are in the order given, or in theirs."""
    count, base = len(columns[0][0]), 0
    indices = np.empty((count, len(columns)), np.int64)
    for number, (column, order) in enumerate(columns):
        indices[:, number] = (np.arange(count) if order is None else order) + base
        base += len(column)
    elements = pa.concat_arrays([column for column, _ in columns]).take(pa.array(indices.ravel()))
    return memoryview(elements.buffers()[2])
