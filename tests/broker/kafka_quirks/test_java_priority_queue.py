"""The priority queue takes elements in the order of java.util.PriorityQueue."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.kafka_quirks.java_priority_queue import PriorityQueue

KEYS = [3, 1, 1, 2, 1, 3, 2, 2, 1, 0, 0, 3]
ORDER_IN_JAVA = [9, 10, 8, 1, 4, 2, 7, 10, 3, 9, 6, 1, 5, 8, 0, 11]
"""The numbers of the elements that Java 17 takes: four times one is taken and added again with a key that is larger by two, then all."""


def test_queue_takes_equal_elements_as_java_does() -> None:
    elements = [[key, number] for number, key in enumerate(KEYS)]
    queue = PriorityQueue(elements, lambda element: element[0])
    taken = []
    for _ in range(4):
        element = queue.poll()
        taken.append(element[1])
        element[0] += 2
        queue.add(element)
    while queue:
        taken.append(queue.poll()[1])
    assert taken == ORDER_IN_JAVA


@given(st.lists(st.integers(-5, 5)))
def test_queue_takes_elements_in_ascending_order(keys: list[int]) -> None:
    queue = PriorityQueue(keys, float)
    assert [queue.poll() for _ in keys] == sorted(keys)
    assert not queue


def test_poll_of_empty_queue_raises_index_error() -> None:
    with pytest.raises(IndexError):
        PriorityQueue[int]([], float).poll()
