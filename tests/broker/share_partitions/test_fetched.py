"""Batches that were read from the log: extents, parts, and those of aborted transactions."""

from __future__ import annotations

import pytest

from odradek.broker.share_partitions.fetched import AbortedTransaction, FetchedBatches
from odradek.protocol.batches.record_builder import build_marker
from tests.broker.harness import a_batch
from tests.broker.share_partitions.scene import batches_of


def test_extents_are_those_of_the_batches() -> None:
    batches = batches_of(0, 5, 7)
    assert (batches.firsts, batches.lasts, len(batches)) == ([0, 5], [4, 6], 2)
    assert [batches.end_of_batch_with(offset) for offset in (-1, 0, 3, 5, 9)] == [-1, 4, 4, 6, 9]
    assert [batches.first_at_or_after(offset) for offset in (0, 1, 5, 6)] == [0, 5, 5, None]


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [(0, 14, [0, 5, 10]), (0, 4, [0]), (3, 5, [0, 5]), (9, 20, [5, 10]), (12, 12, [10])],
)
def test_part_has_the_batches_of_a_range(first: int, last: int, expected: list[int]) -> None:
    batches = batches_of(0, 5, 10, 15)
    assert FetchedBatches(batches.part(first, last)).firsts == expected


def test_part_spans_the_views_of_several_segments() -> None:
    views = [*batches_of(0, 5, 10).views, *batches_of(10, 15, 20).views]
    batches = FetchedBatches(views)
    assert FetchedBatches(batches.part(6, 12)).firsts == [5, 10]
    assert len(batches.part(0, 4)) == 1


def test_aborted_batches_end_at_the_marker() -> None:
    parts, offset = [], 0
    transactional = {"producer_epoch": 0, "base_sequence": 0, "is_transactional": True}
    for batch in (
        a_batch(b"plain"),
        a_batch(b"aborted", b"too", producer_id=1, **transactional),
        a_batch(b"other", producer_id=2, **transactional),
        build_marker(1, 0, 0, 0, committed=False),
        a_batch(b"next", producer_id=1, **transactional),
        build_marker(1, 0, 0, 0, committed=True),
    ):
        parts.append(offset.to_bytes(8, "big") + bytes(batch[8:]))
        offset += int.from_bytes(batch[23:27], "big") + 1
    fetched = FetchedBatches([memoryview(b"".join(parts))])
    assert list(fetched.aborted_batches([AbortedTransaction(1, 1)])) == [(1, 2)]
    assert list(fetched.aborted_batches([])) == []
