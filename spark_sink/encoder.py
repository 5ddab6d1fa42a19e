"""Encodes Arrow columns as the records of record batches, column by column, so that no Python code runs per record.

A record is a sequence of a few binary elements: the fields before the key, the key, the length of the value, the value, the number of
headers, the headers. Each kind of element is one Arrow binary array with an element for each record; arrays of fields are built from
columns of varints (`varint_columns`). Arrow's `take` over the concatenated arrays, with the indices of all elements of the first record,
then those of the second and so on, writes all records into one buffer. The indices also put the records in the requested order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from .varint_columns import Longs, put_varints, varint_widths

BINARY = pa.binary()
OFFSET_DELTA_WIDTH = 3
"""Bytes of the widest offset delta, up to 1,048,575: a batch of ordinary size has fewer records."""
ATTRIBUTES_AND_TIMESTAMP_DELTA = bytes(2)
"""No attributes, and the timestamp of the batch."""


class RecordColumns(NamedTuple):
    """Arrow columns of one length. A missing key, value, header value or list of headers is null."""

    key: Any
    value: Any
    headers: Any

    def __len__(self) -> int:
        return len(self.value)


class RecordEncoder:
    """Encodes records. The sizes of their parts, which do not depend on the order, are computed once."""

    def __init__(self, records: RecordColumns) -> None:
        """The columns are `binary`, `binary` and a list of structs of `binary`, or None. Raises ValueError for a header without a key."""
        self.key = pa.nulls(len(records), BINARY) if records.key is None else records.key
        self.value = records.value
        self.key_lengths, self.value_lengths = lengths(self.key), lengths(self.value)
        self.header_counts, self.headers = _headers(records.headers, len(records))
        contents = np.maximum(self.key_lengths, 0) + np.maximum(self.value_lengths, 0) + lengths(self.headers)
        widths = varint_widths(self.key_lengths) + varint_widths(self.value_lengths) + varint_widths(self.header_counts)
        self.sizes = contents + widths + len(ATTRIBUTES_AND_TIMESTAMP_DELTA)
        """Bytes of each record without its length prefix and offset delta."""

    @property
    def largest_sizes(self) -> Longs:
        """The size of each encoded record, assuming the widest offset delta."""
        sizes = self.sizes + OFFSET_DELTA_WIDTH
        return sizes + varint_widths(sizes)

    def encode(self, order: Longs, offset_deltas: Longs) -> tuple[memoryview, Longs]:
        """Returns (the records in this order, the position of each, and the end of the last). Their timestamps are the batch's."""
        sizes = self.sizes[order] + varint_widths(offset_deltas)
        key_lengths, value_lengths = self.key_lengths[order], self.value_lengths[order]
        if self.key.null_count == len(self.key):
            parts: list[tuple[Any, Longs | None]] = [
                (_field_elements(sizes, ATTRIBUTES_AND_TIMESTAMP_DELTA, offset_deltas, key_lengths, value_lengths), None)
            ]
        else:
            before_key = _field_elements(sizes, ATTRIBUTES_AND_TIMESTAMP_DELTA, offset_deltas, key_lengths)
            parts = [(before_key, None), (self.key, order), (_field_elements(value_lengths), None)]
        parts += [(self.value, order), (_field_elements(self.header_counts[order]), None)]
        if len(self.headers.buffers()[2] or b""):
            parts.append((self.headers, order))
        ends = np.cumsum(sizes + varint_widths(sizes))
        return _interleave(parts)[: ends[-1]], np.concatenate(([0], ends))


def lengths(array: Any) -> Longs:
    """Returns the lengths of the elements of a binary array, -1 for null."""
    offsets = np.frombuffer(array.buffers()[1], np.int32, len(array) + 1, 4 * array.offset)
    found = np.diff(offsets).astype(np.int64)
    if array.null_count:
        found[array.is_null().to_numpy(zero_copy_only=False)] = -1
    return found


def _headers(column: Any, count: int) -> tuple[Longs, Any]:
    """Returns (the number of headers of each record, their encoded bytes as one element per record).

    A header is encoded as the length of its key, the key, the length of its value and the value. Raises ValueError for a null key.
    """
    if column is None or column.null_count == count:
        return np.zeros(count, np.int64), _binary_array(b"", np.zeros(count + 1, np.int64))
    headers = column.flatten()
    keys, values = headers.flatten()
    if keys.null_count:
        raise ValueError("the key of a header is null")
    counts = column.value_lengths().fill_null(0).to_numpy().astype(np.int64)
    bounds = np.concatenate(([0], np.cumsum(counts)))
    if not len(headers):
        return counts, _binary_array(b"", bounds)
    key_lengths, value_lengths, in_order = lengths(keys), lengths(values), np.arange(len(headers))
    parts = [(_field_elements(key_lengths), None), (keys, in_order), (_field_elements(value_lengths), None), (values, in_order)]
    sizes = varint_widths(key_lengths) + key_lengths + varint_widths(value_lengths) + np.maximum(value_lengths, 0)
    return counts, _binary_array(_interleave(parts), np.concatenate(([0], np.cumsum(sizes)))[bounds])


def _binary_array(data: Any, bounds: Longs) -> Any:
    return pa.Array.from_buffers(BINARY, len(bounds) - 1, [None, pa.py_buffer(bounds.astype(np.int32)), pa.py_buffer(data)], null_count=0)


def _field_elements(*columns: Longs | bytes) -> Any:
    """Returns one binary element for each row: the varints of the row's values in `columns`, and bytes that are equal in all rows."""
    count = max(len(column) for column in columns if not isinstance(column, bytes))
    all_bytes: list[Any] = []
    kept: list[Any] = []
    for column in columns:
        if isinstance(column, bytes):
            all_bytes += column
            kept += [True] * len(column)
        else:
            varint_bytes, has = put_varints(column)
            all_bytes += varint_bytes
            kept += [True, *has]
    matrix = np.empty((count, len(all_bytes)), np.uint8)
    for number, column in enumerate(all_bytes):
        matrix[:, number] = column
    if (mask := _mask(kept, count)) is None:
        return _binary_array(matrix, np.arange(count + 1) * len(all_bytes))
    return _binary_array(matrix[mask], np.concatenate(([0], np.cumsum(np.count_nonzero(mask, axis=1)))))


def _mask(kept: Sequence[Any], count: int) -> Any:
    """Returns which bytes of each row are used, None when all are."""
    if all(column is True or column.all() for column in kept):
        return None
    mask = np.empty((count, len(kept)), bool)
    for number, column in enumerate(kept):
        mask[:, number] = column
    return mask


def _interleave(columns: Sequence[tuple[Any, Longs | None]]) -> memoryview:
    """Returns the bytes of the first elements of all columns, then those of the second elements, and so on.

    A column comes with the order in which its elements are taken, None for the order that they have.
    """
    count, base = len(columns[0][0]), 0
    indices = np.empty((count, len(columns)), np.int64)
    for number, (column, order) in enumerate(columns):
        indices[:, number] = (np.arange(count) if order is None else order) + base
        base += len(column)
    elements = pa.concat_arrays([column for column, _ in columns]).take(pa.array(indices.ravel()))
    return memoryview(elements.buffers()[2])
