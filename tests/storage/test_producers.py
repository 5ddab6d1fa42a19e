from __future__ import annotations

import pytest

from odradek.storage.producers import MAX_SEQUENCE, Duplicate, OutOfOrderSequence, Producers, ProducerState, StaleProducerEpoch

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
    assert producers(*SEVEN).check(PID, 3, n * 10, n * 10 + 9, 10) == Duplicate(base_offset=100 + n * 10, timestamp=1000 + n)


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
    assert known.check(PID, 1, 0, 4, 10) == Duplicate(120, 1002)


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
    assert known.check(PID, 0, written[1], written[2], 10) == Duplicate(100, 1000)
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
    assert known.check(PID + 1, 0, 0, 0, 10) == Duplicate(50, -1)


def test_where_the_last_batches_end() -> None:
    producers = Producers(1000)
    assert producers.last_offsets() == {}
    producers.record(1, 0, 0, 4, 10, 14, 0, 0)
    producers.record(2, 0, 0, 0, 15, 15, 0, 0)
    producers.record(1, 0, 5, 5, 16, 16, 0, 0)
    assert producers.last_offsets() == {1: 16, 2: 15}
    producers._states[3] = ProducerState()  # known, but nothing of what it wrote
    assert producers.last_offsets() == {1: 16, 2: 15}
