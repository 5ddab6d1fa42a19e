"""The log of the share coordinator."""

from __future__ import annotations

import pytest

from odradek.broker.share_partitions.state_log import ShareStateLog
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.stored.coordinator_records import CoordinatorRecord
from tests.broker.harness import World

RECORD = CoordinatorRecord(b"k", b"v")


def a_log(world: World) -> ShareStateLog:
    cluster = world.cluster
    return ShareStateLog(cluster.topics, cluster.coordinator_log)


def test_append_creates_the_topic_and_returns_offsets() -> None:
    world = World(nodes=1, settings={"share.coordinator.state.topic.num.partitions": "3"})
    state_log = a_log(world)
    assert list(state_log.records()) == []
    (partition, first), (same, second) = (state_log.append("key", [RECORD]) for _ in range(2))
    assert (partition, first, same, second) == (partition, 0, partition, 1)
    state_log.delete_before(partition, 1)
    assert list(state_log.records()) == [(partition, 1, RECORD)]


def test_append_without_a_leader_is_refused() -> None:
    world = World(nodes=1)
    state_log = a_log(world)
    state_log.append("key", [RECORD])
    world.cluster.nodes.stop(1)
    with pytest.raises(KafkaError) as refused:
        state_log.append("key", [RECORD])
    assert refused.value.code == ErrorCode.COORDINATOR_NOT_AVAILABLE
