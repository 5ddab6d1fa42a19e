"""A share partition over batches that exist only as offsets, with a store in memory."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from struct import pack

from odradek.broker.share_partitions.fetched import FetchedBatches
from odradek.broker.share_partitions.record_state import RecordState
from odradek.broker.share_partitions.settings import ShareSettings
from odradek.broker.share_partitions.share_partition import Acknowledgement, SharePartition
from odradek.broker.share_partitions.stored_state import StateBatch, combine
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.storage.segments import HEADER_BYTES, PREFIX_BYTES

START_MS = 1_000_000


def batches_of(*bounds: int) -> FetchedBatches:
    """Returns batches without records, with the offsets from each bound to the next one (exclusive)."""
    return fetched(list(pairwise(bounds)))


def fetched(extents: Sequence[tuple[int, int]]) -> FetchedBatches:
    headers = [pack(">qi11xi", first, HEADER_BYTES - PREFIX_BYTES, end - first - 1).ljust(HEADER_BYTES, b"\0") for first, end in extents]
    return FetchedBatches([memoryview(b"".join(headers))] if headers else [])


class Scene:
    """One share partition, its log, and what it has stored."""

    def __init__(self, *bounds: int, **settings: int | bool) -> None:
        self.settings = ShareSettings(**settings)  # type: ignore[arg-type]
        self.extents = list(pairwise(bounds))
        self.now_ms = START_MS
        self.stored: list[StateBatch] = []
        self.start_offset = bounds[0] if bounds else 0
        self.complete_count = 0
        self.failing: ErrorCode | None = None
        self.partition = self.load()

    def load(self) -> SharePartition:
        self.partition = SharePartition(self.start_offset, combine(self.stored, self.start_offset), lambda: self.settings, self._store)
        return self.partition

    def _store(self, start_offset: int, complete_count: int, batches: Sequence[StateBatch]) -> None:
        if self.failing is not None:
            raise KafkaError(self.failing)
        assert all(batch.state != RecordState.ACQUIRED for batch in batches), "acquired records are not stored"
        self.start_offset, self.complete_count = start_offset, complete_count
        self.stored = combine([*self.stored, *batches], start_offset)

    def acquire(self, member_id: str = "m", max_records: int = 500, **options: int) -> list[tuple[int, int, int]]:
        """Returns (first, last, delivery count) of the ranges that a fetch acquires."""
        offset = self.partition.next_fetch_offset
        found = fetched([extent for extent in self.extents if extent[1] > offset])
        return [tuple(each) for each in self.partition.acquire(member_id, offset, found, max_records, self.now_ms, **options)]  # type: ignore[arg-type, misc]

    def acknowledge(self, first: int, last: int, *types: int, member_id: str = "m") -> None:
        self.partition.acknowledge(member_id, [Acknowledgement(first, last, types)], self.now_ms).commit()

    def advance(self, milliseconds: int) -> None:
        """Moves the clock, and expires locks at each alarm on the way."""
        end_ms = self.now_ms + milliseconds
        while self.partition.alarm_ms is not None and self.partition.alarm_ms <= end_ms:
            self.now_ms = self.partition.alarm_ms
            self.partition.expire(self.now_ms)
        self.now_ms = end_ms

    @property
    def states(self) -> str:
        """The states of the offsets in flight, one letter for each: available, acquired (m), done (d), archived (x)."""
        in_flight = self.partition.window.in_flight
        letters = {RecordState.AVAILABLE: "a", RecordState.ACQUIRED: "m", RecordState.ACKNOWLEDGED: "d", RecordState.ARCHIVED: "x"}
        return "".join(
            letters[claim.state] * (last - first + 1) for index in range(len(in_flight)) for first, last, claim in in_flight.runs(index)
        )
