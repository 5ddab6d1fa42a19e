"""ACLs, log directories, elections, the quorum, quotas and credentials: what Apache Kafka 4.3.1 answered."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.alter_replica_log_dirs import (
    ALTER_REPLICA_LOG_DIRS,
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from odradek.protocol.messages.alter_user_scram_credentials import (
    ALTER_USER_SCRAM_CREDENTIALS,
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from odradek.protocol.messages.describe_client_quotas import DESCRIBE_CLIENT_QUOTAS, ComponentData, DescribeClientQuotasRequest
from odradek.protocol.messages.describe_log_dirs import DESCRIBE_LOG_DIRS, DescribableLogDirTopic, DescribeLogDirsRequest
from odradek.protocol.messages.describe_quorum import DESCRIBE_QUORUM, DescribeQuorumRequest, PartitionData, TopicData
from odradek.protocol.messages.describe_user_scram_credentials import (
    DESCRIBE_USER_SCRAM_CREDENTIALS,
    DescribeUserScramCredentialsRequest,
    UserName,
)
from odradek.protocol.messages.elect_leaders import ELECT_LEADERS, ElectLeadersRequest, TopicPartitions
from tests.broker.harness import World, produce


@pytest.fixture
def world() -> World:
    world = World()
    world.cluster.create_topic("t", assignments=[[1, 2], [1, 2]])
    return world


def log_dirs(world: World, *topics: DescribableLogDirTopic, everything: bool = False) -> list[tuple[str, int, int]]:
    request = DescribeLogDirsRequest(topics=None if everything else list(topics))
    (directory,) = world.client().call(DESCRIBE_LOG_DIRS, 4, request).results
    assert (directory.error_code, directory.log_dir) == (0, "/tmp/kafka-logs")
    return [
        (topic.name, partition.partition_index, partition.partition_size) for topic in directory.topics for partition in topic.partitions
    ]


def test_log_directories(world: World) -> None:
    produce(world, "t", b"x", partition=1)
    size = world.cluster.topics["t"].partitions[1].log.size
    world.cluster.create_topic("elsewhere", assignments=[[2]])
    assert log_dirs(world, everything=True) == [("t", 0, 0), ("t", 1, size)]
    unknown = DescribableLogDirTopic(topic="nope", partitions=[0])
    assert log_dirs(world, DescribableLogDirTopic(topic="t", partitions=[1, 7]), unknown) == [("t", 1, size)]
    assert log_dirs(world) == []


@pytest.mark.parametrize(("path", "codes"), [("/tmp/kafka-logs", [0, 3, 3]), ("/nowhere", [57, 57, 57])])
def test_replicas_stay_in_their_directory(world: World, path: str, codes: list[int]) -> None:
    topics = [AlterReplicaLogDirTopic(name="t", partitions=[0, 7]), AlterReplicaLogDirTopic(name="nope", partitions=[0])]
    request = AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path=path, topics=topics)])
    results = world.client().call(ALTER_REPLICA_LOG_DIRS, 2, request).results
    assert [partition.error_code for topic in results for partition in topic.partitions] == codes


def elect(world: World, kind: int, *wanted: tuple[str, int], node: int = 1) -> dict[tuple[str, int], int]:
    topics = [TopicPartitions(topic=name, partitions=[index]) for name, index in wanted] or None
    response = world.client(node).call(ELECT_LEADERS, 2, ElectLeadersRequest(election_type=kind, topic_partitions=topics))
    assert response.error_code == (ErrorCode.INVALID_REQUEST if kind > 1 else 0)
    return {
        (topic.topic, result.partition_id): result.error_code
        for topic in response.replica_election_results
        for result in topic.partition_result
    }


def test_preferred_leaders(world: World) -> None:
    assert elect(world, 0, ("t", 0), ("t", 7), ("nope", 0)) == {("t", 0): 84, ("t", 7): 3, ("nope", 0): 3}
    world.cluster.stop_node(1)
    assert elect(world, 0, ("t", 0), node=2) == {("t", 0): ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE}
    world.cluster.start_node(1)
    assert elect(world, 0) == {("t", 0): 0, ("t", 1): 0}
    assert elect(world, 0) == {}
    assert [partition.leader for partition in world.cluster.topics["t"].partitions] == [1, 1]


def test_elections_of_an_unknown_kind(world: World) -> None:
    assert elect(world, 5, ("t", 0)) == {("t", 0): ErrorCode.INVALID_REQUEST}
    assert elect(world, 5) == {}


def lose_the_last_replica(world: World) -> None:
    """Node 2 leaves, misses b, and is the only one to come back."""
    produce(world, "t", b"a")
    world.cluster.stop_node(2)
    produce(world, "t", b"b")
    world.cluster.stop_node(1)
    world.cluster.start_node(2)


def test_an_unclean_election_loses_what_the_leader_has_not_got(world: World) -> None:
    partition = world.cluster.topics["t"].partitions[0]
    assert elect(world, 1, ("t", 0)) == {("t", 0): ErrorCode.ELECTION_NOT_NEEDED}
    lose_the_last_replica(world)
    assert (partition.leader, partition.log.end_offset) == (-1, 2)
    assert elect(world, 1, ("t", 0), node=2) == {("t", 0): 0}
    assert (partition.leader, partition.isr, partition.log.end_offset) == (2, [2], 1)
    world.cluster.start_node(1)
    assert (partition.leader, partition.isr, partition.lagging) == (2, [1, 2] if partition.isr[0] == 1 else [2, 1], {})
    assert produce(world, "t", b"c") == 1


def test_nobody_is_left_to_be_elected() -> None:
    world = World(nodes=3)
    world.cluster.create_topic("t", assignments=[[1, 2]])
    world.cluster.stop_node(1)
    world.cluster.stop_node(2)
    assert elect(world, 1, ("t", 0), node=3) == {("t", 0): ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE}


def test_unclean_elections_may_be_allowed() -> None:
    world = World(settings={"unclean.leader.election.enable": "true"})
    world.cluster.create_topic("t", assignments=[[1, 2]])
    partition = world.cluster.topics["t"].partitions[0]
    lose_the_last_replica(world)
    assert (partition.leader, partition.log.end_offset) == (2, 1)


def quotas(world: World, *components: tuple[str, int, str | None]) -> tuple[int, Any]:
    wanted = [ComponentData(entity_type=kind, match_type=match_type, match=match) for kind, match_type, match in components]
    response = world.client().call(DESCRIBE_CLIENT_QUOTAS, 1, DescribeClientQuotasRequest(components=wanted, strict=False))
    return response.error_code, response.entries


def test_quotas(world: World) -> None:
    assert quotas(world) == (0, [])
    assert quotas(world, ("xx", 2, None)) == (ErrorCode.UNSUPPORTED_VERSION, None)
    assert quotas(world, ("user", 2, None), ("user", 2, None)) == (ErrorCode.INVALID_REQUEST, None)
    assert quotas(world, ("user", 7, None)) == (ErrorCode.INVALID_REQUEST, None)
    assert quotas(world, ("user", 0, None)) == (ErrorCode.INVALID_REQUEST, None)


def described(world: World, *names: str) -> list[tuple[str, int, list[tuple[int, int]]]]:
    request = DescribeUserScramCredentialsRequest(users=[UserName(name=name) for name in names] or None)
    results = world.client().call(DESCRIBE_USER_SCRAM_CREDENTIALS, 0, request).results
    return [(result.user, result.error_code, [(info.mechanism, info.iterations) for info in result.credential_infos]) for result in results]


def credential(name: str, mechanism: int = 1, iterations: int = 4096) -> ScramCredentialUpsertion:
    return ScramCredentialUpsertion(name=name, mechanism=mechanism, iterations=iterations, salt=b"s", salted_password=b"p" * 32)


def altered(world: World, *changes: ScramCredentialUpsertion | ScramCredentialDeletion) -> dict[str, int]:
    request = AlterUserScramCredentialsRequest(
        deletions=[change for change in changes if isinstance(change, ScramCredentialDeletion)],
        upsertions=[change for change in changes if isinstance(change, ScramCredentialUpsertion)],
    )
    return {result.user: result.error_code for result in world.client().call(ALTER_USER_SCRAM_CREDENTIALS, 0, request).results}


def test_credentials(world: World) -> None:
    assert described(world) == []
    assert described(world, "a", "a", "b") == [("a", 92, []), ("b", 91, [])]
    assert altered(world, credential("a"), credential("b", 2, 8192)) == {"a": 0, "b": 0}
    assert altered(world, credential("a", 2)) == {"a": 0}
    assert described(world) == [("a", 0, [(1, 4096), (2, 4096)]), ("b", 0, [(2, 8192)])]
    assert altered(world, ScramCredentialDeletion(name="b", mechanism=1), ScramCredentialDeletion(name="a", mechanism=1)) == {
        "b": 91,
        "a": 0,
    }
    assert altered(world, ScramCredentialDeletion(name="b", mechanism=2)) == {"b": 0}
    assert described(world) == [("a", 0, [(2, 4096)])]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ([credential("c", 1, 4095)], ErrorCode.UNACCEPTABLE_CREDENTIAL),
        ([credential("c", 1, 16385)], ErrorCode.UNACCEPTABLE_CREDENTIAL),
        ([credential("")], ErrorCode.UNACCEPTABLE_CREDENTIAL),
        ([credential("c", 0)], ErrorCode.UNSUPPORTED_SASL_MECHANISM),
        ([credential("c", 1), credential("c", 2)], ErrorCode.DUPLICATE_RESOURCE),
        ([ScramCredentialDeletion(name="c", mechanism=1), credential("c")], ErrorCode.DUPLICATE_RESOURCE),
        ([ScramCredentialDeletion(name="c", mechanism=1)], ErrorCode.RESOURCE_NOT_FOUND),
    ],
)
def test_credentials_that_are_refused(world: World, changes: list[Any], code: ErrorCode) -> None:
    assert set(altered(world, *changes).values()) == {code}
    assert described(world) == []


def metadata_end(world: World) -> int:
    """The high watermark of the metadata, where every node stands."""
    wanted = [TopicData(topic_name="__cluster_metadata", partitions=[PartitionData(partition_index=0)])]
    (found,) = world.client().call(DESCRIBE_QUORUM, 2, DescribeQuorumRequest(topics=wanted)).topics[0].partitions
    assert {state.log_end_offset for state in (*found.current_voters, *found.observers)} == {found.high_watermark}
    return int(found.high_watermark)


def test_quorum_high_watermark_grows_by_changes_and_time() -> None:
    world = World()
    ends = [metadata_end(world)]
    world.cluster.create_topic("t", 3)
    ends.append(metadata_end(world))
    assert ends[1] == ends[0] + 4
    for change in (
        lambda: world.cluster.stop_node(2),
        lambda: world.cluster.start_node(2),
        lambda: world.cluster.reassign(world.cluster.topics["t"].partitions[0], [1]),
        lambda: world.cluster.delete_topic(world.cluster.topics["t"]),
        lambda: world.advance(500),
    ):
        change()
        ends.append(metadata_end(world))
    assert ends == sorted(set(ends))


def test_quorum_without_idle_records_stands_still() -> None:
    world = World(settings={"metadata.max.idle.interval.ms": "0"})
    before = metadata_end(world)
    world.advance(10_000)
    assert metadata_end(world) == before


def test_the_quorum(world: World) -> None:
    wanted = [
        TopicData(topic_name=name, partitions=[PartitionData(partition_index=index)])
        for name, index in (("__cluster_metadata", 0), ("t", 0))
    ]
    response = world.client().call(DESCRIBE_QUORUM, 2, DescribeQuorumRequest(topics=wanted))
    (found,), (unknown,) = (topic.partitions for topic in response.topics)
    assert (found.error_code, found.leader_id) == (0, 1)
    assert [state.replica_id for state in found.current_voters] == [1]
    assert [state.replica_id for state in found.observers] == [2]
    assert unknown.error_code == 3
    assert [(node.node_id, node.listeners[0].port) for node in response.nodes] == [(1, 9092)]
    assert world.client().call(DESCRIBE_QUORUM, 2, DescribeQuorumRequest(topics=[])).nodes == []
