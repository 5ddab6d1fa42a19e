"""The parts of a consumer group that have changed since its records were last written to `__consumer_offsets`.

A group marks each part when it changes. At the end of each request `records.consumer_records` builds one record for each changed part.
"""

from __future__ import annotations

from ....protocol.stored.coordinator_records import RecordType


class Journal:
    """The changed parts of one group, each once and in the order of their last changes."""

    __slots__ = ("_touched",)

    def __init__(self) -> None:
        self._touched: dict[tuple[RecordType, str], None] = {}

    def touch(self, kind: RecordType, name: str = "") -> None:
        """Marks a part as changed or removed. `name` is a member id or a regular expression, "" for parts of the whole group."""
        self._touched.pop((kind, name), None)
        self._touched[kind, name] = None

    def drain(self) -> list[tuple[RecordType, str]]:
        """Returns the parts changed since the last call."""
        touched, self._touched = self._touched, {}
        return list(touched)
