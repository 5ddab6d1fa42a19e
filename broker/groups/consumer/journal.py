"""What of a group has to be written to `__consumer_offsets`, noted while it changes and written at the end of each step."""

from __future__ import annotations

from enum import IntEnum


class RecordType(IntEnum):
    """The kinds of records; the numbers are the versions of their keys (Kafka's CoordinatorRecordType)."""

    OFFSET_COMMIT = 1
    GROUP_METADATA = 2
    CONSUMER_GROUP_METADATA = 3
    MEMBER_METADATA = 5
    TARGET_ASSIGNMENT_METADATA = 6
    TARGET_ASSIGNMENT_MEMBER = 7
    CURRENT_MEMBER_ASSIGNMENT = 8
    REGULAR_EXPRESSION = 16


class Journal:
    """The changed parts of one group, each once and in the order of their last change."""

    __slots__ = ("_touched",)

    def __init__(self) -> None:
        self._touched: dict[tuple[RecordType, str], None] = {}

    def touch(self, kind: RecordType, name: str = "") -> None:
        """A part has changed or is gone; `name` is the member or the expression, if the kind has one."""
        self._touched.pop((kind, name), None)
        self._touched[kind, name] = None

    def drain(self) -> list[tuple[RecordType, str]]:
        """What changed since the last call."""
        touched, self._touched = self._touched, {}
        return list(touched)
