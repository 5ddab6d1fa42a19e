"""Java's PriorityQueue, whose order among equal elements decides assignments that clients can see.

Python's `heapq` moves elements in another way, so that it takes equal elements in another order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T")


class PriorityQueue(Generic[T]):
    """A binary heap of elements by `key`. The smallest is taken first; the key of an element in the queue must not change."""

    def __init__(self, elements: Iterable[T], key: Callable[[T], float]) -> None:
        self._heap: list[T] = []
        self._key = key
        for element in elements:
            self.add(element)

    def __bool__(self) -> bool:
        return bool(self._heap)

    def add(self, element: T) -> None:
        """Adds an element (`PriorityQueue.siftUp`)."""
        heap, key = self._heap, self._key(element)
        index = len(heap)
        heap.append(element)
        while index > 0:
            parent = (index - 1) // 2
            if key >= self._key(heap[parent]):
                break
            heap[index] = heap[parent]
            index = parent
        heap[index] = element

    def poll(self) -> T:
        """Removes and returns the smallest element (`PriorityQueue.siftDown`). Raises IndexError if the queue is empty."""
        heap = self._heap
        last = heap.pop()
        if not heap:
            return last
        smallest, index, key = heap[0], 0, self._key(last)
        while (child := 2 * index + 1) < len(heap):
            if child + 1 < len(heap) and self._key(heap[child]) > self._key(heap[child + 1]):
                child += 1
            if key <= self._key(heap[child]):
                break
            heap[index] = heap[child]
            index = child
        heap[index] = last
        return smallest
