"""Converts fetched record batches to message sets for clients that cannot read batches (Kafka's LazyDownConversionRecords).

A broker announces the size of the converted records before it converts them: it is the size of the batches, or that of the first
converted batch if that is larger. Converted records are cut there, as those of any fetch may be. If they are shorter, the rest is filled
by the beginning of a batch that claims to be longer than the response, which clients ignore as incomplete.

Control batches are left out, and records lose their headers. Records of uncompressed batches that precede the requested offset are left
out as well, because their messages stand alone in a message set. A batch in zstd ends the conversion, because no older client reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from struct import Struct

from ..errors import ErrorCode, KafkaError
from .compression import Compression
from .message_sets import build_message_set
from .records import HEADER, LOG_APPEND_TIME, RecordBatch, batches

_OVERFLOW = Struct(">qi")
_READ_BYTES = 128 * 1024
"""The most bytes of the batches that are converted at a time."""


def down_convert(records: Sequence[memoryview], magic: int, first_offset: int) -> bytes:
    """Returns batches as a message set of format `magic`, as a fetch from `first_offset` on returns it.

    Raises KafkaError with UNSUPPORTED_COMPRESSION_TYPE if the first batch to convert is compressed with zstd.
    """
    size, out = sum(map(len, records)), bytearray()
    for batch in (batch for part in records for batch in batches(part)):
        try:
            converted = _convert(batch, magic, first_offset)
        except _Zstd:
            if out:
                break
            raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE) from None
        if converted and not out:
            size = max(size, len(converted))
        out += converted
        if len(out) >= size:
            break
    if not out:
        return _OVERFLOW.pack(-1, HEADER.size)
    while len(out) < size:
        out += _overflow(size - len(out))
    return bytes(out[:size])


def as_stored(records: Iterable[memoryview], magic: int, first_offset: int) -> bytes:
    """Returns batches as the log of a topic with an older message format contains them.

    Batches that such a topic does not accept stay as they are, because they were appended before it had this format: those of producers
    with ids, control batches, and batches in zstd.
    """
    return b"".join(
        bytes(batch.view) if _needs_batches(batch) else _message_set(batch, magic, first_offset)
        for part in records
        for batch in batches(part)
    )


def _needs_batches(batch: RecordBatch) -> bool:
    header = batch.header
    return header.producer_id >= 0 or header.is_control or header.compression is Compression.ZSTD


class _Zstd(Exception):
    pass


def _convert(batch: RecordBatch, magic: int, first_offset: int) -> bytes:
    if batch.header.is_control:
        return b""
    if batch.header.compression is Compression.ZSTD:
        raise _Zstd
    return _message_set(batch, magic, first_offset)


def _message_set(batch: RecordBatch, magic: int, first_offset: int) -> bytes:
    header = batch.header
    records = [record for record in batch.records() if header.compression or record.offset >= first_offset]
    append_time_ms = header.max_timestamp if header.timestamp_type == LOG_APPEND_TIME else None
    return build_message_set(records, magic, header.compression, append_time_ms) if records else b""


def _overflow(size: int) -> bytes:
    """Returns the first `size` bytes, at most _READ_BYTES, of a batch that is longer than what is left of the response."""
    whole = max(_OVERFLOW.size, min(size + 1, _READ_BYTES))
    return _OVERFLOW.pack(-1, max(size + 1, HEADER.size)).ljust(whole, b"\0")[:size]
