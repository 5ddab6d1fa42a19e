"""The offset at which a share group begins."""

from __future__ import annotations

import pytest

from odradek.broker.share_partitions.share_partitions import initial_start_offset
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.broker.harness import World, produce


@pytest.mark.parametrize(
    ("reset", "now_ms", "offset"),
    [
        ("earliest", 0, 1),
        ("latest", 0, 4),
        ("by_duration:PT1S", 2001, 1),
        ("by_duration:PT1S", 2002, 2),
        ("by_duration:P1DT1H1M0.5S", 90_060_500 + 1003, 3),
    ],
)
def test_start_offset_follows_the_reset(reset: str, now_ms: int, offset: int) -> None:
    world = World(nodes=1)
    partition = world.cluster.topics.create("t", 1, 1).partitions[0]
    produce(world, "t", b"a", b"b", b"c", b"d")
    partition.delete_before(1)
    assert initial_start_offset(partition, reset, now_ms) == offset


def test_start_offset_without_a_recent_record_is_unknown() -> None:
    world = World(nodes=1)
    partition = world.cluster.topics.create("t", 1, 1).partitions[0]
    produce(world, "t", b"a")
    with pytest.raises(KafkaError) as refused:
        initial_start_offset(partition, "by_duration:PT1S", 5000)
    assert refused.value.code == ErrorCode.OFFSET_NOT_AVAILABLE
