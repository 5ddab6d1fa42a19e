"""Topics and their lists of partitions."""

from __future__ import annotations

from tests.broker.harness import World


def test_partition_out_of_range_is_none() -> None:
    topic = World().cluster.create_topic("t", 2)
    assert [topic.partition(index) for index in (-1, 0, 1, 2)] == [None, *topic.partitions, None]


def test_add_partitions_puts_running_replicas_in_sync() -> None:
    topic = World().cluster.create_topic("t", 1)
    topic.add_partitions([[1, 2], [2, 1]], running=[2])
    assert [(partition.index, partition.leader, partition.isr) for partition in topic.partitions[1:]] == [(1, 2, [2]), (2, 2, [2])]


def test_is_internal_only_for_kafkas_own_topics() -> None:
    cluster = World().cluster
    cluster.ensure_internal("__consumer_offsets")
    assert cluster.topics["__consumer_offsets"].is_internal
    assert not cluster.create_topic("__other", 1).is_internal
