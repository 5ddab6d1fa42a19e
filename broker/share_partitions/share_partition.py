"""The state machine of one partition that a share group reads (Kafka's SharePartition), on the leader of the partition.

`acquire` gives records to a member for a limited time, `acknowledge` ends that by the member's decision, `release` when its session ends,
and `expire` when the time is over. Each change of the state of records is stored before it is complete. Acquired records are not stored: a
new leader begins with the stored state and delivers them again.

The class does no I/O and has no timers. After each call, `expire` has to be called at `alarm_ms` at the latest; a call that is too early
does no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from typing import NamedTuple

from ...protocol.errors import ErrorCode, KafkaError
from .acquisition import Acquired, AcquireMode, Acquisition
from .fetched import AbortedTransaction, FetchedBatches
from .in_flight import Run, Runs
from .record_state import NO_MEMBER, STATE_AFTER, TERMINAL, AcknowledgeType, Claim, RecordState
from .settings import ShareSettings
from .stored_state import StateBatch
from .window import OffsetWindow

_RELEASING = Claim(RecordState.ACQUIRED, 0)
"""The state of records between the end of their acquisition and the commit after which they are available."""


class AcquisitionEnds:
    """The ends of acquisitions in one step, which are stored as a whole, or reverted as a whole.

    The records can be neither acknowledged again nor acquired before `commit`, which is called when the change is stored: Kafka stores it
    on another broker, so that the fetch which releases records does not acquire them again itself.
    """

    def __init__(self, window: OffsetWindow, delivery_limit: int) -> None:
        self._window = window
        self._delivery_limit = delivery_limit
        self._done: list[tuple[int, int, int, Claim, Claim]] = []
        """(index of the batch, first offset, last offset, former state, new state)."""

    def __bool__(self) -> bool:
        return bool(self._done)

    def end(self, index: int, first: int, last: int, claim: Claim, state: RecordState) -> None:
        """Ends the acquisition of some offsets of a batch, all of which are acquired by the same member."""
        window, ended = self._window, claim.after_end(state, self._delivery_limit)
        window.in_flight.set(index, first, last, _RELEASING if ended.state == RecordState.AVAILABLE else ended)
        self._done.append((index, first, last, claim, ended))
        if ended.state in TERMINAL:
            window.complete_count += window.count_from_start(first, last)

    @property
    def batches(self) -> list[StateBatch]:
        """The changed ranges, as they are stored."""
        return [StateBatch(first, last, ended.state, ended.delivery_count) for _, first, last, _, ended in self._done]

    def commit(self) -> bool:
        """Makes the records that became available acquirable, and moves the start offset. Returns whether it has moved."""
        window = self._window
        for index, first, last, _, ended in self._done:
            if ended.state == RecordState.AVAILABLE:
                window.in_flight.set(index, first, last, ended)
                window.find_next = True
        return window.advance()

    def revert(self) -> None:
        """Restores the former states. Batches that keep runs continue to do so."""
        window = self._window
        for index, first, last, claim, ended in reversed(self._done):
            window.in_flight.set(index, first, last, claim)
            if ended.state in TERMINAL:
                window.complete_count -= window.count_from_start(first, last)


Types = Sequence[int]
Store = Callable[[int, int, Sequence[StateBatch]], None]
"""Stores (start offset, number of complete records, changed ranges). Raises KafkaError if that is not possible."""


class Acknowledgement(NamedTuple):
    """A range of offsets with one type for all of them, or one for each (numbers of `AcknowledgeType`)."""

    first: int
    last: int
    types: Types


class SharePartition:
    """The records of one partition that a share group has in flight. `settings` returns the present settings of the group."""

    def __init__(self, start_offset: int, batches: Sequence[StateBatch], settings: Callable[[], ShareSettings], store: Store) -> None:
        self.window = OffsetWindow()
        self.window.load(start_offset, batches)
        self.alarm_ms: int | None = None
        self._settings = settings
        self._store = store

    # Acquiring

    @property
    def next_fetch_offset(self) -> int:
        """The offset from which on records have to be read."""
        return self.window.next_fetch_offset

    @property
    def can_acquire(self) -> bool:
        """Whether a fetch may return records, because some are available or there is room for more."""
        return self.window.can_acquire(self._settings().max_record_locks)

    def acquire(
        self,
        member_id: str,
        fetch_offset: int,
        fetched: FetchedBatches,
        max_records: int,
        now_ms: int,
        *,
        mode: AcquireMode = AcquireMode.BATCH_OPTIMIZED,
        batch_size: int = 500,
        aborted: Iterable[AbortedTransaction] = (),
    ) -> list[Acquired]:
        """Acquires available records among those that were read at the next fetch offset, and returns their ranges.

        Records of `aborted` transactions are archived instead.
        """
        settings = self._settings()
        acquisition = Acquisition(
            self.window,
            fetched,
            member_id,
            mode=mode,
            batch_size=batch_size,
            delivery_limit=settings.delivery_count_limit,
            deadline_ms=self._lock(now_ms, settings),
        )
        acquired = acquisition.run(fetch_offset, max_records, settings.max_record_locks)
        if transactions := list(aborted):
            for first, last in fetched.aborted_batches(transactions):
                acquired = self._skip(first, last, acquired)
        return acquired

    def _lock(self, now_ms: int, settings: ShareSettings) -> int:
        deadline_ms = now_ms + settings.record_lock_duration_ms
        self.alarm_ms = deadline_ms if self.alarm_ms is None else min(self.alarm_ms, deadline_ms)
        return deadline_ms

    def _skip(self, first: int, last: int, acquired: list[Acquired]) -> list[Acquired]:
        """Archives the acquired offsets from `first` to `last`, and returns the rest of `acquired`."""
        in_flight = self.window.in_flight
        indexes = range(max(0, in_flight.floor(first)), in_flight.floor(last) + 1)
        self.window.archive(first, last + 1, indexes, RecordState.ACQUIRED, counted=True)
        parts = []
        for each in acquired:
            if each.first < first:
                parts.append(each._replace(last=min(each.last, first - 1)))
            if each.last > last:
                parts.append(each._replace(first=max(each.first, last + 1)))
        return parts

    def log_starts_at(self, offset: int) -> None:
        """Gives up the available records before the start of the log."""
        self.window.move_start(offset)

    # Acknowledging

    def acknowledge(self, member_id: str, acknowledgements: Iterable[Acknowledgement], now_ms: int) -> AcquisitionEnds:
        """Ends acquisitions, or renews them. The changes are stored, and have to be committed.

        Raises KafkaError with INVALID_REQUEST, with INVALID_RECORD_STATE if the member has not acquired all these records, or with the
        error of `store`. Only renewals take effect then.
        """
        changes = AcquisitionEnds(self.window, self._settings().delivery_count_limit)
        try:
            for each in acknowledgements:
                if each.last >= self.window.start_offset:
                    self._acknowledge(member_id, each, changes, now_ms)
        except KafkaError:
            changes.revert()
            raise
        return self._store_changes(changes)

    def _acknowledge(self, member_id: str, wanted: Acknowledgement, changes: AcquisitionEnds, now_ms: int) -> None:
        in_flight, start_offset = self.window.in_flight, self.window.start_offset
        for index in self._batches_of(wanted):
            first, last = in_flight.firsts[index], in_flight.lasts[index]
            if last < start_offset:
                continue
            claim = in_flight.states[index]
            whole = wanted.first <= first and last <= wanted.last and len(wanted.types) == 1 and first >= start_offset
            if isinstance(claim, Claim):
                _check_owner(claim, member_id)
            if isinstance(claim, Runs) or not whole:
                runs = in_flight.split(index)
                for run in list(runs.between(max(wanted.first, start_offset), wanted.last)):
                    _check_owner(run[2], member_id)
                    self._decide(index, run, wanted, changes, now_ms)
            else:
                self._decide(index, (first, last, claim), wanted, changes, now_ms)

    def _batches_of(self, wanted: Acknowledgement) -> range:
        """Returns the indexes of the batches in flight with the offsets of an acknowledgement."""
        in_flight, start_offset = self.window.in_flight, self.window.start_offset
        low = in_flight.floor(wanted.first)
        if low < 0 and wanted.first < start_offset <= wanted.last:
            low = in_flight.floor(start_offset)
        if low < 0:
            raise KafkaError(ErrorCode.INVALID_RECORD_STATE, "The offsets are not in flight.")
        high = in_flight.floor(wanted.last)
        if in_flight.lasts[high] < wanted.last:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Some of the offsets are past the acquired records.")
        return range(low, high + 1)

    def _decide(self, index: int, run: Run, wanted: Acknowledgement, changes: AcquisitionEnds, now_ms: int) -> None:
        """Applies the types of an acknowledgement to acquired offsets of a batch that have the same state."""
        first, last, claim = run
        for begin, end, kind in _by_type(first, last, wanted):
            if kind == AcknowledgeType.RENEW:
                self._renew(index, begin, end, claim, now_ms)
            else:
                changes.end(index, begin, end, claim, STATE_AFTER[AcknowledgeType(kind)])

    def _renew(self, index: int, first: int, last: int, claim: Claim, now_ms: int) -> None:
        settings = self._settings()
        if not settings.renew_acknowledge_enabled:
            raise KafkaError(ErrorCode.INVALID_RECORD_STATE, "The group does not allow members to renew their acquisitions.")
        self.window.in_flight.set(index, first, last, claim._replace(deadline_ms=self._lock(now_ms, settings)))

    # The end of sessions and locks

    def release(self, member_id: str) -> None:
        """Makes the records available that a member has acquired, because its session has ended. Raises the error of `store`."""
        changes = AcquisitionEnds(self.window, self._settings().delivery_count_limit)
        for index, run in self._acquired_runs(lambda claim: claim.member_id == member_id):
            changes.end(index, *run, self._state_of(run))
        self._store_changes(changes).commit()

    def expire(self, now_ms: int) -> bool:
        """Makes the records available whose locks have expired, also if that cannot be stored. Returns whether there were any."""
        changes = AcquisitionEnds(self.window, self._settings().delivery_count_limit)
        for index, run in self._acquired_runs(lambda claim: claim.deadline_ms <= now_ms):
            changes.end(index, *run, self._state_of(run))
        self.alarm_ms = min((run[2].deadline_ms for _, run in self._acquired_runs(lambda claim: True)), default=None)
        if not changes:
            return False
        with suppress(KafkaError):
            self._store(self.window.start_offset, self.window.complete_count, changes.batches)
        changes.commit()
        return True

    def _state_of(self, run: Run) -> RecordState:
        """Returns the state of records whose acquisition ends without a decision. Deleted records are archived."""
        return RecordState.ARCHIVED if run[1] < self.window.start_offset else RecordState.AVAILABLE

    def _acquired_runs(self, wanted: Callable[[Claim], bool]) -> Iterator[tuple[int, Run]]:
        """Yields (index of the batch, run) for the acquired records whose state is `wanted`, divided at the start offset."""
        in_flight, start_offset = self.window.in_flight, self.window.start_offset
        for index, (first, last) in enumerate(zip(in_flight.firsts, in_flight.lasts, strict=True)):
            for run in list(in_flight.runs(index)):
                if run[2].state == RecordState.ACQUIRED and wanted(run[2]):
                    if first < start_offset <= last:
                        in_flight.split(index)
                        yield from ((index, part) for part in _divide_run(run, start_offset))
                    else:
                        yield index, run

    def _store_changes(self, changes: AcquisitionEnds) -> AcquisitionEnds:
        if changes:
            try:
                self._store(self.window.start_offset, self.window.complete_count, changes.batches)
            except KafkaError:
                changes.revert()
                raise
        return changes


def _check_owner(claim: Claim, member_id: str) -> None:
    if claim.state != RecordState.ACQUIRED or claim.member_id == NO_MEMBER:
        raise KafkaError(ErrorCode.INVALID_RECORD_STATE, "The records are not acquired.")
    if claim.member_id != member_id:
        raise KafkaError(ErrorCode.INVALID_RECORD_STATE, "The records are acquired by another member.")


def _by_type(first: int, last: int, wanted: Acknowledgement) -> Iterator[tuple[int, int, int]]:
    """Yields (first offset, last offset, type) for the parts of a range with the same type."""
    if len(wanted.types) == 1:
        yield first, last, wanted.types[0]
        return
    begin = first
    for kind, same in groupby(wanted.types[first - wanted.first : last - wanted.first + 1]):
        end = begin + sum(1 for _ in same) - 1
        yield begin, end, kind
        begin = end + 1


def _divide_run(run: Run, start_offset: int) -> list[Run]:
    first, last, claim = run
    if first < start_offset <= last:
        return [(first, start_offset - 1, claim), (start_offset, last, claim)]
    return [run]
