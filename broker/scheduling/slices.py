"""Builds long responses in slices, so that other connections are served between them.

A handler of a response whose size depends on the cluster counts what it has described with a `Slices` and yields NEXT_TURN whenever a
slice is full. A handler of a request with a list does so too: each element is then served in a turn of its slice, as if it had come in a
request of its own.

A response in slices describes the cluster at several moments. At its start the handler lists the names of the existing topics, groups or
transactions. Each is described as it is when its slice is built. Names that have been deleted by then are left out, and new ones may be
missing.
Each description is consistent, but two of them may be from different moments, as between two pages of Apache Kafka's
DescribeTopicPartitions. A response that fits into one slice describes one moment.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import TypeVar

from .waiting import NEXT_TURN, Wait

ITEMS = 400
"""Items, such as partitions, that are described in one turn. That takes about a millisecond."""

T = TypeVar("T")
R = TypeVar("R")


class Slices:
    """Counts the items that a handler has described since it last yielded."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = ITEMS

    def add(self, items: int) -> None:
        """Adds `items` to the slice, which may then be more than full."""
        self._left -= items

    def full(self, items: int = 1) -> bool:
        """Adds `items` to the slice. Returns whether the slice is full; the next call then begins a new one."""
        self._left -= items
        if self._left > 0:
            return False
        self._left = ITEMS
        return True


def in_slices(function: Callable[[T], R], items: Iterable[T], slices: Slices, weight: int = 1) -> Generator[Wait, None, list[R]]:
    """Returns the results of `function` for all items, each of which takes as long as `weight` partitions to describe.

    Long texts take longer, because many functions compute their hash codes.
    """
    results = []
    for item in items:
        results.append(function(item))
        if slices.full(weight + weight_of(item) if isinstance(item, str) else weight):
            yield NEXT_TURN
    return results


def weight_of(text: str) -> int:
    """Returns how many items the hash codes of a text count, because Java's hash code is computed from each character."""
    return len(text) // 50


def chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yields the items in parts of at most ITEMS. For an empty sequence, yields one empty part."""
    if len(items) <= ITEMS:
        yield items
        return
    for first in range(0, len(items), ITEMS):
        yield items[first : first + ITEMS]
