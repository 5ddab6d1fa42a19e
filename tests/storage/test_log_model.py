"""The log, compared with a list of batches over random sequences of operations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from struct import pack_into

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from odradek.storage.blocks import Blocks
from odradek.storage.log import KEEP_BYTES, Log
from odradek.storage.memory import LogMemory
from odradek.storage.segments import max_timestamp_of, split
from tests.storage.batches import HEADER_BYTES, make_batch, stored

small_sizes = st.integers(HEADER_BYTES, 300)
sizes = st.one_of(
    small_sizes,
    st.integers(3000, 6000),
    st.integers(KEEP_BYTES - 1, KEEP_BYTES + 1),
    st.integers(KEEP_BYTES, 100 * 1024),
)
record_counts = st.integers(1, 10)
timestamps = st.integers(-1, 60)
places = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1))
uppers = st.one_of(st.just(1.0), places)


@dataclass
class Batch:
    base_offset: int
    end_offset: int
    timestamp: int
    epoch: int
    data: bytes


class LogMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.memory = LogMemory(1 << 30, lambda: None)
        self.log = Log(self.memory, Blocks(1 << 20))
        self.start = self.end = 0
        self.batches: list[Batch] = []
        self.epoch = -1
        self.epochs: dict[int, int] = {}  # epoch -> start offset
        self.exposed: list[tuple[memoryview, bytes]] = []
        self.pattern = 0

    # Operations that change the log

    @initialize(bursts=st.lists(st.tuples(small_sizes, timestamps, st.integers(-1, 1)), max_size=3))
    def fill(self, bursts: list[tuple[int, int, int]]) -> None:
        for size, timestamp, step in bursts:
            self.append_many(size, timestamp, step)

    @rule(size=sizes, records=record_counts, timestamp=timestamps, owned=st.booleans())
    def append(self, size: int, records: int, timestamp: int, owned: bool) -> None:
        if self.epoch < 0:
            self.begin_epoch(1)
        self.pattern = (self.pattern + 1) % 256
        batch = make_batch(size, records=records, timestamp=timestamp, pattern=self.pattern)
        data = stored(batch, self.end, self.epoch)
        assert self.log.append(batch, self.epoch, owned=owned) == self.end
        self.batches.append(Batch(self.end, self.end + records, timestamp, self.epoch, data))
        self._note_epoch()
        self.end += records

    @rule(size=small_sizes, timestamp=timestamps, step=st.integers(-1, 1))
    def append_many(self, size: int, timestamp: int, step: int) -> None:
        """Appends enough batches for several index entries, with timestamps that rise, fall or stay the same."""
        for i in range(100):
            self.append(size, 1 + i % 3, timestamp + step * i // 4, owned=False)

    @rule(size=st.integers(KEEP_BYTES, 50_000), records=record_counts, timestamp=timestamps)
    def append_owned(self, size: int, records: int, timestamp: int) -> None:
        self.append(size, records, timestamp, owned=True)

    @rule(by=st.integers(0, 3))
    def begin_epoch(self, by: int) -> None:
        self.epoch = max(self.epoch, 0) + by
        self.log.begin_epoch(self.epoch)
        self._note_epoch()

    def _note_epoch(self) -> None:
        if self.epoch not in self.epochs:
            self.epochs = {epoch: start for epoch, start in self.epochs.items() if start < self.end}
            self.epochs[self.epoch] = self.end

    @rule(place=places)
    def delete_before(self, place: float) -> None:
        self.start = offset = self._offset(place)
        self.log.delete_before(offset)
        self.batches = [batch for batch in self.batches if batch.end_offset > offset]
        passed = [epoch for epoch, start in self.epochs.items() if start <= offset]
        for epoch in passed[:-1]:
            del self.epochs[epoch]
        if passed:
            self.epochs[passed[-1]] = offset

    @rule(place=places, below_start=st.integers(0, 5))
    def truncate_to(self, place: float, below_start: int) -> None:
        offset = max(0, self._offset(place) - below_start)
        self.log.truncate_to(offset)
        self.start, self.end = min(self.start, offset), offset
        self.batches = [batch for batch in self.batches if batch.end_offset <= offset]
        self.epochs = {epoch: start for epoch, start in self.epochs.items() if start < offset}

    @rule(place=places, fates=st.lists(st.sampled_from(["same", "smaller", "removed"]), min_size=1, max_size=7))
    def replace_before(self, place: float, fates: list[str]) -> None:
        """Shrinks or removes batches before a boundary, as compaction does, and keeps the offsets."""
        boundary = self._boundary(place)
        kept = []
        for number, batch in enumerate(self._between(self.start, boundary)):
            if (fate := fates[number % len(fates)]) == "smaller":
                data = bytearray(batch.data[:HEADER_BYTES])
                pack_into(">i", data, 8, HEADER_BYTES - 12)
                batch = replace(batch, data=bytes(data))
            if fate != "removed":
                kept.append(batch)
        self.log.replace_before(boundary, [batch.data for batch in kept])
        self.batches = kept + [batch for batch in self.batches if batch.base_offset >= boundary]

    # Operations that read

    @rule(place=places)
    def runs(self, place: float) -> None:
        offset = self._offset(place)
        found = list(self.log.runs(offset))
        assert b"".join(batches for batches, _ in found) == b"".join(batch.data for batch in self._between(offset, self.end))
        for batches, newest in found:
            assert all(max_timestamp_of(batch) <= newest for batch in split(batches))

    @rule(timestamp=timestamps, place=places)
    def find_timestamp_behind(self, timestamp: int, place: float) -> None:
        offset = self._offset(place)
        expected = next((batch.data for batch in self.batches if batch.timestamp >= timestamp and batch.end_offset > offset), None)
        found = self.log.find_timestamp(timestamp, offset)
        assert (None if found is None else bytes(found)) == expected

    @rule(place=places, upper=uppers, max_bytes=st.integers(0, 300_000), at_least_one=st.booleans())
    def read(self, place: float, upper: float, max_bytes: int, at_least_one: bool) -> None:
        offset, end_offset = self._offset(place), self._boundary(upper)
        expected: list[bytes] = []
        for batch in self._between(offset, end_offset):
            if self._total([*expected, batch.data]) > max_bytes and (expected or not at_least_one):
                break
            expected.append(batch.data)
        slices = self.log.read(offset, max_bytes, end_offset, at_least_one=at_least_one)
        assert b"".join(slices) == b"".join(expected)
        assert all(part.readonly and len(part) for part in slices)
        self.exposed += [(part, bytes(part)) for part in slices]

    @rule(place=places, upper=uppers, count=st.integers(1, 50), off_by=st.integers(-1, 1))
    def read_to_the_byte(self, place: float, upper: float, count: int, off_by: int) -> None:
        found = self._between(self._offset(place), self._boundary(upper))
        limit = self._total([batch.data for batch in found[:count]])
        self.read(place, upper, max(0, limit + off_by), True)

    @rule(place=places, upper=uppers)
    def available_and_batches(self, place: float, upper: float) -> None:
        offset, end_offset = self._offset(place), self._boundary(upper)
        expected = [batch.data for batch in self._between(offset, end_offset)]
        assert self.log.available(offset, end_offset) == self._total(expected)
        assert [bytes(batch) for batch in self.log.batches(offset, end_offset)] == expected

    @rule(timestamp=timestamps)
    def find_timestamp(self, timestamp: int) -> None:
        expected = next((batch.data for batch in self.batches if batch.timestamp >= timestamp), None)
        found = self.log.find_timestamp(timestamp)
        assert (None if found is None else bytes(found)) == expected

    @rule()
    def latest_timestamp(self) -> None:
        expected = max(self.batches, key=lambda batch: batch.timestamp, default=None)
        found = self.log.latest_timestamp()
        assert (found is None) == (expected is None)
        assert found is None or expected is None or bytes(found) == expected.data

    @rule(epoch=st.integers(-1, 40))
    def end_offset_for_epoch(self, epoch: int) -> None:
        known = sorted(self.epochs)
        if epoch == -1 or not known or epoch > known[-1]:
            expected = (-1, -1)
        elif epoch == known[-1]:
            expected = (epoch, self.end)
        else:
            following = next(one for one in known if one > epoch)
            expected = (max((one for one in known if one <= epoch), default=epoch), self.epochs[following])
        assert self.log.end_offset_for_epoch(epoch) == expected

    @invariant()
    def memory_counts_what_is_kept(self) -> None:
        assert self.memory.used_bytes >= self.log.size
        assert self.log.size or not self.memory.used_bytes, "an empty log keeps no memory"

    @invariant()
    def agrees(self) -> None:
        assert (self.log.start_offset, self.log.end_offset) == (self.start, self.end)
        assert self.log.size == self._total([batch.data for batch in self.batches])

    @rule()
    def epochs_of_batches(self) -> None:
        for batch in self.batches:
            assert self.log.epoch_at(max(batch.base_offset, self.start)) == batch.epoch

    def teardown(self) -> None:
        for view, data in self.exposed:
            assert view == data

    def _offset(self, place: float) -> int:
        return self.start + round(place * (self.end - self.start))

    def _boundary(self, place: float) -> int:
        """Returns the base offset of a batch, or the end."""
        offset = self._offset(place)
        return next((batch.base_offset for batch in self.batches if batch.base_offset >= offset), self.end)

    def _between(self, offset: int, end_offset: int) -> list[Batch]:
        if offset >= end_offset:
            return []
        return [batch for batch in self.batches if batch.end_offset > offset and batch.base_offset < end_offset]

    @staticmethod
    def _total(parts: list[bytes]) -> int:
        return sum(map(len, parts))


LogMachine.TestCase.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
TestLog = LogMachine.TestCase
