"""DescribeQuorum."""

from __future__ import annotations

from collections.abc import Callable

from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.describe_quorum import DESCRIBE_QUORUM, DescribeQuorumRequest, PartitionData, TopicData
from tests.broker.harness import World


def metadata_end(world: World) -> int:
    """Returns the high watermark of the metadata log, which is the log end offset of every node."""
    wanted = [TopicData(topic_name="__cluster_metadata", partitions=[PartitionData(partition_index=0)])]
    (found,) = world.client().call(DESCRIBE_QUORUM, 2, DescribeQuorumRequest(topics=wanted)).topics[0].partitions
    assert {state.log_end_offset for state in (*found.current_voters, *found.observers)} == {found.high_watermark}
    return int(found.high_watermark)


def test_quorum_high_watermark_grows_with_changes_and_time() -> None:
    world = World()
    ends = [metadata_end(world)]
    world.cluster.topics.create("t", 3)
    ends.append(metadata_end(world))
    assert ends[1] == ends[0] + 4
    changes: list[Callable[[], object]] = [
        lambda: world.cluster.nodes.stop(2),
        lambda: world.cluster.nodes.start(2),
        lambda: world.cluster.replica_control.reassign(world.cluster.topics["t"].partitions[0], [1]),
        lambda: world.cluster.delete_topic(world.cluster.topics["t"]),
        lambda: world.advance(500),
    ]
    for change in changes:
        change()
        ends.append(metadata_end(world))
    assert ends == sorted(set(ends))


def test_quorum_without_idle_interval_does_not_grow() -> None:
    world = World(settings={"metadata.max.idle.interval.ms": "0"})
    before = metadata_end(world)
    world.advance(10_000)
    assert metadata_end(world) == before


def test_quorum_has_controller_as_only_voter() -> None:
    world = World()
    wanted = [
        TopicData(topic_name=name, partitions=[PartitionData(partition_index=index)])
        for name, index in (("__cluster_metadata", 0), ("t", 0))
    ]
    response = world.client().call(DESCRIBE_QUORUM, 2, DescribeQuorumRequest(topics=wanted))
    (found,), (unknown,) = (topic.partitions for topic in response.topics)
    assert (found.error_code, found.leader_id) == (0, 1)
    assert [state.replica_id for state in found.current_voters] == [1]
    assert [state.replica_id for state in found.observers] == [2]
    assert unknown.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert [(node.node_id, node.listeners[0].port) for node in response.nodes] == [(1, 9092)]
    assert world.client().call(DESCRIBE_QUORUM, 2, DescribeQuorumRequest(topics=[])).nodes == []
