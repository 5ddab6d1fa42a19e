from __future__ import annotations

import pytest

from odradek.storage.producer_state import MAX_SEQUENCE
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


def producers(*batches: tuple[int, int, int]) -> Producers:
    """One producer that wrote (epoch, base sequence, last sequence), from offset 100 on, batch n at n ms with timestamp 1000 + n."""
    known, offset = Producers(DAY_MS), 100
    for n, (epoch, base, last) in enumerate(batches):
        count = (last - base) % 2**31 + 1
        known.record(PID, epoch, base, last, offset, offset + count - 1, 1000 + n, n)
        offset += count
    return known


SEVEN = tuple((3, base, base + 9) for base in range(0, 70, 10))


@pytest.mark.parametrize(
    ("epoch", "base", "last"),
    [
        (3, 70, 79),  # the next one
        (4, 0, 5),  # a new epoch begins at 0
        (9, 0, 0),
    ],
)
def test_what_follows_is_appended(epoch: int, base: int, last: int) -> None:
    assert producers(*SEVEN).check(PID, epoch, base, last, 10) is None


@pytest.mark.parametrize("first_sequence", [0, 1, 12345, MAX_SEQUENCE])
def test_an_unknown_producer_may_begin_anywhere(first_sequence: int) -> None:
    assert producers().check(PID, 0, first_sequence, first_sequence, 0) is None
    assert producers(*SEVEN).check(PID + 1, 0, first_sequence, first_sequence, 0) is None


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_the_last_five_batches_are_recognised(n: int) -> None:
    assert producers(*SEVEN).check(PID, 3, n * 10, n * 10 + 9, 10) == Appended(base_offset=100 + n * 10, timestamp=1000 + n)


@pytest.mark.parametrize(
    ("epoch", "base", "last", "expected"),
    [
        (3, 10, 19, 70),  # the sixth last is forgotten
        (3, 60, 68, 70),  # not the same batch
        (3, 61, 69, 70),
        (3, 69, 79, 70),
        (3, 71, 79, 70),
        (3, 0, 5, 70),
        (4, 70, 79, 0),
        (4, 1, 1, 0),
    ],
)
def test_a_gap_or_an_overlap_is_out_of_order(epoch: int, base: int, last: int, expected: int) -> None:
    with pytest.raises(OutOfOrderSequence, match=f"producer 7, epoch {epoch}: .*sequence {base}, expected was {expected}") as raised:
        producers(*SEVEN).check(PID, epoch, base, last, 10)
    assert raised.value.expected == expected


@pytest.mark.parametrize("base", [0, 60, 70])
def test_an_older_epoch_is_refused_whatever_it_brings(base: int) -> None:
    with pytest.raises(StaleProducerEpoch, match="producer 7: epoch 2 is older than the current epoch 3") as raised:
        producers(*SEVEN).check(PID, 2, base, base + 9, 10)
    assert raised.value.expected == 3


def test_batches_of_an_older_epoch_are_no_duplicates_of_the_new_one() -> None:
    known = producers((0, 0, 9), (0, 10, 19), (1, 0, 4))
    with pytest.raises(OutOfOrderSequence):
        known.check(PID, 1, 10, 19, 10)
    with pytest.raises(OutOfOrderSequence):
        known.check(PID, 1, 0, 9, 10)
    assert known.check(PID, 1, 0, 4, 10) == Appended(120, 1002)


@pytest.mark.parametrize(
    ("written", "following"),
    [
        ((0, MAX_SEQUENCE - 1, MAX_SEQUENCE - 1), MAX_SEQUENCE),
        ((0, MAX_SEQUENCE, MAX_SEQUENCE), 0),
        ((0, MAX_SEQUENCE - 2, MAX_SEQUENCE), 0),
        ((0, MAX_SEQUENCE - 2, 1), 2),  # wraps inside the batch
    ],
)
def test_sequences_wrap_around(written: tuple[int, int, int], following: int) -> None:
    known = producers(written)
    assert known.check(PID, 0, following, following, 10) is None
    assert known.check(PID, 0, written[1], written[2], 10) == Appended(100, 1000)
    with pytest.raises(OutOfOrderSequence):
        known.check(PID, 0, following + 1, following + 1, 10)


def test_a_state_is_dropped_only_after_it_was_idle() -> None:
    known = producers((0, 0, 9))
    known.record(PID + 1, 0, 0, 0, 110, 110, -1, 5)
    known.expire(DAY_MS - 1)
    assert len(known) == 2
    known.expire(DAY_MS)
    assert len(known) == 1
    assert known.check(PID, 0, 1234, 1234, DAY_MS) is None
    known.expire(DAY_MS + 5)
    assert len(known) == 0


def test_a_state_that_is_due_counts_as_dropped_before_expire_runs() -> None:
    known = producers((5, 0, 9), (5, 10, 19))
    with pytest.raises(OutOfOrderSequence):
        known.check(PID, 5, 50, 59, DAY_MS)
    assert known.check(PID, 4, 50, 59, DAY_MS + 1) is None
    known.record(PID, 4, 50, 59, 120, 129, -1, DAY_MS + 1)
    assert known.check(PID, 4, 60, 60, DAY_MS + 2) is None
    with pytest.raises(StaleProducerEpoch):
        known.check(PID, 3, 0, 0, DAY_MS + 2)
    known.truncate_to(120)
    assert len(known) == 0  # nothing of the dropped state came back


@pytest.mark.parametrize(
    ("offset", "epoch", "expected"),
    [
        (125, 1, 5),
        (124, 0, 20),  # the batch that holds it goes, and with it the new epoch
        (120, 0, 20),
        (119, 0, 10),
        (110, 0, 10),
    ],
)
def test_truncation_brings_back_the_state_before(offset: int, epoch: int, expected: int) -> None:
    known = producers((0, 0, 9), (0, 10, 19), (1, 0, 4))
    known.truncate_to(offset)
    assert known.check(PID, epoch, expected, expected, 10) is None
    with pytest.raises(OutOfOrderSequence) as raised:
        known.check(PID, epoch, expected + 1, expected + 1, 10)
    assert raised.value.expected == expected


def test_truncation_forgets_a_producer_of_which_nothing_is_left() -> None:
    known = producers((0, 0, 9), (0, 10, 19))
    known.record(PID + 1, 0, 0, 0, 50, 50, -1, 0)
    known.truncate_to(109)
    assert len(known) == 1
    assert known.check(PID, 0, 77, 77, 10) is None
    assert known.check(PID + 1, 0, 0, 0, 10) == Appended(50, -1)


def test_the_last_records_in_the_present_epochs() -> None:
    producers = Producers(1000)
    assert producers.last_records() == {}
    producers.record(1, 0, 0, 4, 10, 14, 0, 0)
    producers.record(2, 0, 0, 0, 15, 15, 0, 0)
    producers.record(1, 0, 5, 5, 16, 16, 0, 0)
    assert producers.last_records() == {1: (16, 0), 2: (15, 0)}
    producers.end_transaction(2, 1, 0, 17, 0, committed=True)
    producers.end_transaction(3, 4, 0, 18, 0, committed=True)
    assert producers.last_records() == {1: (16, 0), 2: (-1, 1), 3: (-1, 4)}


def test_an_epoch_of_none() -> None:
    """-1 is what a producer without one writes: it is known by that, and whatever follows may begin anywhere."""
    producers = Producers(1000)
    with pytest.raises(StaleProducerEpoch):
        producers.check(1, -2, 0, 0, 0)
    producers.record(1, -1, 5, 5, 10, 10, 0, 0)
    assert producers.check(1, 1, 3, 3, 0) is None
    with pytest.raises(StaleProducerEpoch):
        producers.check(1, -2, 0, 0, 0)


def test_an_older_epoch_is_stale() -> None:
    producers = Producers(1000)
    producers.check_epoch(1, 0)
    producers.record(1, 3, 0, 0, 10, 10, 0, 0)
    producers.check_epoch(1, 3)
    with pytest.raises(StaleProducerEpoch):
        producers.check_epoch(1, 2)


def test_ended_transactions_are_forgotten_by_their_markers() -> None:
    producers = Producers(1000)
    for offset in (0, 10):
        producers.record(1, 0, offset, offset, offset, offset, 0, 0, transactional=True)
        producers.end_transaction(1, 0, 0, offset + 1, 0, committed=False)
    assert [ended.first_offset for ended in producers.aborted(0, 20)] == [0, 10]
    producers.forget_ended([])
    producers.forget_ended([1, 5])
    assert [ended.first_offset for ended in producers.aborted(0, 20)] == [10]


def test_a_known_producer_whose_new_ones_must_begin_at_zero_goes_on() -> None:
    known = producers((0, 0, 9))
    assert known.check(PID, 0, 10, 10, 10, new_from_zero=True) is None
    assert known.check(PID + 1, 0, 0, 0, 10, new_from_zero=True) is None
    with pytest.raises(OutOfOrderSequence, match="sequence 1, expected was 0"):
        known.check(PID + 1, 0, 1, 1, 10, new_from_zero=True)


def test_truncation_into_batches_that_were_not_remembered_any_more_keeps_an_open_transaction() -> None:
    known = opened((PID, 100))
    for n in range(1, 7):
        known.record(PID, 0, n, n, 100 + n, 100 + n, -1, n, transactional=True)
    known.truncate_to(101)
    assert known.first_open_offset == 100
    assert known.check(PID, 0, 2, 2, 10, transactional=True) is None  # the oldest that was remembered


# Transactions


def opened(*transactions: tuple[int, int]) -> Producers:
    """(producer id, first offset) of transactions with one record each."""
    known = Producers(DAY_MS)
    for producer_id, offset in transactions:
        known.record(producer_id, 0, 0, 0, offset, offset, -1, 0, transactional=True)
    return known


def test_a_transaction_is_open_from_its_first_batch_to_its_marker() -> None:
    known = Producers(DAY_MS)
    assert (known.first_open_offset, known.open_since(PID), known.continues(PID, 0)) == (None, -1, False)
    known.record(PID, 0, 0, 0, 10, 10, -1, 0, transactional=True)
    known.record(PID, 0, 1, 1, 11, 11, -1, 0, transactional=True)
    assert (known.first_open_offset, known.open_since(PID), known.continues(PID, 0), known.continues(PID, 1)) == (10, 10, True, False)
    known.end_transaction(PID, 0, 0, 12, 5, committed=True)
    assert (known.first_open_offset, known.open_since(PID), known.continues(PID, 0)) == (None, -1, False)


def test_the_earliest_open_transaction_counts() -> None:
    known = opened((1, 10), (2, 20), (3, 30))
    offsets = []
    for producer_id, marker in ((2, 40), (1, 41), (3, 42)):
        offsets.append(known.first_open_offset)
        known.end_transaction(producer_id, 0, 0, marker, 0, committed=False)
    assert [*offsets, known.first_open_offset] == [10, 10, 30, None]


def test_a_producer_within_a_transaction_writes_nothing_beside_it() -> None:
    known = opened((PID, 0))
    with pytest.raises(TransactionIsOpen, match="producer 7 has an open transaction"):
        known.check(PID, 0, 1, 1, 10)
    assert known.check(PID, 0, 1, 1, 10, transactional=True) is None
    assert known.check(PID + 1, 0, 0, 0, 10) is None


def test_a_marker_of_a_new_epoch_lets_sequences_begin_anew() -> None:
    known = opened((PID, 0))
    known.end_transaction(PID, 1, 0, 1, 10, committed=True)
    assert known.check(PID, 1, 0, 0, 10, transactional=True) is None
    with pytest.raises(OutOfOrderSequence, match="expected was 0"):
        known.check(PID, 1, 1, 1, 10)
    with pytest.raises(StaleProducerEpoch):
        known.check(PID, 0, 1, 1, 10)


def test_a_marker_of_the_same_epoch_lets_them_go_on() -> None:
    known = opened((PID, 0))
    known.end_transaction(PID, 0, 0, 1, 10, committed=True)
    assert known.check(PID, 0, 1, 1, 10) is None
    assert known.check(PID, 0, 0, 0, 10) == Appended(0, -1)


def test_a_marker_makes_an_unknown_producer_known() -> None:
    known = Producers(DAY_MS)
    known.check_marker(PID, 3, 5, raises_epoch=True)
    known.end_transaction(PID, 3, 5, 0, 77, committed=False)
    ((producer_id, state),) = known
    assert (producer_id, state.epoch, state.last_batch, state.timestamp, state.coordinator_epoch) == (PID, 3, None, 77, 5)
    assert known.aborted(0, 10) == []


def test_late_markers_are_refused() -> None:
    known = opened((PID, 0))
    known.end_transaction(PID, 4, 7, 1, 10, committed=True)
    with pytest.raises(StaleProducerEpoch):
        known.check_marker(PID, 3, 7, raises_epoch=False)
    with pytest.raises(StaleCoordinatorEpoch, match="producer 7: coordinator epoch 6 is older than the known epoch 7") as raised:
        known.check_marker(PID, 4, 6, raises_epoch=False)
    assert raised.value.expected == 7
    known.check_marker(PID, 4, 7, raises_epoch=True)  # was written already: again is no harm
    known.record(PID, 4, 0, 0, 2, 2, -1, 10, transactional=True)
    known.check_marker(PID, 4, 7, raises_epoch=False)
    known.check_marker(PID, 5, 7, raises_epoch=True)
    with pytest.raises(StaleProducerEpoch):
        known.check_marker(PID, 4, 7, raises_epoch=True)


def interleaved() -> Producers:
    """Transactions of 1 at 0-6 (committed), 2 at 1-5 (aborted), 3 at 3-7 (aborted), 2 again at 8-9 (aborted), 4 from 10 (open)."""
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
def test_a_reader_is_told_the_aborted_transactions_of_its_range(start: int, end: int, expected: list[tuple[int, int]]) -> None:
    assert [(ended.producer_id, ended.first_offset) for ended in interleaved().aborted(start, end)] == expected


def test_deleted_records_take_their_transactions_along() -> None:
    known = interleaved()
    known.delete_before(7)
    assert [ended.last_offset for ended in known.aborted(0, 10)] == [7, 9]
    known.delete_before(100)
    assert known.aborted(0, 10) == []
    assert known.first_open_offset == 10  # Kafka keeps it open too
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
def test_truncation_opens_again_what_lost_its_marker(offset: int, first_open: int | None, aborted: list[int]) -> None:
    known = interleaved()
    known.truncate_to(offset)
    assert known.first_open_offset == first_open
    assert [ended.last_offset for ended in known.aborted(0, 100)] == aborted


def test_an_open_transaction_keeps_its_producer() -> None:
    known = opened((PID, 0), (PID + 1, 1))
    known.end_transaction(PID + 1, 0, 0, 2, 0, committed=True)
    known.expire(10 * DAY_MS)
    assert [producer_id for producer_id, _ in known] == [PID]
    with pytest.raises(OutOfOrderSequence):
        known.check(PID, 0, 5, 5, 10 * DAY_MS, transactional=True)
    known.record(PID, 0, 1, 1, 3, 3, -1, 10 * DAY_MS, transactional=True)
    assert known.open_since(PID) == 0
    assert known.check(PID, 0, 0, 0, 10 * DAY_MS, transactional=True) == Appended(0, -1)


def test_what_was_refused_is_not_overtaken() -> None:
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


def test_truncation_behind_a_marker_keeps_what_it_said() -> None:
    for known in (opened((PID, 0)), Producers(DAY_MS)):
        known.end_transaction(PID, 5, 2, 1, 10, committed=True)
        known.truncate_to(2)
        ((_, state),) = known
        assert (state.epoch, state.next_sequence, state.coordinator_epoch) == (5, 0, 2)


def test_truncation_of_a_marker_brings_the_epoch_before_it_back() -> None:
    known = opened((PID, 0))
    known.end_transaction(PID, 5, 2, 1, 10, committed=True)
    known.end_transaction(PID + 1, 5, 2, 2, 10, committed=True)
    known.truncate_to(1)
    ((producer_id, state),) = known  # of the other one nothing is left
    assert (producer_id, state.epoch, state.next_sequence) == (PID, 0, 1)
    assert known.continues(PID, 0)
