"""Checks of manual replica assignments."""

from __future__ import annotations

import pytest

from odradek.broker.cluster.assignments import check_assignments, check_count, check_increase, check_leadable
from odradek.protocol.errors import ErrorCode, KafkaError


@pytest.mark.parametrize("assignments", [[[]], [[1, 1]], [[1, 7]], [[1], [1, 2]]])
def test_check_assignments_of_invalid_lists_is_refused(assignments: list[list[int]]) -> None:
    with pytest.raises(KafkaError) as refused:
        check_assignments(assignments, [1, 2])
    assert refused.value.code == ErrorCode.INVALID_REPLICA_ASSIGNMENT


def test_check_leadable_without_running_node_is_refused() -> None:
    check_leadable([[1, 2], [2, 1]], [1])
    with pytest.raises(KafkaError, match="partition 4"):
        check_leadable([[1, 2], [2]], [1], 3)


@pytest.mark.parametrize("count", [2, 1])
def test_check_increase_not_above_present_is_refused(count: int) -> None:
    check_increase("t", 2, 3)
    with pytest.raises(KafkaError) as refused:
        check_increase("t", 2, count)
    assert refused.value.code == ErrorCode.INVALID_PARTITIONS


def test_check_count_of_too_few_lists_is_refused() -> None:
    check_count([[1], [2]], 2)
    with pytest.raises(KafkaError, match="but only 1 assignment"):
        check_count([[1]], 2)
