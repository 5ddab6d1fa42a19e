"""Maps the exceptions of the append path to the error fields of a partition in a Produce response.

The checks are in `protocol` (bytes of a batch), `storage` (sequence numbers) and `broker` (topics, leaders, transactions), and
`storage` does not import error codes. Only `partition_error_of` combines them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...protocol.batches.batch_validation import NotOneBatch
from ...protocol.batches.checks import RejectedRecords
from ...protocol.batches.records import BatchError, InvalidRecords
from ...protocol.errors import ErrorCode, KafkaError
from ...storage.producers import OutOfOrderSequence, StaleProducerEpoch, TransactionIsOpen
from .transaction_check import NotInTransaction

APPEND_REFUSALS = (KafkaError, BatchError, InvalidRecords, OutOfOrderSequence, StaleProducerEpoch, TransactionIsOpen)
"""The exceptions raised for a batch that is not appended. None of them leaves a change behind that a retry would repeat."""

_CODES = {
    InvalidRecords: ErrorCode.INVALID_RECORD,
    OutOfOrderSequence: ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    StaleProducerEpoch: ErrorCode.INVALID_PRODUCER_EPOCH,
    TransactionIsOpen: ErrorCode.INVALID_TXN_STATE,
}
# Errors that KafkaApis and ReplicaManager return before the log is reached. Their responses have log_start_offset -1.
_BEFORE_THE_LOG = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.MESSAGE_TOO_LARGE,
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.INVALID_REQUIRED_ACKS,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
    }
)


class PartitionError(NamedTuple):
    """The error fields of a PartitionProduceResponse. `record_errors` are (index in the batch, text) pairs (KIP-467)."""

    code: ErrorCode
    message: str | None = None
    has_log_start: bool = True
    record_errors: Sequence[tuple[int, str]] = ()


def partition_error_of(error: Exception) -> PartitionError:
    """Returns the error fields for one of APPEND_REFUSALS."""
    if isinstance(error, KafkaError):
        hidden = isinstance(error, NotInTransaction) or error.code is ErrorCode.UNKNOWN_SERVER_ERROR
        return PartitionError(error.code, error.message, not hidden and error.code not in _BEFORE_THE_LOG)
    if isinstance(error, RejectedRecords):
        return PartitionError(error.error_code, str(error), record_errors=error.record_errors)
    if isinstance(error, BatchError):
        hidden = isinstance(error, NotOneBatch)
        return PartitionError(error.error_code, has_log_start=not hidden and error.error_code not in _BEFORE_THE_LOG)
    return PartitionError(next(code for kind, code in _CODES.items() if isinstance(error, kind)))
