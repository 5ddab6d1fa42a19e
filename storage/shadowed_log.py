"""A log that files follow: it notes what has changed since its files were last written.

The files are written at the end of a turn, before the responses of that turn (`broker/durability/`). Appended batches then lie behind the
end of the files; other changes are noted here, because they concern batches that have been written already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .blocks import KEEPS_NOTHING, Blocks
from .log import Log
from .memory import LogMemory
from .segments import NO_TIMESTAMP, Segment


class IndexedBatch(NamedTuple):
    """A batch in the index of a log. `position` counts the bytes of the log, `newest` is the largest timestamp up to this batch (ms).

    `is_newest` says whether the batch itself has that timestamp, and none before it.
    """

    offset: int
    position: int
    newest: int
    is_newest: bool


class LogChanges:
    """The logs that have changed, in the steps in which their files must be written.

    After a crash within a step, any of its logs may lack batches that the others have, but no log has batches of a later step. The log of a
    coordinator is a step of its own, because its records have to be in the files before what follows from them, and after what they
    confirm: a transaction is prepared, then its markers are written, then it is complete. All other logs that change between two such
    steps share one.
    """

    def __init__(self) -> None:
        self._closed: list[dict[ShadowedLog, int]] = []
        self._open: dict[ShadowedLog, int] = {}
        self._is_coordinator = False

    def __bool__(self) -> bool:
        """Whether any log has changed."""
        return bool(self._open)

    def add(self, log: ShadowedLog) -> None:
        """Notes a log that is about to change."""
        if log in self._open:
            return
        if self._open and (self._is_coordinator or log.is_coordinator):
            self._close()
        self._is_coordinator = log.is_coordinator
        self._open[log] = 0

    def forget_steps(self, log: ShadowedLog) -> None:
        """Writes all changes of a log in the last step, because it was truncated to an offset before those of earlier steps."""
        for step in self._closed:
            step.pop(log, None)

    def take(self) -> list[dict[ShadowedLog, int]]:
        """Returns the steps, and forgets them: each with its logs, and the end offset of each log in this step."""
        self._close()
        steps, self._closed = self._closed, []
        return steps

    def _close(self) -> None:
        if self._open:
            self._closed.append({log: log.end_offset for log in self._open})
            self._open = {}


class ShadowedLog(Log):
    """A log that adds itself to `changes` before each change. `intact_end` is the end of the batches not truncated since `settle`.

    The batches before `replaced_before` have been compacted since then. `is_coordinator` says that the order of its writes matters.
    `revision` is another number after each change but an append.
    """

    __slots__ = ("_changes", "intact_end", "is_coordinator", "replaced_before", "revision")

    def __init__(self, changes: LogChanges, memory: LogMemory | None = None, blocks: Blocks = KEEPS_NOTHING) -> None:
        super().__init__(memory, blocks)
        self._changes = changes
        self.is_coordinator = False
        self.intact_end = self.replaced_before = self.revision = 0

    def append(self, batch: memoryview, leader_epoch: int, *, owned: bool) -> int:
        self._changes.add(self)
        return super().append(batch, leader_epoch, owned=owned)

    def append_copy(self, batch: memoryview, leader_epoch: int, last_offset_delta: int, max_timestamp: int) -> int:
        self._changes.add(self)
        return super().append_copy(batch, leader_epoch, last_offset_delta, max_timestamp)

    def delete_before(self, offset: int) -> None:
        self._changes.add(self)
        self.revision += 1
        super().delete_before(offset)

    def replace_by_segments(self, offset: int, replacing: Sequence[Segment]) -> None:
        self._changes.add(self)
        self.replaced_before = max(self.replaced_before, offset)
        self.revision += 1
        super().replace_by_segments(offset, replacing)

    def truncate_to(self, offset: int) -> None:
        self._changes.add(self)
        self._changes.forget_steps(self)
        self.intact_end = min(self.intact_end, offset)
        self.revision += 1
        super().truncate_to(offset)

    def settle(self, end_offset: int) -> None:
        """Notes that the files contain the batches of the log before an offset as they are now."""
        self.intact_end, self.replaced_before = end_offset, 0

    # Serving batches from files

    @property
    def oldest_in_memory(self) -> Segment | None:
        """The first segment that is kept in memory, None if all batches are mapped from files."""
        return next((segment for segment in self._segments if _is_in_memory(segment)), None)

    def map_batches(self, view: memoryview, base_offset: int, end_offset: int, size: int) -> None:
        """Serves the oldest batches in memory from a mapped file: `size` bytes of them or a little more, in whole segments.

        `view` ends with the last batch before `end_offset`; the file contains the batches of the log from `base_offset` on.
        """
        segments, to_view = self._segments, len(view) - self.position_of(end_offset)
        first = last = next(number for number, segment in enumerate(segments) if _is_in_memory(segment))
        if first and segments[first - 1].base_offset >= base_offset:
            first -= 1  # it is mapped from the same file
        while last < len(segments) and segments[last].base_offset < end_offset and size > 0:
            size -= segments[last].end - segments[last].start
            last += 1
        parts, behind = segments[first:last], segments[last:]
        if parts[-1].locate(end_offset) < parts[-1].end:
            parts[-1], rest = _split_at(parts[-1], end_offset)
            behind.insert(0, rest)
        mapped = Segment(view, parts[0].log_start + parts[0].start + to_view, parts[0].base_offset, -to_view)
        for part in parts:
            mapped.add_segment(part)
        mapped.origin = mapped.end  # no bytes are kept in memory
        if all(segment.view.obj is not self._view.obj for segment in behind):
            self._leave_arena()
        self._replace_segments([*segments[:first], mapped, *behind])

    @property
    def newest_in_last_segment(self) -> int:
        """The largest timestamp of the last batches in memory (ms)."""
        return self._segments[-1].max_timestamp if self._segments else NO_TIMESTAMP

    def position_of(self, offset: int) -> int:
        """Returns the position of the batch that contains `offset` or of the next one, in bytes of the log; its end for the end offset."""
        if not self._segments:
            return 0
        segment = self._segments[self._segment_of(offset)]
        return segment.log_start + segment.locate(offset)

    def indexed(self, start_offset: int, end_offset: int) -> Iterator[IndexedBatch]:
        """Yields the batches with entries in the index that begin from `start_offset` to `end_offset` (exclusive)."""
        newest = NO_TIMESTAMP
        for segment in self._segments[self._segment_of(start_offset) if self._segments else 0 :]:
            if segment.base_offset >= end_offset:
                break
            for offset, position, newest_before, timestamp in segment.indexed():
                if start_offset <= offset < end_offset:
                    before = max(newest, newest_before)
                    yield IndexedBatch(offset, segment.log_start + position, max(before, timestamp), timestamp > before)
            newest = max(newest, segment.max_timestamp)


def _is_in_memory(segment: Segment) -> bool:
    return segment.origin < segment.end


def _split_at(segment: Segment, offset: int) -> tuple[Segment, Segment]:
    """Returns copies of a segment with its batches before `offset`, and with those from it on."""
    before, behind = segment.copy(), segment.copy()
    before.truncate_to(offset)
    behind.delete_before(offset)
    return before, behind
