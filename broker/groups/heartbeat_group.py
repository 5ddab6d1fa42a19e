"""The parts that consumer groups, share groups and streams groups have in common: their members send heartbeats."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from ...protocol.stored.coordinator_records import RecordType
from ..topics.partition import Topic


def metadata_hash(names: Iterable[str], topics: Mapping[str, Topic]) -> int:
    """Returns a hash of the ids and numbers of partitions of those topics that exist, a signed 64-bit integer; 0 if none exists.

    A group compares it to notice that a topic was created, deleted or extended.
    """
    found = sorted((topic.id, len(topic.partitions)) for name in names if (topic := topics.get(name)))
    digest = hashlib.blake2b(repr(found).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True) if found else 0


class Journal:
    """The parts of a group that have changed since its records were last written to `__consumer_offsets`.

    A group marks each part when it changes. At the end of each request one record is built for each changed part. Each part is contained
    once, in the order of the last changes.
    """

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
