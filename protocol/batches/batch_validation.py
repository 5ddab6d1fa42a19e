"""The checks of a batch's bytes and header that a broker makes before it appends the batch. `checks/` checks its records.

The checks are those of ProduceRequest.validateRecords, UnifiedLog.analyzeAndValidateRecords and LogValidator.validateBatch, in
this order, because a batch with several faults is answered with the error of the first check that fails.
"""

from __future__ import annotations

from struct import Struct

from ..errors import ErrorCode
from . import records
from .compression import Compression
from .records import (
    COMPRESSION_MASK,
    CRC_START,
    HEADER,
    MAGIC_POSITION,
    PREFIX_SIZE,
    BatchError,
    BatchHeader,
    CorruptBatch,
    first_batch_size,
    read_header,
)

_PRODUCER_EPOCH_POSITION = 51
_unpack_header = HEADER.unpack_from
_unpack_length = Struct(">i").unpack_from


class InvalidBatch(BatchError):
    """A batch that a producer may not write."""

    error_code = ErrorCode.INVALID_RECORD


class NotOneBatch(InvalidBatch):
    """The records of a Produce request are not one batch of format 2. Kafka checks this before it looks up the partition."""


class BatchTooLarge(BatchError):
    """A batch of more bytes than `max.message.bytes`."""

    error_code = ErrorCode.MESSAGE_TOO_LARGE


def validate_batch(view: memoryview, max_message_bytes: int = 0x7FFFFFFF) -> BatchHeader:
    """Returns the header of the one batch that a producer sent, `view[: header.size]`. The records are not read.

    Bytes after the batch that do not form a whole batch are ignored, as in Kafka. Raises BatchError with the error code of Apache Kafka.
    """
    size = len(view)
    # This condition makes all checks at once, for a valid batch. For any other batch, the checks below are made in Kafka's order.
    if size >= HEADER.size:
        fields = _unpack_header(view)
        base_offset, length, _, magic, crc, attributes, last_offset_delta, _, _, producer_id, _, base_sequence, records_count = fields
        if (
            length == size - PREFIX_SIZE
            and magic == 2
            and not base_offset
            and size <= max_message_bytes
            and 0 <= last_offset_delta == records_count - 1
            and attributes & 0x27 <= 4  # no control bit, and a codec that exists
            and (base_sequence >= 0 or producer_id < 0)
            and records.crc32c(view[CRC_START:]) == crc
        ):
            return tuple.__new__(BatchHeader, fields)
    batch = only_batch(view)
    if len(batch) < len(view):
        return validate_batch(batch, max_message_bytes)
    raise _fault(view, max_message_bytes)


def only_batch(view: memoryview) -> memoryview:
    """Returns the whole batch of format 2 at the start of `view`, if it is the only one. Raises NotOneBatch, BatchError."""
    batch = first_batch(view)
    if len(batch) < len(view) and first_batch_size(view[len(batch) :]):
        raise NotOneBatch("more than one batch")
    return batch


def first_batch(view: memoryview) -> memoryview:
    """Returns the whole batch of format 2 at the start of `view`, whatever follows it. Raises NotOneBatch, BatchError."""
    if len(view) >= HEADER.size and view[MAGIC_POSITION] == 2 and _unpack_length(view, 8)[0] == len(view) - PREFIX_SIZE:
        return view
    size = first_batch_size(view)
    if not size:
        raise NotOneBatch("no whole batch")
    if view[MAGIC_POSITION] < 2:
        raise NotOneBatch(f"magic {view[MAGIC_POSITION]}: only format 2 is supported")
    return view[:size]


def _fault(view: memoryview, max_message_bytes: int) -> BatchError:
    """Returns the error for one whole batch of format 2 that has a fault."""
    # Kafka reads the producer id without comparing its position with the size of the batch, and so answers UNKNOWN_SERVER_ERROR.
    if len(view) < _PRODUCER_EPOCH_POSITION:
        return BatchError(f"a batch of {len(view)} bytes has no producer id")
    if any(view[:8]):
        return InvalidBatch("a base offset other than 0")
    if len(view) > max_message_bytes:
        return BatchTooLarge(f"a batch of {len(view)} bytes, {max_message_bytes} are allowed")
    if len(view) < HEADER.size:
        return CorruptBatch(f"a batch of {len(view)} bytes, less than its header")
    header = read_header(view)
    if records.crc32c(view[CRC_START:]) != header.crc:
        return CorruptBatch(f"the CRC is not {header.crc:#010x}")
    return _structural_fault(header)


def _structural_fault(header: BatchHeader) -> BatchError:
    if header.attributes & COMPRESSION_MASK > Compression.ZSTD:
        return BatchError(f"there is no compression type {header.attributes & COMPRESSION_MASK}")
    if header.last_offset_delta < 0:
        return InvalidBatch(f"a last offset delta of {header.last_offset_delta}")
    if header.records_count != header.last_offset_delta + 1:
        return InvalidBatch(f"a count of {header.records_count} records with a last offset delta of {header.last_offset_delta}")
    if header.is_control:
        return InvalidBatch("a control batch from a client")
    return InvalidBatch(f"a base sequence of {header.base_sequence} with a producer id")
