"""AlterPartitionReassignments and ListPartitionReassignments. A differential family compares the same with Apache Kafka."""

from __future__ import annotations

import pytest

from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.alter_partition_reassignments import (
    ALTER_PARTITION_REASSIGNMENTS,
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from odradek.protocol.messages.create_partitions import CREATE_PARTITIONS, CreatePartitionsRequest, CreatePartitionsTopic
from odradek.protocol.messages.list_partition_reassignments import (
    LIST_PARTITION_REASSIGNMENTS,
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import World, a_batch, produce, produce_request

CATCH_UP_MS = 500


@pytest.fixture
def world() -> World:
    world = World(nodes=3, settings={"auto.leader.rebalance.enable": "false"})
    world.cluster.topics.create("t", assignments=[[1, 2]])
    return world


def reassign(world: World, replicas: list[int] | None, *, name: str = "t", index: int = 0, factor_may_change: bool = True) -> int:
    wanted = ReassignablePartition(partition_index=index, replicas=replicas)
    request = AlterPartitionReassignmentsRequest(
        allow_replication_factor_change=factor_may_change, topics=[ReassignableTopic(name=name, partitions=[wanted])]
    )
    response = world.client().call(ALTER_PARTITION_REASSIGNMENTS, 1, request)
    return int(response.responses[0].partitions[0].error_code)


def listed(world: World, *names: str) -> list[tuple[str, int, list[int], list[int], list[int]]]:
    """Returns (topic, partition, replicas, adding, removing) for each reassignment under way."""
    topics = [ListPartitionReassignmentsTopics(name=name, partition_indexes=[0, 1, 7]) for name in names] or None
    response = world.client().call(LIST_PARTITION_REASSIGNMENTS, 0, ListPartitionReassignmentsRequest(topics=topics))
    assert response.error_code == 0
    return [
        (topic.name, each.partition_index, each.replicas, each.adding_replicas, each.removing_replicas)
        for topic in response.topics
        for each in topic.partitions
    ]


def state(world: World, name: str = "t", index: int = 0) -> tuple[list[int], list[int], int, int]:
    """Returns replicas, in-sync replicas, leader and leader epoch."""
    partition = world.cluster.topics[name].partitions[index]
    return partition.replicas, partition.isr, partition.leader, partition.leader_epoch


def test_reassignment_is_listed_until_replicas_catch_up(world: World) -> None:
    produce(world, "t", b"a")
    assert reassign(world, [3]) == 0
    assert listed(world) == listed(world, "nobody", "t") == [("t", 0, [3, 1, 2], [3], [1, 2])]
    assert listed(world, "nobody") == []
    assert state(world) == ([3, 1, 2], [1, 2], 1, 0)
    produce(world, "t", b"b")
    world.advance(CATCH_UP_MS - 1)
    assert listed(world)
    world.advance(1)
    assert listed(world) == []
    assert state(world) == ([3], [3], 3, 1)
    assert produce(world, "t", b"c") == 2


def test_reassignment_is_not_delayed_by_other_changes(world: World) -> None:
    assert reassign(world, [3, 1]) == 0
    world.advance(CATCH_UP_MS - 1)
    world.cluster.nodes.stop(2)
    world.advance(1)
    assert (listed(world), state(world)) == ([], ([3, 1], [1, 3], 1, 1))


def test_reassignment_waits_for_replica_fetch_wait_max_ms() -> None:
    world = World(settings={"replica.fetch.wait.max.ms": "20"})
    world.cluster.topics.create("t", assignments=[[1]])
    assert reassign(world, [2]) == 0
    world.advance(20)
    assert state(world) == ([2], [2], 2, 1)


def test_reassignment_adding_nothing_completes_at_once(world: World) -> None:
    assert reassign(world, [2, 1]) == 0
    assert (listed(world), state(world)) == ([], ([2, 1], [1, 2], 1, 0))
    assert reassign(world, [2]) == 0
    assert (listed(world), state(world)) == ([], ([2], [2], 2, 1))


def test_reassignment_to_a_stopped_node_keeps_the_leader(world: World) -> None:
    assert reassign(world, [1]) == 0
    produce(world, "t", b"a")
    world.cluster.nodes.stop(3)
    assert reassign(world, [3]) == 0
    world.advance(10 * CATCH_UP_MS)
    assert (listed(world), state(world)) == ([("t", 0, [3, 1], [3], [1])], ([3, 1], [1], 1, 1))
    assert produce(world, "t", b"b") == 1
    world.cluster.nodes.start(3)
    assert listed(world)
    world.advance(CATCH_UP_MS)
    assert (listed(world), state(world)) == ([], ([3], [3], 3, 2))
    assert produce(world, "t", b"c") == 2


def test_reassignment_from_a_stopped_node_waits_for_its_data(world: World) -> None:
    world.cluster.topics.create("s", assignments=[[3]])
    produce(world, "s", b"a")
    world.cluster.nodes.stop(3)
    assert reassign(world, [1], name="s") == 0
    world.advance(10 * CATCH_UP_MS)
    assert (listed(world), state(world, "s")) == ([("s", 0, [1, 3], [1], [3])], ([1, 3], [], -1, 1))
    world.cluster.nodes.start(3)
    assert state(world, "s") == ([1, 3], [3], 3, 2)
    world.advance(CATCH_UP_MS)
    assert (listed(world), state(world, "s")) == ([], ([1], [1], 1, 3))
    assert produce(world, "s", b"b") == 1


def test_reassignment_cancelled_restores_the_replicas(world: World) -> None:
    assert reassign(world, [3, 1]) == 0
    assert reassign(world, None) == 0
    assert (listed(world), state(world)) == ([], ([1, 2], [1, 2], 1, 1))
    world.advance(CATCH_UP_MS)
    assert state(world) == ([1, 2], [1, 2], 1, 1)
    assert reassign(world, None) == ErrorCode.NO_REASSIGNMENT_IN_PROGRESS


def uncleanly_led(world: World) -> None:
    """Reassigns topic s from the stopped node 3 to node 1, and elects node 1, which lacks the records."""
    world.cluster.topics.create("s", assignments=[[3]])
    produce(world, "s", b"a")
    world.cluster.nodes.stop(3)
    assert reassign(world, [1], name="s") == 0
    assert world.cluster.topics["s"].partitions[0].elect_uncleanly(world.cluster.brokers.running)
    assert state(world, "s") == ([1, 3], [1], 1, 2)


def test_cancellation_losing_records_is_refused(world: World) -> None:
    uncleanly_led(world)
    assert reassign(world, None, name="s") == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert state(world, "s") == ([1, 3], [1], 1, 2)


def test_cancellation_with_unclean_elections_is_accepted(world: World) -> None:
    uncleanly_led(world)
    world.cluster.alter_topic(world.cluster.topics["s"], {"unclean.leader.election.enable": "true"})
    assert reassign(world, None, name="s") == 0
    assert (listed(world), state(world, "s")[0]) == ([], [3])


def test_reassignment_replaces_one_in_progress(world: World) -> None:
    assert reassign(world, [3, 1]) == 0
    assert reassign(world, [2, 1]) == 0
    assert listed(world) == [("t", 0, [2, 1, 3], [3], [3])]
    assert reassign(world, [2, 3]) == 0
    assert listed(world) == [("t", 0, [2, 3, 1], [3], [1])]
    world.advance(CATCH_UP_MS)
    assert (listed(world), state(world)[:3]) == ([], ([2, 3], [2, 3], 2))


def test_reassignment_back_keeps_the_added_replica(world: World) -> None:
    """As in Apache Kafka 4.3.1, a reassignment that adds nothing does not replace the replicas that are being added."""
    assert reassign(world, [1, 2, 3]) == 0
    assert reassign(world, [1, 2]) == 0
    world.advance(CATCH_UP_MS)
    assert listed(world) == [("t", 0, [1, 2, 3], [3], [3])]
    assert reassign(world, None) == 0
    assert (listed(world), state(world)[0]) == ([], [1, 2])


@pytest.mark.parametrize(
    ("replicas", "name", "index", "code"),
    [
        (None, "t", 0, ErrorCode.NO_REASSIGNMENT_IN_PROGRESS),
        ([9], "t", 0, ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ([1, 1], "t", 0, ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ([], "t", 0, ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ([1], "nope", 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ([1], "t", 7, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
def test_reassignment_invalid_is_refused(world: World, replicas: list[int] | None, name: str, index: int, code: ErrorCode) -> None:
    assert reassign(world, replicas, name=name, index=index) == code


def test_reassignment_changing_factor_may_be_refused(world: World) -> None:
    assert reassign(world, [1], factor_may_change=False) == ErrorCode.INVALID_REPLICATION_FACTOR
    assert reassign(world, [1, 3], factor_may_change=False) == 0
    assert reassign(world, [2, 3], factor_may_change=False) == 0
    assert reassign(world, [1, 2, 3], factor_may_change=False) == ErrorCode.INVALID_REPLICATION_FACTOR


def test_create_partitions_meanwhile_counts_added_replicas(world: World) -> None:
    world.cluster.nodes.stop(3)
    assert reassign(world, [1, 3]) == 0
    wanted = CreatePartitionsTopic(name="t", count=2, assignments=None)
    request = CreatePartitionsRequest(topics=[wanted], timeout_ms=1000, validate_only=False)
    assert [result.error_code for result in world.client().call(CREATE_PARTITIONS, 3, request).results] == [0]
    assert sorted(world.cluster.topics["t"].partitions[1].replicas) == [1, 2, 3]


def test_reassignment_of_deleted_topic_ends(world: World) -> None:
    assert reassign(world, [3]) == 0
    timers = len(world.timers)
    world.cluster.delete_topic(world.cluster.topics["t"])
    assert len(world.timers) == timers - 1
    assert listed(world) == []


def test_acks_all_during_reassignment_counts_in_sync_only() -> None:
    world = World(nodes=3)
    world.cluster.topics.create("t", assignments=[[1, 2]], configs={"min.insync.replicas": "2"})
    assert reassign(world, [3, 1]) == 0
    world.cluster.nodes.stop(2)
    assert state(world) == ([3, 1, 2], [1], 1, 0)
    answer = world.leader_of("t").call(PRODUCE, 9, produce_request("t", a_batch(b"a")))
    assert answer.responses[0].partition_responses[0].error_code == ErrorCode.NOT_ENOUGH_REPLICAS
    world.advance(CATCH_UP_MS)
    assert state(world) == ([3, 1], [1, 3], 1, 1)
    assert produce(world, "t", b"a") == 0


def test_leader_stopped_during_reassignment_is_replaced(world: World) -> None:
    assert reassign(world, [3, 1]) == 0
    world.cluster.nodes.stop(1)
    assert state(world) == ([3, 1, 2], [2], 2, 1)
    world.cluster.nodes.start(1)
    world.advance(CATCH_UP_MS)
    assert state(world) == ([3, 1], [1, 3], 3, 2)
