"""DescribeQuorum. AddRaftVoter and RemoveRaftVoter: both are refused, with the error of the first failing check."""

from __future__ import annotations

from collections.abc import Callable

from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.add_raft_voter import ADD_RAFT_VOTER, AddRaftVoterRequest, Listener
from odradek.protocol.messages.describe_cluster import DESCRIBE_CLUSTER, DescribeClusterRequest
from odradek.protocol.messages.describe_quorum import DESCRIBE_QUORUM, DescribeQuorumRequest, PartitionData, TopicData
from odradek.protocol.messages.remove_raft_voter import REMOVE_RAFT_VOTER, RemoveRaftVoterRequest
from odradek.protocol.messages.unregister_broker import UNREGISTER_BROKER, UnregisterBrokerRequest
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


VOTER = b"v" * 16


def add(world: World, voter_id: int = 9, directory: bytes = VOTER, cluster_id: str | None = None, listener: str = "CONTROLLER") -> int:
    request = AddRaftVoterRequest(
        cluster_id=cluster_id,
        timeout_ms=1000,
        voter_id=voter_id,
        voter_directory_id=directory,
        listeners=[Listener(name=listener, host="h", port=1)],
    )
    return int(world.client().call(ADD_RAFT_VOTER, 0, request).error_code)


def remove(world: World, voter_id: int = 9) -> int:
    request = RemoveRaftVoterRequest(cluster_id=None, voter_id=voter_id, voter_directory_id=VOTER)
    return int(world.client().call(REMOVE_RAFT_VOTER, 0, request).error_code)


def test_raft_voters_invalid_are_refused() -> None:
    world = World()
    assert add(world, cluster_id="other") == ErrorCode.INCONSISTENT_CLUSTER_ID
    assert add(world, voter_id=-1) == ErrorCode.INVALID_REQUEST
    assert add(world, directory=bytes(16)) == ErrorCode.INVALID_REQUEST
    assert add(world, listener="OTHER") == ErrorCode.INVALID_REQUEST


def test_raft_voters_without_kraft_version_are_unsupported() -> None:
    world = World()
    assert (add(world), remove(world)) == (ErrorCode.UNSUPPORTED_VERSION, ErrorCode.UNSUPPORTED_VERSION)


def test_raft_voters_with_kraft_version_are_refused() -> None:
    world = World()
    world.cluster.features.levels["kraft.version"] = 1
    assert add(world, voter_id=1) == ErrorCode.DUPLICATE_VOTER
    assert add(world) == ErrorCode.REQUEST_TIMED_OUT
    assert remove(world) == ErrorCode.VOTER_NOT_FOUND


def unregister(world: World, node_id: int) -> int:
    answer = world.client(1).call(UNREGISTER_BROKER, 0, UnregisterBrokerRequest(broker_id=node_id))
    return int(answer.error_code)


def described(world: World) -> list[int]:
    request = DescribeClusterRequest(include_cluster_authorized_operations=False, include_fenced_brokers=True)
    return [broker.broker_id for broker in world.client(1).call(DESCRIBE_CLUSTER, 2, request).brokers]


def test_unregister_stopped_node_removes_it_until_it_starts() -> None:
    world = World(nodes=3)
    world.cluster.nodes.stop(3)
    assert described(world) == [1, 2, 3]
    assert unregister(world, 3) == 0
    assert described(world) == [1, 2]
    assert unregister(world, 3) == ErrorCode.BROKER_ID_NOT_REGISTERED
    world.cluster.nodes.start(3)
    assert described(world) == [1, 2, 3]


def test_unregister_running_node_ends_its_leaderships() -> None:
    world = World(nodes=2)
    partition = world.cluster.topics.create("t", assignments=[[2, 1]]).partitions[0]
    assert unregister(world, 2) == 0
    assert partition.leader == 1
    assert described(world) == [1]


def test_unregister_unknown_node_is_refused() -> None:
    assert unregister(World(), 9) == ErrorCode.BROKER_ID_NOT_REGISTERED
