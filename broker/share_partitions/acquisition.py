"""Acquiring the records that a fetch has read, for one member (SharePartition.acquire).

Records that were not in flight become new batches. In the mode `BATCH_OPTIMIZED` the member gets whole batches of the log, also if these
are more than it asked for, and a new batch has about `batch_size` records. In the mode `RECORD_LIMIT` (KIP-1206) it gets at most
`max_records`, and the rest of the last batch is in flight and available.

Records that are in flight and available are acquired again. A record that was delivered half as often as allowed is isolated step by step
from its neighbours, because one of them may be the reason that the whole batch was released: the number of records of a delivery is halved
with each further one, and the last delivery is of one record alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

from .fetched import FetchedBatches
from .in_flight import Runs
from .record_state import Claim, RecordState
from .window import OffsetWindow

MIN_THROTTLED_DELIVERIES = 2
MIN_LIMIT_TO_ISOLATE = 2


class AcquireMode(IntEnum):
    """The meaning of `max_records`."""

    BATCH_OPTIMIZED = 0
    RECORD_LIMIT = 1


class Acquired(NamedTuple):
    """A range of offsets that a member has acquired, and how often it was delivered."""

    first: int
    last: int
    delivery_count: int


class Acquisition:
    """One pass over the batches that a fetch at `fetch_offset` has read. The locks of the acquired records expire at `deadline_ms`."""

    def __init__(
        self,
        window: OffsetWindow,
        fetched: FetchedBatches,
        member_id: str,
        *,
        mode: AcquireMode,
        batch_size: int,
        delivery_limit: int,
        deadline_ms: int,
    ) -> None:
        self._window = window
        self._fetched = fetched
        self._member_id = member_id
        self._by_record = mode == AcquireMode.RECORD_LIMIT
        self._batch_size = max(1, batch_size)
        self._delivery_limit = delivery_limit
        self._throttled_deliveries = max(MIN_THROTTLED_DELIVERIES, (delivery_limit + 1) // 2)
        self._deadline_ms = deadline_ms
        self._acquired: list[Acquired] = []
        self._count = 0

    def run(self, fetch_offset: int, max_records: int, max_in_flight: int) -> list[Acquired]:
        """Returns the acquired ranges in ascending order."""
        window, fetched = self._window, self._fetched
        if max_records <= 0 or not len(fetched) or fetched.lasts[-1] < window.start_offset:
            return []
        last, limit = self._room(fetch_offset, max_records, max_in_flight)
        if limit <= 0:
            return []
        base = fetched.firsts[0]
        window.archive_missing(fetch_offset, base)
        first = self._first_offset(base)
        known = window.in_flight.beginning_in(min(base, first), last)
        if not known:
            self._acquire_new(first, last, limit)
            return self._acquired
        keys = [window.in_flight.firsts[index] for index in known]
        limit = self._acquire_again(keys, base, first, last, limit)
        behind = window.in_flight.lasts[window.in_flight.floor(keys[-1])] + 1
        if self._count < limit and behind <= last:
            self._acquire_new(behind, last, limit - self._count)
        if self._acquired:
            window.read_until(self._acquired[-1].last + 1)
        return self._acquired

    def _room(self, fetch_offset: int, max_records: int, max_in_flight: int) -> tuple[int, int]:
        """Returns the last offset and the number of records that may be acquired. A full window allows only records within it."""
        window, last = self._window, self._fetched.lasts[-1]
        limit = min(max_records, max_in_flight - window.size)
        if limit <= 0 and fetch_offset <= window.end_offset:
            return min(last, window.end_offset), min(max_records, window.end_offset - fetch_offset + 1)
        return last, limit

    def _first_offset(self, base: int) -> int:
        """Returns where acquiring begins: at the batch in flight that contains the base offset, and not before the start offset."""
        in_flight = self._window.in_flight
        index = in_flight.floor(base)
        if index < 0:
            return max(base, self._window.start_offset)
        return in_flight.firsts[index] if in_flight.lasts[index] >= base else base

    # Records that were not in flight

    def _acquire_new(self, first: int, last: int, limit: int) -> None:
        """Acquires the offsets from `first` to `last`, up to the end of the batch of the log that contains the last allowed one."""
        window = self._window
        if not window.in_flight:
            first = max(first, window.end_offset)
        if first > last:
            return
        if limit < last - first + 1:
            end = self._fetched.end_of_batch_with(first + limit - 1)
            last = min(end, last) if window.gaps else end
        ranges = [(first, last)] if self._by_record else self._divide(first, last)
        if self._by_record and last - first + 1 > limit:
            ranges = [self._put_available_rest(first, first + limit - 1, last)]
        else:
            for begin, end in ranges:
                window.in_flight.put(begin, end, self._fresh)
        if window.in_flight.firsts[0] == first:
            window.start_offset = first
        window.end_offset = max(window.end_offset, last)
        window.read_until(ranges[-1][1] + 1)
        self._add(Acquired(begin, end, 1) for begin, end in ranges)

    @property
    def _fresh(self) -> Claim:
        return Claim(RecordState.ACQUIRED, 1, self._member_id, self._deadline_ms)

    def _divide(self, first: int, last: int) -> list[tuple[int, int]]:
        """Divides a range where a batch of the log begins, so that each part has at least `batch_size` offsets."""
        ranges = []
        while last - first + 1 > self._batch_size:
            following = self._fetched.first_at_or_after(first + self._batch_size)
            if following is None or following > last:
                break
            ranges.append((first, following - 1))
            first = following
        return [*ranges, (first, last)]

    def _put_available_rest(self, first: int, last_acquired: int, last: int) -> tuple[int, int]:
        runs = Runs(first, last, Claim(RecordState.AVAILABLE, 0))
        runs.set(first, last_acquired, self._fresh)
        self._window.in_flight.put(first, last, runs)
        self._window.find_next = True
        return first, last_acquired

    # Records in flight

    def _acquire_again(self, keys: Iterable[int], base: int, first: int, last: int, limit: int) -> int:
        """Acquires the available records of the batches that begin at `keys`, and gaps before them. Returns the limit for further ones."""
        window, gap_start = self._window, first
        for key in keys:
            if self._count >= limit:
                break
            if window.gaps:
                if gap_start < key:
                    self._acquire_new(gap_start, key - 1, limit - self._count)
                gap_start = window.in_flight.lasts[window.in_flight.floor(key)] + 1
                if self._count >= limit:
                    break
            if not self._acquire_batch(window.in_flight.floor(key), base, last, limit - self._count):
                return 0
        return limit

    def _acquire_batch(self, index: int, base: int, last: int, limit: int) -> bool:
        """Acquires the available records of a batch from `base` to `last`. Returns False if no further records may be delivered."""
        in_flight = self._window.in_flight
        claim = in_flight.states[index]
        throttled = self._is_throttled(index, base, last)
        if throttled and self._count > 0:
            return False
        whole = in_flight.firsts[index] >= base and in_flight.lasts[index] <= last
        if isinstance(claim, Claim):
            if claim.state != RecordState.AVAILABLE:
                return True
            if whole and not throttled and not (self._by_record and in_flight.size(index) > limit):
                again = in_flight.states[index] = claim.after_delivery(self._member_id, self._deadline_ms)
                self._add([Acquired(in_flight.firsts[index], in_flight.lasts[index], again.delivery_count)])
                return True
        before = self._count
        self._acquire_runs(index, base, last, limit)
        return not (throttled and self._count > before)

    def _is_throttled(self, index: int, base: int, last: int) -> bool:
        """Returns whether one of the available records was delivered so often that it is isolated."""
        return any(
            claim.delivery_count >= self._throttled_deliveries
            for first, end, claim in self._window.in_flight.runs(index)
            if claim.state == RecordState.AVAILABLE and first <= last and end >= base
        )

    def _acquire_runs(self, index: int, base: int, last: int, limit: int) -> None:
        runs = self._window.in_flight.split(index)
        size, count, halved = self._window.in_flight.size(index), 0, 0
        taken: list[Acquired] = []
        for first, end, claim in list(runs.between(base, last)):
            if claim.state != RecordState.AVAILABLE:
                continue
            alone = self._delivery_limit > MIN_LIMIT_TO_ISOLATE and claim.delivery_count == self._delivery_limit - 1
            if alone and count:
                break
            if claim.delivery_count >= self._throttled_deliveries and not halved:
                halved = max(1, size >> (claim.delivery_count - self._throttled_deliveries + 1))
            end = self._cut(first, end, count, 1 if alone else 0, halved, limit)
            again = claim.after_delivery(self._member_id, self._deadline_ms)
            runs.set(first, end, again)
            count += end - first + 1
            _extend(taken, Acquired(first, end, again.delivery_count))
            if alone or count == halved or (self._by_record and count == limit):
                break
        self._add(taken)

    def _cut(self, first: int, end: int, count: int, alone: int, halved: int, limit: int) -> int:
        """Returns the last offset of a run that may be acquired, after `count` records of the batch."""
        room = end - first + 1
        if alone:
            room = alone
        if self._by_record:
            room = min(room, limit - count)
        if halved > count:
            room = min(room, halved - count)
        return first + room - 1

    def _add(self, acquired: Iterable[Acquired]) -> None:
        for each in acquired:
            self._acquired.append(each)
            self._count += each.last - each.first + 1


def _extend(acquired: list[Acquired], more: Acquired) -> None:
    """Adds a range, joined with the last one if they touch and were delivered equally often."""
    if acquired and acquired[-1].last + 1 == more.first and acquired[-1].delivery_count == more.delivery_count:
        acquired[-1] = acquired[-1]._replace(last=more.last)
    else:
        acquired.append(more)
