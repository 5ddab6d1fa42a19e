"""Transactions of a partition and their markers, through the methods of Producers."""

from __future__ import annotations

import pytest

from odradek.storage.producers import (
    Appended,
    OutOfOrderSequence,
    Producers,
    StaleCoordinatorEpoch,
    StaleProducerEpoch,
    TransactionIsOpen,
)

DAY_MS = 86_400_000
PID = 7


def opened(*transactions: tuple[int, int]) -> Producers:
    """Returns the state with open transactions of one record each, given as (producer id, first offset)."""
    known = Producers(DAY_MS)
    for producer_id, offset in transactions:
        known.record(producer_id, 0, 0, 0, offset, offset, -1, 0, transactional=True)
    return known


def first_open_offset(known: Producers) -> int | None:
    return next(iter(known.open.values()), None)


def test_transaction_is_open_from_first_batch_to_marker() -> None:
    known = Producers(DAY_MS)
    assert (first_open_offset(known), known.open_since(PID), known.continues(PID, 0)) == (None, -1, False)
    known.record(PID, 0, 0, 0, 10, 10, -1, 0, transactional=True)
    known.record(PID, 0, 1, 1, 11, 11, -1, 0, transactional=True)
    assert (first_open_offset(known), known.open_since(PID), known.continues(PID, 0), known.continues(PID, 1)) == (10, 10, True, False)
    known.end_transaction(PID, 0, 0, 12, 5, committed=True)
    assert (first_open_offset(known), known.open_since(PID), known.continues(PID, 0)) == (None, -1, False)


def test_first_open_offset_is_that_of_earliest_transaction() -> None:
    known = opened((1, 10), (2, 20), (3, 30))
    offsets = []
    for producer_id, marker in ((2, 40), (1, 41), (3, 42)):
        offsets.append(first_open_offset(known))
        known.end_transaction(producer_id, 0, 0, marker, 0, committed=False)
    assert [*offsets, first_open_offset(known)] == [10, 10, 30, None]


def test_first_undecided_before_counts_markers_beyond_the_end() -> None:
    known = opened((1, 10), (2, 20), (3, 30))
    known.end_transaction(1, 0, 0, 40, 0, committed=True)
    known.end_transaction(2, 0, 0, 41, 0, committed=False)
    assert [known.first_undecided_before(end) for end in (10, 11, 40, 41, 42)] == [None, 10, 10, 20, 30]
    known.end_transaction(3, 0, 0, 42, 0, committed=True)
    assert [known.first_undecided_before(end) for end in (42, 43)] == [30, None]


def test_check_other_batch_during_transaction_raises() -> None:
    known = opened((PID, 0))
    with pytest.raises(TransactionIsOpen, match="producer 7 has an open transaction"):
        known.check(PID, 0, 1, 1, 10)
    assert known.check(PID, 0, 1, 1, 10, transactional=True) is None
    assert known.check(PID + 1, 0, 0, 0, 10) is None


def test_marker_of_new_epoch_resets_sequences() -> None:
    known = opened((PID, 0))
    known.end_transaction(PID, 1, 0, 1, 10, committed=True)
    assert known.check(PID, 1, 0, 0, 10, transactional=True) is None
    with pytest.raises(OutOfOrderSequence, match="expected was 0"):
        known.check(PID, 1, 1, 1, 10)
    with pytest.raises(StaleProducerEpoch):
        known.check(PID, 0, 1, 1, 10)


def test_marker_of_same_epoch_continues_sequences() -> None:
    known = opened((PID, 0))
    known.end_transaction(PID, 0, 0, 1, 10, committed=True)
    assert known.check(PID, 0, 1, 1, 10) is None
    assert known.check(PID, 0, 0, 0, 10) == Appended(0, -1)


def test_marker_of_unknown_producer_creates_state() -> None:
    known = Producers(DAY_MS)
    known.check_marker(PID, 3, 5, raises_epoch=True)
    known.end_transaction(PID, 3, 5, 0, 77, committed=False)
    ((producer_id, state),) = known
    assert (producer_id, state.epoch, state.last_batch, state.timestamp, state.coordinator_epoch) == (PID, 3, None, 77, 5)
    assert known.aborted(0, 10) == []


def test_check_marker_late_marker_raises() -> None:
    known = opened((PID, 0))
    known.end_transaction(PID, 4, 7, 1, 10, committed=True)
    with pytest.raises(StaleProducerEpoch):
        known.check_marker(PID, 3, 7, raises_epoch=False)
    with pytest.raises(StaleCoordinatorEpoch, match="producer 7: coordinator epoch 6 is older than the known epoch 7") as raised:
        known.check_marker(PID, 4, 6, raises_epoch=False)
    assert raised.value.expected == 7
    known.check_marker(PID, 4, 7, raises_epoch=True)  # the marker is in the log already, and may be written again
    known.record(PID, 4, 0, 0, 2, 2, -1, 10, transactional=True)
    known.check_marker(PID, 4, 7, raises_epoch=False)
    known.check_marker(PID, 5, 7, raises_epoch=True)
    with pytest.raises(StaleProducerEpoch):
        known.check_marker(PID, 4, 7, raises_epoch=True)


def interleaved() -> Producers:
    """Returns the state with transactions of producers 1 (0-6, committed), 2 (1-5 and 8-9, aborted), 3 (3-7, aborted), 4 (10, open)."""
    known = opened((1, 0), (2, 1), (3, 3))
    known.end_transaction(2, 0, 0, 5, 0, committed=False)
    known.end_transaction(1, 0, 0, 6, 0, committed=True)
    known.end_transaction(3, 0, 0, 7, 0, committed=False)
    known.record(2, 0, 1, 1, 8, 8, -1, 0, transactional=True)
    known.end_transaction(2, 0, 0, 9, 0, committed=False)
    known.record(4, 0, 0, 0, 10, 10, -1, 0, transactional=True)
    return known


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0, 10, [(2, 1), (3, 3), (2, 8)]),
        (0, 8, [(2, 1), (3, 3)]),
        (0, 1, []),
        (0, 2, [(2, 1)]),
        (5, 10, [(2, 1), (3, 3), (2, 8)]),
        (6, 8, [(3, 3)]),
        (7, 9, [(3, 3), (2, 8)]),
        (8, 10, [(2, 8)]),
        (10, 11, []),
    ],
)
def test_aborted_returns_transactions_in_range(start: int, end: int, expected: list[tuple[int, int]]) -> None:
    assert [(ended.producer_id, ended.first_offset) for ended in interleaved().aborted(start, end)] == expected


def test_delete_before_removes_ended_transactions() -> None:
    known = interleaved()
    known.delete_before(7)
    assert [ended.last_offset for ended in known.aborted(0, 10)] == [7, 9]
    known.delete_before(100)
    assert known.aborted(0, 10) == []
    assert first_open_offset(known) == 10  # Kafka keeps it open too
    assert len(known) == 4


@pytest.mark.parametrize(
    ("offset", "first_open", "aborted"),
    [
        (11, 10, [5, 7, 9]),
        (10, None, [5, 7, 9]),
        (9, 8, [5, 7]),
        (7, 3, [5]),
        (6, 0, [5]),
        (5, 0, []),
        (1, 0, []),
        (0, None, []),
    ],
)
def test_truncate_reopens_transaction_without_marker(offset: int, first_open: int | None, aborted: list[int]) -> None:
    known = interleaved()
    known.truncate_to(offset)
    assert first_open_offset(known) == first_open
    assert [ended.last_offset for ended in known.aborted(0, 100)] == aborted


def test_expire_keeps_producer_with_open_transaction() -> None:
    known = opened((PID, 0), (PID + 1, 1))
    known.end_transaction(PID + 1, 0, 0, 2, 0, committed=True)
    known.expire(10 * DAY_MS)
    assert [producer_id for producer_id, _ in known] == [PID]
    with pytest.raises(OutOfOrderSequence):
        known.check(PID, 0, 5, 5, 10 * DAY_MS, transactional=True)
    known.record(PID, 0, 1, 1, 3, 3, -1, 10 * DAY_MS, transactional=True)
    assert known.open_since(PID) == 0
    assert known.check(PID, 0, 0, 0, 10 * DAY_MS, transactional=True) == Appended(0, -1)


def test_check_batch_after_refused_one_raises() -> None:
    known = Producers(DAY_MS)
    for epoch, sequence in ((1, 5), (1, 3), (1, 4), (0, 1)):
        known.refuse(PID, epoch, sequence, 0)
    with pytest.raises(OutOfOrderSequence, match="begins at sequence 4, expected was 3"):
        known.check(PID, 1, 4, 4, 0, transactional=True)
    assert known.check(PID, 1, 4, 4, 0) is None  # not part of a transaction
    assert known.check(PID, 2, 4, 4, 0, transactional=True) is None
    assert known.check(PID, 1, 3, 3, 0, transactional=True) is None
    known.record(PID, 1, 3, 3, 0, 0, -1, 0, transactional=True)
    assert known.check(PID, 1, 4, 4, 0, transactional=True) is None
    known.refuse(PID, 2, 3, 0)
    known.end_transaction(PID, 2, 0, 1, 0, committed=False)
    assert known.check(PID, 2, 0, 0, 0, transactional=True) is None
    known.refuse(PID + 1, 0, 0, 0)
    known.expire(DAY_MS - 1)
    with pytest.raises(OutOfOrderSequence):
        known.check(PID + 1, 0, 1, 1, 0, transactional=True)
    known.expire(DAY_MS)
    assert known.check(PID + 1, 0, 1, 1, 0, transactional=True) is None


def test_truncate_after_marker_keeps_its_state() -> None:
    for known in (opened((PID, 0)), Producers(DAY_MS)):
        known.end_transaction(PID, 5, 2, 1, 10, committed=True)
        known.truncate_to(2)
        ((_, state),) = known
        assert (state.epoch, state.next_sequence, state.coordinator_epoch) == (5, 0, 2)


def test_truncate_marker_restores_earlier_epoch() -> None:
    known = opened((PID, 0))
    known.end_transaction(PID, 5, 2, 1, 10, committed=True)
    known.end_transaction(PID + 1, 5, 2, 2, 10, committed=True)
    known.truncate_to(1)
    ((producer_id, state),) = known  # the state of the other producer is removed
    assert (producer_id, state.epoch, state.next_sequence) == (PID, 0, 1)
    assert known.continues(PID, 0)


def test_forget_ended_removes_by_marker_offset() -> None:
    producers = Producers(1000)
    for offset in (0, 10):
        producers.record(1, 0, offset, offset, offset, offset, 0, 0, transactional=True)
        producers.end_transaction(1, 0, 0, offset + 1, 0, committed=False)
    assert [ended.first_offset for ended in producers.aborted(0, 20)] == [0, 10]
    producers.forget_ended([])
    producers.forget_ended([1, 5])
    assert [ended.first_offset for ended in producers.aborted(0, 20)] == [10]


def test_truncate_into_uncached_batches_keeps_transaction() -> None:
    known = opened((PID, 100))
    for n in range(1, 7):
        known.record(PID, 0, n, n, 100 + n, 100 + n, -1, n, transactional=True)
    known.truncate_to(101)
    assert first_open_offset(known) == 100
    assert known.check(PID, 0, 2, 2, 10, transactional=True) is None  # the oldest cached batch


def test_is_committed_follows_each_transaction() -> None:
    known = opened((PID, 0), (8, 1))
    known.end_transaction(PID, 0, 0, 2, 0, committed=False)
    known.end_transaction(8, 0, 0, 3, 0, committed=True)
    known.record(PID, 0, 1, 1, 4, 4, -1, 0, transactional=True)
    assert [known.is_committed(PID, 0), known.is_committed(8, 1), known.is_committed(PID, 4)] == [False, True, None]
    assert known.is_committed(9, 1)
