"""maxOffsetsPerTrigger is shared by backlog. The numbers are those that Spark's own source was observed to use."""

from __future__ import annotations

import pytest

from odradek.protocol.client.connection import TopicPartition
from odradek.spark_sink.trigger_options import limit_ends

SMALL, LARGE = TopicPartition("t", 0), TopicPartition("t", 1)


@pytest.mark.parametrize(
    ("limit", "expected"),
    [(300, (30, 270)), (10, (1, 9)), (3, (1, 2)), (1, (1, 1)), (999, (99, 899)), (5000, (100, 900)), (0, (0, 0)), (-5, (0, 0))],
)
def test_limited_ends_share_the_limit_by_backlog(limit: int, expected: tuple[int, int]) -> None:
    starts, ends = {SMALL: 50, LARGE: 0}, {SMALL: 150, LARGE: 900}
    assert limit_ends(starts, ends, limit) == {SMALL: 50 + expected[0], LARGE: expected[1]}


def test_limited_ends_shorter_log_has_no_share() -> None:
    assert limit_ends({SMALL: 50, LARGE: 0}, {SMALL: 20, LARGE: 900}, 10) == {SMALL: 20, LARGE: 10}
    assert limit_ends({SMALL: 50}, {SMALL: 50}, 10) == {SMALL: 50}
