"""Records that differ only in their values, such as lines of text, as blocks of bytes without an object for each record.

A record is its length, attributes, timestamp delta, offset delta, key, value and headers. Of these, only the offset delta and what depends
on the value differ here. So the other bytes are made once for each length of a value, and all pieces are joined by one call.
"""

from __future__ import annotations

from collections.abc import Sequence

from .record_builder import put_bytes, put_headers, put_varint
from .records import DECOMPRESSED_LIMIT, Buffer, RecordBatch, read_records

_MAX_DELTA_BYTES = 6
"""The bytes of both deltas in records that `decode_values` decides. Neither is too long then: 10 bytes are allowed, and 5 for an offset."""
_ATTRIBUTES_AND_TIMESTAMP = 2
_NULL = 1
"""The varint of the length of a key that is null."""
_offset_deltas: list[bytes] = []
"""The varints of the offset deltas that have been needed so far."""


def encode_values(values: Sequence[bytes], key: bytes | None, headers: Sequence[tuple[str, bytes | None]]) -> bytes:
    """Returns the uncompressed records with these values, which have the base timestamp and the offsets that follow the base offset."""
    before, after = bytearray(), bytearray()
    put_bytes(before, key)
    put_headers(after, headers)
    sizes = list(map(len, values))
    value_heads = {size: bytes(before) + _varint(size) for size in set(sizes)}
    deltas = _deltas(len(values))[: len(values)]
    pieces: list[bytes] = []
    first, width = 0, 1
    while first < len(values):
        part = slice(first, 1 << 7 * width - 1)  # the records whose offset deltas have varints of this width
        rest = _ATTRIBUTES_AND_TIMESTAMP + width + len(after)
        heads = {size: bytes(after) + _varint(rest + len(value_heads[size]) + size) + bytes(2) for size in set(sizes[part])}
        found = [b""] * (4 * len(values[part]))
        found[0::4] = [heads[size] for size in sizes[part]]
        found[1::4] = deltas[part]
        found[2::4] = [value_heads[size] for size in sizes[part]]
        found[3::4] = values[part]
        pieces += found
        first, width = part.stop, width + 1
    return b"".join([*pieces, after])[len(after) :]


def _deltas(count: int) -> list[bytes]:
    """Returns the varints of at least the first `count` offset deltas."""
    _offset_deltas.extend(_varint(number) for number in range(len(_offset_deltas), count))
    return _offset_deltas


def _varint(number: int) -> bytes:
    out = bytearray()
    put_varint(out, number)
    return bytes(out)


def values_of(batch: RecordBatch, limit: int = DECOMPRESSED_LIMIT) -> list[bytes] | list[bytes | None]:
    """Returns the values of all records, decompressed into at most `limit` bytes. Raises InvalidRecords, UnsupportedCompression."""
    payload = batch.payload(limit)
    return decode_values(payload, batch.header.records_count) or [record.value for record in read_records(payload, batch.header)]


def decode_values(data: Buffer, count: int) -> list[bytes] | None:
    """Returns the values of `count` uncompressed records that have neither keys nor headers.

    Returns None for other records, for records of 8 KiB and more, and for bytes that are not `count` whole records, because
    `read_records` tells what is wrong with them.
    """
    values: list[bytes] = []
    position = 0
    try:
        for _ in range(count):
            size, at = data[position], position + 1
            if size > 127:
                more, at = data[at], at + 1
                if more > 127:
                    return None
                size += (more << 7) - 128
            position = at + (size >> 1)
            deltas = at = at + 1  # the byte before them holds attributes, which have no meaning yet
            while data[at] > 127:
                at += 1
            at += 1
            while data[at] > 127:
                at += 1
            if size & 1 or at - deltas >= _MAX_DELTA_BYTES or data[at + 1] != _NULL:
                return None
            size, at = data[at + 2], at + 3
            if size > 127:
                more, at = data[at], at + 1
                if more > 127:
                    return None
                size += (more << 7) - 128
            end = at + (size >> 1)
            if size & 1 or end + 1 != position or data[end]:
                return None
            values.append(bytes(data[at:end]))
    except IndexError:
        return None
    return values if position == len(data) else None
