"""The directories that a cluster starts with, and the part of their records that it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from os import PathLike
from pathlib import Path
from typing import Required, TypedDict

from ..topics.names import INTERNAL_TOPICS
from ..topics.partition import Partition


@dataclass(frozen=True, slots=True)
class Selection:
    """The part of the records to take, by default everything. Internal topics are always taken whole.

    `topics` are patterns of names such as "orders*". `from_offset` is the first offset of each partition, `until_time_ms` the time from
    which records are left out, and `latest` the number of last records of each partition.
    """

    topics: Sequence[str] = ()
    from_offset: int | None = None
    until_time_ms: int | None = None
    latest: int | None = None

    def takes(self, topic: str) -> bool:
        """Returns whether a topic is taken."""
        return not self.topics or topic in INTERNAL_TOPICS or any(fnmatchcase(topic, pattern) for pattern in self.topics)

    def cut(self, partition: Partition) -> None:
        """Removes the records of a partition that are not selected. Batches are left out as a whole at the end, as in a truncated log."""
        log = partition.log
        if partition.topic.is_internal:
            return
        if self.until_time_ms is not None and (later := log.find_timestamp(self.until_time_ms)) is not None:
            partition.truncate_to(int.from_bytes(later[:8], "big"))
        starts = [log.start_offset]
        if self.from_offset is not None:
            starts.append(self.from_offset)
        if self.latest is not None:
            starts.append(log.end_offset - self.latest)
        if max(starts) > log.start_offset:
            partition.delete_before(max(starts))


class LogDirOptions(TypedDict, total=False):
    """Log directories, and the part of their records that a cluster in a Python program takes, with the fields of `Selection`."""

    directories: Required[Sequence[str | PathLike[str]]]
    topics: Sequence[str]
    from_offset: int
    until_time: datetime | int
    latest: int


@dataclass(frozen=True, slots=True)
class LogDirImport:
    """The log directories of brokers, with which a cluster starts, and the part of them to take."""

    directories: Sequence[Path]
    selection: Selection = Selection()
