"""Leader epochs: their end offsets, and their removal with the batches."""

from __future__ import annotations

import pytest

from odradek.storage.epochs import LeaderEpochs
from odradek.storage.log import Log
from tests.storage.batches import make_batch


def epochs(*begun: tuple[int, int]) -> LeaderEpochs:
    known = LeaderEpochs()
    for epoch, start_offset in begun:
        known.begin(epoch, start_offset)
    return known


THREE = ((2, 10), (5, 20), (7, 30))


@pytest.mark.parametrize(
    ("epoch", "answer"),
    [
        (-1, (-1, -1)),
        (0, (0, 10)),  # older than all known: the epoch itself and the start of the first one
        (1, (1, 10)),
        (2, (2, 20)),
        (3, (2, 20)),
        (4, (2, 20)),
        (5, (5, 30)),
        (6, (5, 30)),
        (7, (7, 42)),  # the latest ends with the log
        (8, (-1, -1)),
    ],
)
def test_end_offset_for_any_epoch(epoch: int, answer: tuple[int, int]) -> None:
    assert epochs(*THREE).end_offset_for(epoch, 42) == answer


def test_epochs_empty_answer_undefined() -> None:
    known = epochs()
    assert known.latest == -1
    assert [known.end_offset_for(epoch, 0) for epoch in (-1, 0, 1)] == [(-1, -1)] * 3
    assert known.epoch_at(0) == -1
    known.delete_before(5)
    known.truncate_to(0)
    assert known.latest == -1


def test_epoch_at_any_offset() -> None:
    known = epochs(*THREE)
    assert [known.epoch_at(offset) for offset in (0, 9, 10, 19, 20, 29, 30, 1000)] == [-1, -1, 2, 2, 5, 5, 7, 7]


@pytest.mark.parametrize(
    ("begun", "answers"),
    [
        ((7, 35), [(2, 20), (5, 30), (7, 42)]),  # already known, so nothing changes
        ((8, 30), [(2, 20), (5, 30), (5, 30)]),  # epoch 7 got no record
        ((8, 20), [(2, 20), (2, 20), (2, 20)]),
        ((5, 40), [(2, 40), (5, 42), (-1, -1)]),  # an older epoch again, so newer ones are removed
    ],
)
def test_begin_removes_empty_and_newer_epochs(begun: tuple[int, int], answers: list[tuple[int, int]]) -> None:
    known = epochs(*THREE, begun)
    assert known.latest == begun[0]
    assert [known.end_offset_for(epoch, 42) for epoch in (2, 5, 7)] == answers


@pytest.mark.parametrize(
    ("offset", "first"),
    [(9, (1, 10)), (10, (1, 10)), (15, (1, 15)), (20, (1, 20)), (21, (1, 21)), (99, (1, 99))],
)
def test_delete_before_moves_start_of_containing_epoch(offset: int, first: tuple[int, int]) -> None:
    known = epochs(*THREE)
    known.delete_before(offset)
    assert known.end_offset_for(1, 99) == first
    assert known.latest == 7
    assert known.epoch_at(offset) == epochs(*THREE).epoch_at(offset)


@pytest.mark.parametrize(("offset", "latest"), [(31, 7), (30, 5), (21, 5), (20, 2), (10, -1), (0, -1)])
def test_truncate_to_removes_later_epochs(offset: int, latest: int) -> None:
    known = epochs(*THREE)
    known.truncate_to(offset)
    assert known.latest == latest


def test_log_begins_epoch_with_or_without_append() -> None:
    log = Log()
    log.begin_epoch(3)
    assert log.end_offset_for_epoch(3) == (3, 0)
    log.append(make_batch(records=5), 3, owned=False)
    log.append(make_batch(records=5), 4, owned=False)
    log.begin_epoch(6)
    assert [log.end_offset_for_epoch(epoch) for epoch in (3, 4, 5, 6, 7)] == [(3, 5), (4, 10), (4, 10), (6, 10), (-1, -1)]
    assert [log.epoch_at(offset) for offset in (0, 4, 5, 9, 10)] == [3, 3, 4, 4, 6]
    assert log.epoch_start_offset == 10


def test_log_removes_epochs_with_their_batches() -> None:
    log = Log()
    for epoch in (1, 2, 3):
        log.append(make_batch(records=5), epoch, owned=False)
    log.delete_before(7)
    assert log.end_offset_for_epoch(1) == (1, 7)
    log.truncate_to(10)
    assert log.end_offset_for_epoch(3) == (-1, -1)
    assert log.end_offset_for_epoch(2) == (2, 10)
