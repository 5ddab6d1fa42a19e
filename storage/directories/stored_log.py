"""The folder of a partition: its segments, producers, transactions and leader epochs, as Kafka loads them (LogLoader, UnifiedLog).

After an orderly shutdown, indexes and the newest snapshot of producers are complete, so that only the end of each segment is read. After a
crash, each segment that ends behind the recovery point is read and checked; at the first invalid batch, Kafka truncates the segment and
deletes those after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ..segments import Segment, split
from ..transaction_index import EndedTransaction
from . import names
from .index_files import (
    OffsetIndex,
    TimeIndex,
    new_offset_index,
    new_time_index,
    read_offset_index,
    read_time_index,
    read_transaction_index,
)
from .names import DamagedFile
from .old_messages import converted_segment
from .producer_snapshot import ProducerEntry, read_producer_snapshot
from .segment_files import Damage, MappedSegment, OldMessages, map_file, map_segment
from .text_files import EpochStart, read_epochs


class SegmentDamage(NamedTuple):
    """A segment that Kafka truncates."""

    path: Path
    size: int
    damage: Damage

    def __str__(self) -> str:
        """Returns the message, with the words of Kafka's LogSegment.recover."""
        at, reason = self.damage
        return f"Found invalid messages in log segment {self.path} at byte offset {at}: {reason}; {self.size - at} bytes are left out"


class ProducersAt(NamedTuple):
    """The producers at an offset of the log. The batches behind it say what they have written since."""

    offset: int
    entries: list[ProducerEntry]


class StoredLog(NamedTuple):
    """The contents of a partition's folder.

    `segments` are consecutive, and their bytes are mapped. `aborted` are the aborted transactions that ended before the offset of
    `producers`. `file_starts` are the base offsets of the segment files.
    """

    segments: list[Segment]
    start_offset: int
    end_offset: int
    epochs: list[EpochStart]
    producers: ProducersAt
    aborted: list[EndedTransaction]
    file_starts: list[int]
    damages: list[SegmentDamage]

    def batches_from(self, offset: int) -> Iterator[memoryview]:
        """Yields the batches that end behind an offset."""
        for segment in self.segments:
            if segment.end_offset > offset:
                yield from split(segment.view[segment.locate(offset) : segment.end])


def read_log(folder: Path, start_offset: int | None, recovery_point: int | None, *, within_segments: bool = False) -> StoredLog:
    """Returns the log in the folder of a partition.

    `start_offset` is that of the checkpoint of log start offsets, None without one, and `recovery_point` the offset up to which segments
    and indexes are complete, None after an orderly shutdown. Kafka checks the whole segment that contains it; with `within_segments`, as
    this project writes them, only the batches behind it are checked. Raises OSError, and DamagedFile for a segment of more than 2 GiB.
    """
    bases = names.offsets_in(folder, names.LOG)
    segments, damages = _read_segments(folder, bases, recovery_point, within_segments=within_segments)
    first = bases[0] if bases else 0
    end_offset = segments[-1].end_offset if segments else first
    start_offset = min(max(first, start_offset or 0), end_offset)
    kept = [segment for segment in segments if segment.end_offset > start_offset and segment.end > segment.start]
    _join(kept)
    producers = _read_producers(folder, end_offset if recovery_point is None else min(recovery_point, end_offset), start_offset)
    return StoredLog(
        kept,
        start_offset,
        end_offset,
        [epoch for epoch in _read_known(folder) if epoch.offset < end_offset],
        producers,
        list(_read_aborted(folder, bases, start_offset, producers.offset)),
        [base for base in bases if base <= end_offset],
        damages,
    )


def _read_segments(
    folder: Path, bases: list[int], recovery_point: int | None, *, within_segments: bool
) -> tuple[list[Segment], list[SegmentDamage]]:
    segments: list[Segment] = []
    damages: list[SegmentDamage] = []
    for base, following in zip(bases, [*bases[1:], names.MAX_OFFSET], strict=False):
        path, is_recovered = folder / names.offset_name(base, names.LOG), recovery_point is not None and following > recovery_point
        if segments and segments[-1].end_offset > base:
            damages.append(SegmentDamage(path, path.stat().st_size, Damage(0, f"offset {base} precedes the end of the segment before")))
            break
        trusted_end = names.MAX_OFFSET if not is_recovered or recovery_point is None else recovery_point if within_segments else 0
        indexes = _read_indexes(folder, base, trusted_end)
        view = map_file(path)  # after its indexes, which therefore do not lead behind its end while a broker writes
        segment, damage = _read_segment(view, base, *indexes)
        segments.append(segment)
        if damage is not None:
            damages.append(SegmentDamage(path, len(view), damage))
            if is_recovered:
                break
    return segments, damages


def _read_indexes(folder: Path, base: int, trusted_end: int) -> tuple[OffsetIndex, TimeIndex]:
    """Returns the entries of a segment's indexes before `trusted_end`, none if a file is missing, which Kafka builds again."""
    if trusted_end <= base:
        return new_offset_index(), new_time_index()
    try:
        offsets = read_offset_index(folder / names.offset_name(base, names.INDEX), base)
        times = read_time_index(folder / names.offset_name(base, names.TIME_INDEX), base)
    except OSError:
        return new_offset_index(), new_time_index()
    return offsets.before(trusted_end), times.before(trusted_end)


def _read_segment(view: memoryview, base: int, offsets: OffsetIndex, times: TimeIndex) -> MappedSegment:
    try:
        return map_segment(view, base, offsets, times)
    except OldMessages:
        return converted_segment(view, base)


def _join(segments: Iterable[Segment]) -> None:
    """Sets the positions of segments in their log."""
    log_end = 0
    for segment in segments:
        segment.log_start = log_end - segment.start
        log_end += segment.end - segment.start


def _read_known(folder: Path) -> list[EpochStart]:
    try:
        return read_epochs(folder / names.EPOCHS)
    except DamagedFile:
        return []  # the epochs in the batches remain


def _read_producers(folder: Path, trusted_offset: int, start_offset: int) -> ProducersAt:
    """Returns the newest snapshot that is valid. Without one, all producers follow from the batches."""
    for offset in reversed(names.offsets_in(folder, names.PRODUCERS)):
        if offset <= trusted_offset:
            with suppress(DamagedFile):
                return ProducersAt(offset, read_producer_snapshot(folder / names.offset_name(offset, names.PRODUCERS)))
    return ProducersAt(start_offset, [])


def _read_aborted(folder: Path, bases: Iterable[int], start_offset: int, end_offset: int) -> Iterator[EndedTransaction]:
    last = start_offset - 1
    for base in bases:
        path = folder / names.offset_name(base, names.TRANSACTION_INDEX)
        with suppress(FileNotFoundError, DamagedFile):
            for aborted in read_transaction_index(path):
                if last < aborted.last_offset < end_offset:
                    yield aborted
                    last = aborted.last_offset
