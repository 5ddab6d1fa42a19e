"""The rules that a topic sets for records, and the errors for records that break them (Kafka's LogValidator.validateRecord)."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from ...errors import ErrorCode
from ..records import BatchError

NO_TIMESTAMP = -1
MIN_LONG, MAX_LONG = -(1 << 63), (1 << 63) - 1
"""The bounds of Java's long."""

INVALID_TIMESTAMP = "One or more records have been rejected due to invalid timestamp"
"""The message of Kafka's LogValidator.processRecordErrors, which programs compare."""

RecordError: TypeAlias = tuple[int, ErrorCode, str]
"""The index of a record in its batch, its error code and its error text."""


class RecordRules(NamedTuple):
    """The requirements of a topic for each record.

    `keys`: whether each record needs a key, because the topic is compacted.
    `earliest`, `latest`: the bounds of timestamps in ms, both allowed.
    `create_time`: whether the topic keeps the producers' timestamps. If it does not, the bounds do not apply.
    """

    keys: bool = False
    earliest: int = MIN_LONG
    latest: int = MAX_LONG
    create_time: bool = True

    def violation(self, key_missing: bool, timestamp: int, append_time_bit: bool) -> tuple[ErrorCode, str] | None:
        """Returns the error code and text for a record that breaks a rule, None for one that does not."""
        if key_missing and self.keys:
            return ErrorCode.INVALID_RECORD, "a compacted topic requires a key in every record"
        if self.create_time and timestamp != NO_TIMESTAMP:
            if not self.earliest <= timestamp <= self.latest:
                return (
                    ErrorCode.INVALID_TIMESTAMP,
                    f"timestamp {timestamp} is not between {self.earliest} and {self.latest}",
                )
        elif append_time_bit:
            return ErrorCode.INVALID_TIMESTAMP, "a producer may not set the timestamp type to LogAppendTime"
        return None


class RejectedRecords(BatchError):
    """Raised for well-formed records that break the topic's rules.

    `record_errors` holds (index in the batch, error text) of each rejected record, as ProduceResponse reports them (KIP-467).
    """

    def __init__(self, errors: list[RecordError]) -> None:
        has_time_error = any(code == ErrorCode.INVALID_TIMESTAMP for _, code, _ in errors)
        super().__init__(INVALID_TIMESTAMP if has_time_error else "some records of the batch were rejected, so none was appended")
        self.error_code = ErrorCode.INVALID_TIMESTAMP if has_time_error else ErrorCode.INVALID_RECORD
        self.record_errors = [(index, text) for index, _, text in errors]


class UnreadableRecords(BatchError):
    """Raised for bytes to which Apache Kafka answers UNKNOWN_SERVER_ERROR."""
