"""Producers of a partition: sequence numbers, epochs, expiration and truncation."""

from __future__ import annotations

import pytest

from odradek.storage.producer_state import MAX_SEQUENCE
from odradek.storage.producers import (
    Appended,
    OutOfOrderSequence,
    Producers,
    StaleProducerEpoch,
)

DAY_MS = 86_400_000
PID = 7


def producers(*batches: tuple[int, int, int]) -> Producers:
    """Returns the state after one producer has written some batches, given as (epoch, base sequence, last sequence).

    The first offset is 100. Batch n is written at n ms with timestamp 1000 + n.
    """
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
        (4, 0, 5),  # a new epoch, which begins at 0
        (9, 0, 0),
    ],
)
def test_check_next_sequence_is_accepted(epoch: int, base: int, last: int) -> None:
    assert producers(*SEVEN).check(PID, epoch, base, last, 10) is None


@pytest.mark.parametrize("first_sequence", [0, 1, 12345, MAX_SEQUENCE])
def test_check_unknown_producer_may_begin_anywhere(first_sequence: int) -> None:
    assert producers().check(PID, 0, first_sequence, first_sequence, 0) is None
    assert producers(*SEVEN).check(PID + 1, 0, first_sequence, first_sequence, 0) is None


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_check_one_of_last_five_batches_is_found(n: int) -> None:
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
def test_check_gap_or_overlap_is_out_of_order(epoch: int, base: int, last: int, expected: int) -> None:
    with pytest.raises(OutOfOrderSequence, match=f"producer 7, epoch {epoch}: .*sequence {base}, expected was {expected}") as raised:
        producers(*SEVEN).check(PID, epoch, base, last, 10)
    assert raised.value.expected == expected


@pytest.mark.parametrize("base", [0, 60, 70])
def test_check_older_epoch_is_stale(base: int) -> None:
    with pytest.raises(StaleProducerEpoch, match="producer 7: epoch 2 is older than the current epoch 3") as raised:
        producers(*SEVEN).check(PID, 2, base, base + 9, 10)
    assert raised.value.expected == 3


def test_check_batch_of_older_epoch_is_no_duplicate() -> None:
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
def test_check_sequence_wraps_around(written: tuple[int, int, int], following: int) -> None:
    known = producers(written)
    assert known.check(PID, 0, following, following, 10) is None
    assert known.check(PID, 0, written[1], written[2], 10) == Appended(100, 1000)
    with pytest.raises(OutOfOrderSequence):
        known.check(PID, 0, following + 1, following + 1, 10)


def test_expire_removes_idle_state_only() -> None:
    known = producers((0, 0, 9))
    known.record(PID + 1, 0, 0, 0, 110, 110, -1, 5)
    known.expire(DAY_MS - 1)
    assert len(known) == 2
    known.expire(DAY_MS)
    assert len(known) == 1
    assert known.check(PID, 0, 1234, 1234, DAY_MS) is None
    known.expire(DAY_MS + 5)
    assert len(known) == 0


def test_check_expired_state_is_ignored_before_expire_runs() -> None:
    known = producers((5, 0, 9), (5, 10, 19))
    with pytest.raises(OutOfOrderSequence):
        known.check(PID, 5, 50, 59, DAY_MS)
    assert known.check(PID, 4, 50, 59, DAY_MS + 1) is None
    known.record(PID, 4, 50, 59, 120, 129, -1, DAY_MS + 1)
    assert known.check(PID, 4, 60, 60, DAY_MS + 2) is None
    with pytest.raises(StaleProducerEpoch):
        known.check(PID, 3, 0, 0, DAY_MS + 2)
    known.truncate_to(120)
    assert len(known) == 0  # no part of the expired state came back


@pytest.mark.parametrize(
    ("offset", "epoch", "expected"),
    [
        (125, 1, 5),
        (124, 0, 20),  # the batch that contains it is removed, and the new epoch with it
        (120, 0, 20),
        (119, 0, 10),
        (110, 0, 10),
    ],
)
def test_truncate_restores_earlier_state(offset: int, epoch: int, expected: int) -> None:
    known = producers((0, 0, 9), (0, 10, 19), (1, 0, 4))
    known.truncate_to(offset)
    assert known.check(PID, epoch, expected, expected, 10) is None
    with pytest.raises(OutOfOrderSequence) as raised:
        known.check(PID, epoch, expected + 1, expected + 1, 10)
    assert raised.value.expected == expected


def test_truncate_of_all_cached_batches_keeps_the_sequence() -> None:
    """A new leader lacks the five batches in flight. The client must send the first one first."""
    known = producers(*((0, sequence, sequence) for sequence in range(7)))
    known.truncate_to(102)
    assert known.check(PID, 0, 2, 2, 10) is None
    with pytest.raises(OutOfOrderSequence):
        known.check(PID, 0, 3, 3, 10)


def test_truncate_removes_producer_without_batches() -> None:
    known = producers((0, 0, 9), (0, 10, 19))
    known.record(PID + 1, 0, 0, 0, 50, 50, -1, 0)
    known.truncate_to(109)
    assert len(known) == 1
    assert known.check(PID, 0, 77, 77, 10) is None
    assert known.check(PID + 1, 0, 0, 0, 10) == Appended(50, -1)


def test_last_records_are_those_of_current_epochs() -> None:
    producers = Producers(1000)
    assert producers.last_records() == {}
    producers.record(1, 0, 0, 4, 10, 14, 0, 0)
    producers.record(2, 0, 0, 0, 15, 15, 0, 0)
    producers.record(1, 0, 5, 5, 16, 16, 0, 0)
    assert producers.last_records() == {1: (16, 0), 2: (15, 0)}
    producers.end_transaction(2, 1, 0, 17, 0, committed=True)
    producers.end_transaction(3, 4, 0, 18, 0, committed=True)
    assert producers.last_records() == {1: (16, 0), 2: (-1, 1), 3: (-1, 4)}


@pytest.mark.parametrize(
    ("producer_id", "epoch", "base", "now_ms", "continues"),
    [
        (PID, 3, 70, 10, True),
        (PID, 3, 60, 10, False),  # a duplicate
        (PID, 3, 71, 10, False),
        (PID, 4, 0, 10, False),  # check would accept a new epoch
        (PID + 1, 3, 70, 10, False),
        (PID, 3, 70, DAY_MS + 6, False),  # expired
    ],
)
def test_continues_at_concerns_the_next_batch_only(producer_id: int, epoch: int, base: int, now_ms: int, continues: bool) -> None:
    known = producers(*SEVEN)
    assert known.continues_at(producer_id, epoch, base, now_ms) == continues
    if continues:
        assert known.check(producer_id, epoch, base, base, now_ms) is None


def test_continues_at_is_false_in_a_transaction() -> None:
    known = producers(*SEVEN)
    known.record(PID, 3, 70, 79, 500, 509, 1000, 10, transactional=True)
    assert not known.continues_at(PID, 3, 80, 10)


def test_check_epoch_minus_one_is_valid() -> None:
    """A producer without an epoch writes -1. A batch with an epoch may follow at any sequence number."""
    producers = Producers(1000)
    with pytest.raises(StaleProducerEpoch):
        producers.check(1, -2, 0, 0, 0)
    producers.record(1, -1, 5, 5, 10, 10, 0, 0)
    assert producers.check(1, 1, 3, 3, 0) is None
    with pytest.raises(StaleProducerEpoch):
        producers.check(1, -2, 0, 0, 0)


def test_check_epoch_older_raises() -> None:
    producers = Producers(1000)
    producers.check_epoch(1, 0)
    producers.record(1, 3, 0, 0, 10, 10, 0, 0)
    producers.check_epoch(1, 3)
    with pytest.raises(StaleProducerEpoch):
        producers.check_epoch(1, 2)


def test_check_new_from_zero_concerns_unknown_producers_only() -> None:
    known = producers((0, 0, 9))
    assert known.check(PID, 0, 10, 10, 10, new_from_zero=True) is None
    assert known.check(PID + 1, 0, 0, 0, 10, new_from_zero=True) is None
    with pytest.raises(OutOfOrderSequence, match="sequence 1, expected was 0"):
        known.check(PID + 1, 0, 1, 1, 10, new_from_zero=True)
