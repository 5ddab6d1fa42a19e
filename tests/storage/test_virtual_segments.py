"""The boundaries of virtual segments, compared with a loop over all batches that decides at each one as Kafka does."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from odradek.storage.log import KEEP_BYTES, Log
from odradek.storage.virtual_segments import VirtualSegment, VirtualSegments
from tests.storage.batches import make_batch

NEVER = 1 << 62
batches = st.tuples(st.sampled_from([100, 300, 1000, KEEP_BYTES]), st.integers(-1, 1000))


def bounds(found: list[VirtualSegment]) -> list[int]:
    """Returns the base offsets of segments, and checks that there are no gaps between them."""
    assert all(one.end_offset == following.base_offset for one, following in pairwise(found))
    return [segment.base_offset for segment in found]


def filled(*sizes_and_times: tuple[int, int]) -> Log:
    log = Log()
    for size, timestamp in sizes_and_times:
        log.append(make_batch(size, timestamp=timestamp), 0, owned=size >= KEEP_BYTES)
    return log


def walked(log: Log, segment_bytes: int, segment_ms: int) -> list[int]:
    starts: list[int] = []
    size = first = 0
    for offset, batch in enumerate(log.batches(0, log.end_offset)):
        timestamp = int.from_bytes(batch[35:43], "big", signed=True)
        waited = timestamp - first if first >= 0 else 0
        if not starts or size + len(batch) > segment_bytes or waited > segment_ms:
            starts.append(offset)
            size, first = 0, timestamp
        size += len(batch)
    return starts


def test_segment_ends_before_segment_bytes() -> None:
    log = filled(*[(100, 0)] * 7)
    assert bounds(VirtualSegments().of_log(log, 300, NEVER)) == [0, 3, 6]
    assert bounds(VirtualSegments().of_log(log, 99, NEVER)) == [0, 1, 2, 3, 4, 5, 6]


def test_segment_ends_segment_ms_after_its_first_batch() -> None:
    log = filled((100, 50), (100, 60), (100, 61), (100, 10), (100, 72))
    assert bounds(VirtualSegments().of_log(log, 1000, 10)) == [0, 2, 4]


def test_segment_without_timestamps_does_not_age() -> None:
    assert bounds(VirtualSegments().of_log(filled((100, -1), (100, 10**12)), 1000, 10)) == [0]


def test_empty_log_has_no_segments() -> None:
    assert VirtualSegments().of_log(Log(), 1000, 10) == []


@given(
    first=st.lists(batches, min_size=1, max_size=60),
    second=st.lists(batches, max_size=60),
    limit=st.integers(100, 3000),
    age=st.integers(1, 500),
)
def test_boundaries_do_not_depend_on_times_of_calls(
    first: list[tuple[int, int]], second: list[tuple[int, int]], limit: int, age: int
) -> None:
    log, segments = Log(), VirtualSegments()
    for part in (first, second):
        for size, timestamp in part:
            log.append(make_batch(size, timestamp=timestamp), 0, owned=size >= KEEP_BYTES)
        assert bounds(segments.of_log(log, limit, age)) == walked(log, limit, age)


def test_boundaries_stay_after_deletion() -> None:
    log, segments = filled(*[(100, 0)] * 7), VirtualSegments()
    assert bounds(segments.of_log(log, 300, NEVER)) == [0, 3, 6]
    log.delete_before(4)
    assert bounds(segments.of_log(log, 300, NEVER)) == [3, 6]
    log.delete_before(7)
    assert segments.of_log(log, 300, NEVER) == []
    log.append(make_batch(100), 0, owned=False)
    assert bounds(segments.of_log(log, 300, NEVER)) == [7]
