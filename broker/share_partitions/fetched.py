"""The record batches that were read from the log for a share group, with the extents that acquiring them needs."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from ...protocol.batches.records import RecordBatch, read_header
from ...storage.segments import EXTENT, PREFIX_BYTES
from ..topics.partition import Partition

_ABORT_MARKER = 0


class AbortedTransaction(NamedTuple):
    """A transaction that was aborted, with the offset of its first record."""

    producer_id: int
    first_offset: int


class FetchedBatches:
    """Whole batches in ascending order, as one view per segment of the log. `firsts` and `lasts` are their offsets."""

    def __init__(self, views: Sequence[memoryview]) -> None:
        self.views = views
        self.firsts: list[int] = []
        self.lasts: list[int] = []
        self._positions: list[int] = []
        start = 0
        for view in views:
            position = 0
            while position < len(view):
                base_offset, length, last_offset_delta = EXTENT.unpack_from(view, position)
                self.firsts.append(base_offset)
                self.lasts.append(base_offset + last_offset_delta)
                self._positions.append(start + position)
                position += length + PREFIX_BYTES
            start += len(view)
        self._end = start

    def __len__(self) -> int:
        return len(self.firsts)

    def end_of_batch_with(self, offset: int) -> int:
        """Returns the last offset of the batch that contains an offset; the offset itself if there is no such batch."""
        index = bisect_right(self.firsts, offset) - 1
        return max(offset, self.lasts[index]) if index >= 0 else offset

    def first_at_or_after(self, offset: int) -> int | None:
        """Returns the base offset of the first batch that begins at or after an offset."""
        index = bisect_left(self.firsts, offset)
        return self.firsts[index] if index < len(self.firsts) else None

    def part(self, first: int, last: int) -> list[memoryview]:
        """Returns the batches that may contain the offsets from `first` to `last`."""
        low = max(0, bisect_right(self.firsts, first) - 1)
        high = bisect_right(self.firsts, last)
        begin = self._positions[low]
        end = self._positions[high] if high < len(self.firsts) else self._end
        starts = accumulate(map(len, self.views), initial=0)
        cut = [view[max(0, begin - start) : max(0, end - start)] for start, view in zip(starts, self.views, strict=False)]
        return [view for view in cut if view]

    def aborted_batches(self, transactions: Iterable[AbortedTransaction]) -> Iterator[tuple[int, int]]:
        """Yields the offsets (first, last) of each batch of an aborted transaction, as a consumer finds them."""
        waiting = sorted(transactions, key=lambda each: each.first_offset, reverse=True)
        producers: set[int] = set()
        for view, first, last in zip(self._each(), self.firsts, self.lasts, strict=True):
            header = read_header(view)
            if header.producer_id < 0:
                continue
            while waiting and waiting[-1].first_offset <= last:
                producers.add(waiting.pop().producer_id)
            if header.is_control:
                if _is_abort_marker(view):
                    producers.discard(header.producer_id)
            elif header.is_transactional and header.producer_id in producers:
                yield first, last

    def _each(self) -> Iterator[memoryview]:
        for view in self.views:
            position = 0
            while position < len(view):
                following = position + EXTENT.unpack_from(view, position)[1] + PREFIX_BYTES
                yield view[position:following]
                position = following


def _is_abort_marker(view: memoryview) -> bool:
    record = next(RecordBatch(view).records(), None)
    return record is not None and record.key is not None and int.from_bytes(record.key[2:4], "big") == _ABORT_MARKER


def aborted_transactions(partition: Partition, fetch_offset: int, fetched: FetchedBatches) -> list[AbortedTransaction]:
    """Returns the aborted transactions with records in the range that was read."""
    if not len(fetched):
        return []
    found = partition.producers.aborted(fetch_offset, fetched.lasts[-1] + 1)
    return [AbortedTransaction(each.producer_id, each.first_offset) for each in found]
