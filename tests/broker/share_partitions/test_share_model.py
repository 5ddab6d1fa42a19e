"""A share partition with arbitrary members, acknowledgements, failures and restarts, beside a model with a state for each record."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from odradek.broker.share_partitions.acquisition import AcquireMode
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.broker.share_partitions.scene import Scene

pytestmark = pytest.mark.timeout(900)

GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)
BOUNDS = (0, 1, 4, 10, 11, 16, 17, 18, 25, 30)
LIMIT = 3
members = st.sampled_from(("a", "b", "c"))
offsets = st.integers(0, BOUNDS[-1] + 1)


class ShareModel(RuleBasedStateMachine):
    """`holders` are the members that hold records by the last response; `deliveries` counts deliveries; `done` is accepted or rejected."""

    def __init__(self) -> None:
        super().__init__()
        self.scene = Scene(*BOUNDS, delivery_count_limit=LIMIT, max_record_locks=20)
        self.holders: dict[int, str] = {}
        self.deliveries: dict[int, int] = {}
        self.done: set[int] = set()
        self.start_offset = self.end_offset = self.log_start = 0

    @rule(member=members, most=st.integers(1, 12), mode=st.sampled_from(AcquireMode), size=st.integers(1, 8))
    def acquire(self, member: str, most: int, mode: AcquireMode, size: int) -> None:
        acquired = self.scene.acquire(member, most, mode=mode, batch_size=size)
        count = sum(last - first + 1 for first, last, _ in acquired)
        assert mode == AcquireMode.BATCH_OPTIMIZED or count <= most
        for first, last, delivery_count in acquired:
            for offset in range(first, last + 1):
                assert offset not in self.holders, "a record is held by one member"
                assert offset not in self.done, "a record is not delivered after it was accepted"
                assert delivery_count <= LIMIT
                self.deliveries[offset] = self.deliveries.get(offset, 0) + 1
                self.holders[offset] = member

    @rule(
        member=members, first=offsets, length=st.integers(1, 12), types=st.lists(st.sampled_from((0, 1, 2, 3, 4)), min_size=1, max_size=12)
    )
    def acknowledge(self, member: str, first: int, length: int, types: list[int]) -> None:
        last = first + length - 1
        types = types[:1] if len(types) != length else types
        wanted = range(max(first, self.scene.partition.window.start_offset), last + 1)
        held = all(self.holders.get(offset) == member for offset in wanted)
        before = self.scene.states
        try:
            self.scene.acknowledge(first, last, *types, member_id=member)
        except KafkaError as error:
            assert not held
            assert error.code in (ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_RECORD_STATE)
            assert self.scene.states == before, "a refused acknowledgement changes nothing"
            return
        assert held or not wanted
        for offset in wanted:
            kind = types[0] if len(types) == 1 else types[offset - first]
            if kind != RENEW:
                del self.holders[offset]
            if kind in (GAP, ACCEPT, REJECT):
                self.done.add(offset)

    @rule(member=members)
    def leave(self, member: str) -> None:
        self.scene.partition.release(member)
        self.holders = {offset: holder for offset, holder in self.holders.items() if holder != member}

    @rule(milliseconds=st.integers(1, 40_000))
    def wait(self, milliseconds: int) -> None:
        self.scene.advance(milliseconds)
        in_flight = self.scene.partition.window.in_flight
        held = {
            offset
            for index in range(len(in_flight))
            for first, last, claim in in_flight.runs(index)
            if claim.member_id
            for offset in range(first, last + 1)
        }
        assert held <= self.holders.keys()
        self.holders = {offset: holder for offset, holder in self.holders.items() if offset in held}

    @rule()
    def restart(self) -> None:
        self.scene.load()
        for offset in self.holders:  # these deliveries are not stored
            self.deliveries[offset] -= 1
        self.holders.clear()
        self.start_offset = min(self.start_offset, self.scene.start_offset)
        self.end_offset = 0

    @rule(offset=offsets)
    def delete(self, offset: int) -> None:
        self.log_start = max(self.log_start, min(offset, BOUNDS[-1]))
        self.scene.extents = [extent for extent in self.scene.extents if extent[1] > self.log_start]
        self.scene.partition.log_starts_at(self.log_start)

    @invariant()
    def offsets_only_grow(self) -> None:
        window = self.scene.partition.window
        assert window.start_offset >= self.start_offset
        assert window.end_offset >= self.end_offset
        self.start_offset, self.end_offset = window.start_offset, window.end_offset

    @invariant()
    def records_are_not_lost(self) -> None:
        """Each record before the end is done, held, available, deleted, or was delivered as often as allowed."""
        window = self.scene.partition.window
        for offset in range(self.log_start, window.start_offset):
            assert offset in self.done or self.deliveries.get(offset, 0) >= LIMIT or offset < self.log_start

    @invariant()
    def counts_are_true(self) -> None:
        window = self.scene.partition.window
        terminal = sum(
            window.count_from_start(first, last)
            for index in range(len(window.in_flight))
            for first, last, claim in window.in_flight.runs(index)
            if claim.state > 1
        )
        assert window.complete_count == terminal


TestShareModel = ShareModel.TestCase
TestShareModel.settings = settings(stateful_step_count=40)
