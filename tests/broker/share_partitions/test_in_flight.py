"""Runs of offsets with their states, and batches in flight."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.share_partitions.in_flight import InFlightBatches, Runs
from odradek.broker.share_partitions.record_state import Claim, RecordState

CLAIMS = (Claim(RecordState.AVAILABLE, 0), Claim(RecordState.ACQUIRED, 1, "m", 5), Claim(RecordState.ACKNOWLEDGED, 1))
LAST = 19


@given(st.lists(st.tuples(st.integers(0, LAST), st.integers(0, LAST), st.sampled_from(CLAIMS)), max_size=30))
def test_runs_equal_a_state_for_each_offset(changes: list[tuple[int, int, Claim]]) -> None:
    runs, expected = Runs(0, LAST, CLAIMS[0]), [CLAIMS[0]] * (LAST + 1)
    for first, last, claim in changes:
        first, last = min(first, last), max(first, last)
        runs.set(first, last, claim)
        expected[first : last + 1] = [claim] * (last - first + 1)
        found = list(runs.between(0, LAST))
        assert [claim for begin, end, claim in found for _ in range(begin, end + 1)] == expected
        assert all(before[2] != after[2] for before, after in pairwise(found)), "equal neighbours share a run"
        assert list(runs.between(first, last)) == [(first, last, claim)]


def test_runs_of_a_billion_offsets_stay_few() -> None:
    runs = Runs(0, 10**9, CLAIMS[0])
    runs.set(5, 10**9 - 5, CLAIMS[2])
    runs.set(0, 4, CLAIMS[2])
    assert [run[:2] for run in runs.between(0, 10**9)] == [(0, 10**9 - 5), (10**9 - 4, 10**9)]


def test_batches_are_found_by_their_offsets() -> None:
    in_flight = InFlightBatches()
    for first, last in ((10, 14), (0, 4), (20, 29)):
        in_flight.put(first, last, CLAIMS[1])
    assert [in_flight.floor(offset) for offset in (-1, 0, 9, 10, 25, 99)] == [-1, 0, 0, 1, 2, 2]
    assert list(in_flight.beginning_in(1, 20)) == [1, 2]
    assert [in_flight.size(index) for index in range(3)] == [5, 5, 10]
    in_flight.put(10, 12, CLAIMS[0])
    assert (list(in_flight.lasts), in_flight.states[1]) == ([4, 12, 29], CLAIMS[0])
    in_flight.drop_first(2)
    assert list(in_flight.firsts) == [20]


@pytest.mark.parametrize(("offset", "claim"), [(0, CLAIMS[1]), (2, CLAIMS[2]), (9, CLAIMS[1])])
def test_batch_that_was_split_keeps_a_state_for_each_offset(offset: int, claim: Claim) -> None:
    in_flight = InFlightBatches()
    in_flight.put(0, 4, CLAIMS[1])
    assert in_flight.claim_at(0, 99) == CLAIMS[1]
    assert in_flight.split(0) is in_flight.split(0)
    in_flight.set(0, 2, 2, CLAIMS[2])
    assert in_flight.claim_at(0, offset) == claim
    assert [run[:2] for run in in_flight.runs(0)] == [(0, 1), (2, 2), (3, 4)]
