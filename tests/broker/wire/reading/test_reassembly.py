from __future__ import annotations

import itertools
from random import Random

import pytest

from odradek.broker.wire.reading.reassembly import MAX_EARLY_SEGMENTS, Direction, ReadBytes

DATA = bytes(range(256)) * 8


def add(direction: Direction, first: int, start: int, end: int) -> list[ReadBytes]:
    return direction.add((first + start) % (1 << 32), memoryview(DATA)[start:end], end - start)


@pytest.mark.parametrize("first", [0, 1, (1 << 31) - 100, (1 << 32) - 100])
def test_segments_in_any_order_give_the_bytes(first: int) -> None:
    random = Random(first)
    for _ in range(20):
        cuts = sorted({0, len(DATA), *(random.randrange(len(DATA)) for _ in range(20))})
        segments = list(itertools.pairwise(cuts))
        segments += [(start, min(end + random.randrange(50), len(DATA))) for start, end in random.sample(segments, 5)]
        random.shuffle(segments)
        direction = Direction()
        direction.begin(first)
        found = [piece for start, end in segments for piece in add(direction, first, start, end)]
        assert b"".join(piece.data for piece in found) == DATA
        assert not any(piece.missing for piece in found)
        assert direction.held_bytes == 0


def test_missing_segment_is_a_gap_when_acknowledged() -> None:
    direction = Direction()
    assert add(direction, 7, 0, 10) == [ReadBytes(DATA[:10], 0)]
    assert add(direction, 7, 20, 30) == []
    assert direction.acknowledge(7 + 10) == []
    assert direction.acknowledge(7 + 30) == [ReadBytes(b"", 10), ReadBytes(DATA[20:30], 0)]
    assert direction.acknowledge(7 + 30) == []


def test_missing_segments_are_gaps_at_the_end() -> None:
    direction = Direction()
    for start in (0, 20, 40):
        add(direction, 0, start, start + 10)
    assert direction.rest() == [ReadBytes(b"", 10), ReadBytes(DATA[20:30], 0), ReadBytes(b"", 10), ReadBytes(DATA[40:50], 0)]
    assert direction.rest() == []


def test_bytes_that_were_not_captured_are_missing() -> None:
    direction = Direction()
    assert direction.add(0, memoryview(DATA)[:5], 9) == [ReadBytes(DATA[:5], 0), ReadBytes(b"", 4)]
    assert direction.add(9, memoryview(b"next"), 4) == [ReadBytes(b"next", 0)]
    assert direction.add(0, memoryview(DATA)[:5], 9) == []


def test_too_many_early_segments_end_the_waiting() -> None:
    direction = Direction()
    direction.begin(0)
    found = [piece for number in range(MAX_EARLY_SEGMENTS + 1) for piece in direction.add(10 + 2 * number, memoryview(b"x"), 1)]
    assert found == [ReadBytes(b"", 10), ReadBytes(b"x", 0)]
