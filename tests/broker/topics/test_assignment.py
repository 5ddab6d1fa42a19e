"""Replicas as lists of node ids, before, during and after a reassignment."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from odradek.broker.topics.assignment import Assignment


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda a: a.reassigned([3, 1]), Assignment([3, 1, 2], [1, 2], [3], [2])),
        (lambda a: a.reassigned([3, 1]).reverted(), Assignment([1, 2], [1, 2], [], [])),
        (lambda a: a.reassigned([3, 1]).completed(), Assignment([3, 1, 2], [1, 2], [3], [2])),
        (lambda a: a.reassigned([3, 1]).with_in_sync([3]).completed(), Assignment([3, 1], [1, 3], [], [])),
        (lambda a: a.reassigned([2]).completed(), Assignment([2], [2], [], [])),
        (lambda a: a.without(2).reassigned([2]).completed(), Assignment([2, 1], [1], [], [1])),
        (lambda a: a._replace(isr=[2, 1]).with_in_sync([1]), Assignment([1, 2], [2, 1], [], [])),
    ],
)
def test_assignment_follows_a_reassignment(change: Callable[[Assignment], Assignment], expected: Assignment) -> None:
    assert change(Assignment([1, 2], [1, 2], [], [])) == expected
