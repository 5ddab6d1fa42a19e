"""Events for the record about records that are no longer in their partitions: expired, deleted or compacted.

A topic is one event each time, however many of its partitions have lost records, so that a topic with thousands of partitions does not
displace the exchanges that the record contains. Internal topics are left out, because no client of a user reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from .partition import Partition

Tell = Callable[..., None]
"""Adds an event to the record: its kind, its text, and named values (`ClusterState.tell`)."""


class Removed(NamedTuple):
    """A partition and the offset at which it began before its first records were removed."""

    partition: Partition
    former_start: int


def tell_removed(tell: Tell, kind: str, removed: Sequence[Removed], reason: str) -> None:
    """Adds the event that partitions of one topic begin at later offsets, for a reason. Adds none if no partition has lost records."""
    if not removed or removed[0].partition.topic.is_internal:
        return
    first, former_start = removed[0]
    start = first.log.start_offset
    more = f" (and {len(removed) - 1} more)" if len(removed) > 1 else ""
    tell(
        kind,
        f"{first!r}{more} begins at offset {start} instead of {former_start}: {reason}",
        topic=first.topic.name,
        partition=first.index,
        start_offset=start,
        partitions=len(removed),
        records=sum(each.partition.log.start_offset - each.former_start for each in removed),
    )


def tell_compacted(tell: Tell, partition: Partition, end_offset: int, former_bytes: int) -> None:
    """Adds the event that superseded records below an offset were removed. Adds none if all of them have remained."""
    remaining = partition.log.size
    if remaining < former_bytes and not partition.topic.is_internal:
        text = f"{partition!r} is compacted up to offset {end_offset}: {remaining} of {former_bytes} bytes remain"
        tell("compacted", text, topic=partition.topic.name, partition=partition.index, end_offset=end_offset)
