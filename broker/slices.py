"""Long answers are built in slices: a handler yields NEXT_TURN whenever it has done as much as one turn should.

What a sliced answer sees: it lists what there is when it begins (topics, groups, transactions), and describes each of them as it is
when its turn comes. What is gone by then is left out, and what is new may be missing, as if the request had come a moment earlier.
So every single description is consistent, but two of them may be from different moments, as with Apache Kafka's DescribeTopicPartitions
and its pages. Only an answer that exceeds one slice can be seen to change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

ITEMS = 400
"""How many items, such as partitions, are described in one turn: about a millisecond."""

T = TypeVar("T")


class Slices:
    """Counts what a handler has done since it last yielded."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = ITEMS

    def full(self, items: int = 1) -> bool:
        """Whether so many items more fill a slice; then the next one begins."""
        self._left -= items
        if self._left > 0:
            return False
        self._left = ITEMS
        return True


def chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """The items in parts that fit into a slice."""
    if len(items) <= ITEMS:
        yield items
        return
    for first in range(0, len(items), ITEMS):
        yield items[first : first + ITEMS]
