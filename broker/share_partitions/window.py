"""The offsets of a share partition and its records in flight (the offsets and the cached state of Kafka's SharePartition).

`start_offset` is the first offset whose delivery is not complete, `end_offset` the last one that was fetched, or the next one to fetch as
long as there are no batches. Both only grow.

Next fetch offset. It is the first available record. `find_next` is False while there is none, so that it follows `end_offset`.

Gaps. A stored state does not contain records that were acquired when it was written. Between stored batches there may be records that have
to be delivered again. `gap` holds the end of the stored batches and the offset from which on such gaps have not been fetched yet; gaps
before that are offsets without records. It is dropped when records behind the stored batches are fetched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from .in_flight import InFlightBatches, Run
from .record_state import TERMINAL, Claim, RecordState
from .stored_state import StateBatch


class Gap:
    """The unread gaps between stored batches: those from `start` on, while `end` is the end of the window."""

    __slots__ = ("end", "start")

    def __init__(self, end: int, start: int) -> None:
        self.end = end
        self.start = start


class OffsetWindow:
    """The offsets and the batches of a share partition. `complete_count` is the number of acknowledged and archived records in it."""

    def __init__(self) -> None:
        self.start_offset = self.end_offset = 0
        self.in_flight = InFlightBatches()
        self.complete_count = 0
        self.find_next = False
        self.gap: Gap | None = None

    def load(self, start_offset: int, batches: Sequence[StateBatch]) -> None:
        """Begins with a stored state."""
        self.start_offset = self.end_offset = start_offset
        following, gap_start = start_offset, -1
        for first, last, state, delivery_count in batches:
            if gap_start == -1 and first > following:
                gap_start = following
            following = last + 1
            self.in_flight.put(first, last, Claim(RecordState(state), delivery_count))
            if state in TERMINAL:
                self.complete_count += last - first + 1
        if batches:
            self.find_next = True
            self.end_offset = following - 1
            if gap_start != -1:
                self.gap = Gap(self.end_offset, gap_start)
            self.advance()

    # Offsets

    @property
    def gaps(self) -> Gap | None:
        """The unread gaps, None if there are none."""
        return self.gap if self.gap is not None and self.gap.end == self.end_offset else None

    def read_until(self, offset: int) -> None:
        """Marks the gaps before an offset as read."""
        if self.gap is not None:
            if self.gap.end == self.end_offset and offset <= self.gap.end:
                self.gap.start = offset
            else:
                self.gap = None

    @property
    def size(self) -> int:
        """The number of offsets in flight."""
        return self.end_offset - self.start_offset + 1 if self.in_flight else 0

    @property
    def next_fetch_offset(self) -> int:
        """The first offset that can be acquired."""
        if not self.in_flight or self.start_offset > self.in_flight.lasts[-1]:
            self.find_next = False
            return self.end_offset
        if self.find_next:
            offset = self._first_available()
            if offset is not None:
                return offset
            self.find_next = False
        return self.end_offset + 1

    def _first_available(self) -> int | None:
        gaps = self.gaps
        gap_start = gaps.start if gaps else 0
        for index, (first, last) in enumerate(zip(self.in_flight.firsts, self.in_flight.lasts, strict=True)):
            if gaps:
                if first > gap_start:
                    return gap_start
                gap_start = max(last + 1, gap_start)
            for begin, _, claim in self.in_flight.runs(index):
                if claim.state == RecordState.AVAILABLE:
                    return begin
        return None

    def can_acquire(self, limit: int) -> bool:
        """Returns whether there is an available record, or room for further ones."""
        return self.next_fetch_offset != self.end_offset + 1 or self.size < limit

    def count_from_start(self, first: int, last: int) -> int:
        """Returns how many of the offsets are not before the start offset."""
        return max(0, last - max(first, self.start_offset) + 1)

    # Records that are done with

    def advance(self) -> bool:
        """Moves the start offset behind the records whose delivery is complete, and forgets whole batches of them.

        Returns whether it has changed.
        """
        if not self._start_is_complete():
            return False
        completed, count = self._completed_records()
        if completed is None:
            return False
        in_flight = self.in_flight
        if completed == in_flight.lasts[-1]:
            self.start_offset = self.end_offset = max(self.start_offset, completed + 1)
            self.in_flight, self.complete_count = InFlightBatches(), 0
            return True
        index = in_flight.floor(completed)
        if completed == in_flight.lasts[index]:
            self.start_offset = max(self.start_offset, in_flight.firsts[index + 1])
            if self.gaps:
                self.start_offset = min(self.gaps.start, self.start_offset)
            index += 1
        else:
            self.start_offset = max(self.start_offset, completed + 1)
        in_flight.drop_first(index)
        self.complete_count -= count
        return True

    def _start_is_complete(self) -> bool:
        index = self.in_flight.floor(self.start_offset)
        if index < 0:
            return False
        return self.in_flight.claim_at(index, self.start_offset).state in TERMINAL

    def _completed_records(self) -> tuple[int | None, int]:
        """Returns the last offset of the complete records at the beginning, and how many of them are not before the start offset."""
        completed, count, gaps = None, 0, self.gaps
        for index, last in enumerate(self.in_flight.lasts):
            if gaps and last >= gaps.start:
                break
            for begin, end, claim in self.in_flight.runs(index):
                if claim.state not in TERMINAL:
                    return completed, count
                completed = end
                count += self.count_from_start(begin, end)
        return completed, count

    # Records that no longer exist

    def move_start(self, log_start_offset: int) -> None:
        """Moves the start offset to that of the log, because the records before it are deleted. Acquired ones stay acquired."""
        if log_start_offset <= self.start_offset:
            return
        if not self.in_flight:
            self.start_offset = self.end_offset = log_start_offset
            self.complete_count = 0
            return
        former = self.start_offset
        removed = sum(
            max(0, min(last, log_start_offset - 1) - max(first, former) + 1)
            for index in self.in_flight.beginning_in(-1, log_start_offset - 1)
            for first, last, claim in self.in_flight.runs(index)
            if claim.state in TERMINAL
        )
        self.archive(former, log_start_offset, range(len(self.in_flight)), RecordState.AVAILABLE, counted=False)
        self.start_offset = log_start_offset
        self.complete_count -= removed
        self.end_offset = max(self.end_offset, log_start_offset)

    def archive_missing(self, fetch_offset: int, base_offset: int) -> None:
        """Archives available records that a fetch has not returned, because compaction has removed them."""
        if not self.in_flight or fetch_offset >= base_offset:
            return
        index = self.in_flight.floor(fetch_offset)
        first = self.in_flight.firsts[index] if index >= 0 and self.in_flight.lasts[index] >= fetch_offset else fetch_offset
        self.archive(fetch_offset, base_offset, self.in_flight.beginning_in(first, base_offset - 1), RecordState.AVAILABLE, counted=True)

    def archive(self, first: int, following: int, indexes: Iterable[int], state: RecordState, *, counted: bool) -> None:
        """Archives the offsets before `following` of these batches that are in a state. `counted` ones add to the complete ones."""
        in_flight = self.in_flight
        for index in indexes:
            if in_flight.firsts[index] >= following:
                break
            for begin, end, claim in list(self._in_state(index, first, following - 1, state)):
                in_flight.set(index, begin, end, Claim(RecordState.ARCHIVED, claim.delivery_count))
                self.find_next |= state == RecordState.AVAILABLE
                if counted:
                    self.complete_count += end - begin + 1

    def _in_state(self, index: int, first: int, last: int, state: RecordState) -> Iterator[Run]:
        """Yields the runs of a batch in a state. If that is a part of the batch, it keeps runs from now on."""
        in_flight = self.in_flight
        present = in_flight.states[index]
        if isinstance(present, Claim):
            if present.state != state:
                return
            if in_flight.firsts[index] >= first and in_flight.lasts[index] <= last:
                yield from in_flight.runs(index)
                return
        for run in in_flight.split(index).between(first, last):
            if run[2].state == state:
                yield run
