"""Leaders, in-sync and eligible replicas. The differential family `replicas` compares the same with Apache Kafka."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from odradek.broker.topics.partition import Partition
from odradek.broker.topics.replication import Assignment
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.list_offsets import LIST_OFFSETS, ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import World, a_batch, produce, produce_request


def a_world(*replicas: int, **configs: str) -> tuple[World, Partition]:
    world = World(nodes=3, settings={"auto.leader.rebalance.enable": "false"})
    chosen = {name.replace("_", "."): value for name, value in configs.items()}
    return world, world.cluster.create_topic("t", assignments=[replicas], configs=chosen).partitions[0]


def produce_one(world: World, value: bytes, acks: int = 1) -> int:
    """Produces a record and returns the error code."""
    answer = world.leader_of("t").call(PRODUCE, 9, produce_request("t", a_batch(value), acks=acks))
    return int(answer.responses[0].partition_responses[0].error_code)


def latest(world: World) -> int:
    wanted = ListOffsetsTopic(name="t", partitions=[ListOffsetsPartition(partition_index=0, timestamp=-1)])
    answer = world.leader_of("t").call(LIST_OFFSETS, 4, ListOffsetsRequest(replica_id=-1, topics=[wanted]))
    return int(answer.topics[0].partitions[0].offset)


def state(partition: Partition) -> tuple[int, int, list[int], list[int], list[int]]:
    """Returns leader, leader epoch, in-sync replicas, eligible leader replicas, last known eligible leader replicas."""
    return partition.leader, partition.leader_epoch, partition.isr, partition.elr, partition.last_known_elr


def test_last_in_sync_replica_stopped_is_eligible() -> None:
    world, partition = a_world(2, 3)
    world.cluster.stop_node(2)
    assert state(partition) == (3, 1, [3], [], [])
    world.cluster.stop_node(3)
    assert state(partition) == (-1, 2, [], [3], [3])
    world.cluster.start_node(2)
    assert state(partition) == (-1, 2, [], [3], [3])
    world.cluster.start_node(3)
    assert state(partition) == (3, 3, [2, 3], [], [])


def test_replicas_below_min_isr_stay_eligible() -> None:
    world, partition = a_world(2, 3, min_insync_replicas="2")
    produce(world, "t", b"a")
    world.cluster.stop_node(2)
    assert state(partition) == (3, 1, [3], [2], [])
    world.cluster.stop_node(3)
    assert state(partition) == (-1, 2, [], [2, 3], [3])
    world.cluster.start_node(2)
    assert state(partition) == (2, 3, [2], [3], [])
    world.cluster.start_node(3)
    assert state(partition) == (2, 3, [2, 3], [], [])
    assert latest(world) == 1


def test_replica_leaving_enough_others_is_not_eligible() -> None:
    world, partition = a_world(2, 3, 1, min_insync_replicas="2")
    world.cluster.stop_node(2)
    assert state(partition) == (3, 1, [3, 1], [], [])
    world.cluster.stop_node(3)
    assert state(partition) == (1, 2, [1], [3], [])
    world.cluster.start_node(2)
    assert state(partition) == (1, 2, [1, 2], [], [])


def test_unclean_election_ends_eligibility() -> None:
    world, partition = a_world(2, 3, unclean_leader_election_enable="true")
    world.cluster.stop_node(2)
    world.cluster.stop_node(3)
    assert state(partition) == (-1, 2, [], [3], [3])
    world.cluster.start_node(2)
    assert state(partition) == (2, 3, [2], [], [])


def test_high_watermark_below_min_isr_does_not_move() -> None:
    """A record that an eligible leader lacks is never visible to consumers."""
    world, partition = a_world(2, 3, min_insync_replicas="2")
    produce(world, "t", b"a")
    world.cluster.stop_node(3)
    assert produce_one(world, b"b") == 0
    assert (partition.log.end_offset, latest(world)) == (2, 1)
    wanted = FetchTopic(topic="t", partitions=[FetchPartition(partition=0, fetch_offset=1, partition_max_bytes=1000)])
    answer = world.client(2).call(FETCH, 11, FetchRequest(max_wait_ms=0, min_bytes=0, topics=[wanted]))
    (data,) = answer.responses[0].partitions
    assert (data.error_code, data.high_watermark, len(data.records)) == (0, 1, 0)
    world.cluster.stop_node(2)
    world.cluster.start_node(3)
    assert (partition.leader, partition.log.end_offset, partition.lagging) == (3, 1, {2: 1})
    world.cluster.start_node(2)
    assert (partition.log.end_offset, latest(world)) == (1, 1)


def test_high_watermark_with_enough_replicas_moves_again() -> None:
    world, _ = a_world(2, 3, min_insync_replicas="2")
    world.cluster.stop_node(3)
    assert produce_one(world, b"a") == 0
    wanted = FetchTopic(topic="t", partitions=[FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)])
    reader = world.client(2)
    reader.send(FETCH, 11, FetchRequest(max_wait_ms=1000, min_bytes=1, topics=[wanted]))
    assert reader.receive() is None
    world.cluster.start_node(3)
    world.advance(0)
    assert reader.receive().responses[0].partitions[0].high_watermark == 1


def test_min_isr_lowered_ends_eligibility_and_frees_records() -> None:
    world, partition = a_world(2, 3, min_insync_replicas="2")
    world.cluster.stop_node(3)
    assert produce_one(world, b"a") == 0
    assert (state(partition), latest(world)) == ((2, 0, [2], [3], []), 0)
    world.cluster.alter_topic(partition.topic, {"min.insync.replicas": "1"})
    assert (state(partition), latest(world)) == ((2, 0, [2], [], []), 1)


def test_replica_created_on_stopped_node_has_no_records() -> None:
    world = World(nodes=3)
    world.cluster.stop_node(3)
    partition = world.cluster.create_topic("t", assignments=[[1, 3]]).partitions[0]
    assert partition.lagging == {3: 0}
    produce(world, "t", b"a")
    world.cluster.start_node(3)
    assert partition.lagging == {}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda a: a.reassigned([3, 1]), Assignment([3, 1, 2], [1, 2], [3], [2])),
        (lambda a: a.reassigned([3, 1]).reverted(), Assignment([1, 2], [1, 2], [], [])),
        (lambda a: a.reassigned([3, 1]).completed(), Assignment([3, 1, 2], [1, 2], [3], [2])),
        (lambda a: a.reassigned([3, 1]).with_in_sync([3]).completed(), Assignment([3, 1], [1, 3], [], [])),
        (lambda a: a.reassigned([2]).completed(), Assignment([2], [2], [], [])),
        (lambda a: a.without(2).reassigned([2]).completed(), Assignment([2, 1], [1], [], [1])),
    ],
)
def test_assignment_follows_a_reassignment(change: Callable[[Assignment], Assignment], expected: Assignment) -> None:
    assert change(Assignment([1, 2], [1, 2], [], [])) == expected


NODES = (1, 2, 3, 4)


class Replicas(RuleBasedStateMachine):
    """Nodes stop and start while a partition is written to and reassigned. No record acknowledged with acks=all may be lost."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World(nodes=4, settings={"log.retention.ms": "-1"})
        self.cluster = self.world.cluster
        self.acknowledged: list[bytes] = []
        self.written = 0

    @initialize(replicas=st.permutations(NODES), factor=st.integers(1, 3), min_isr=st.integers(1, 3))
    def create(self, replicas: list[int], factor: int, min_isr: int) -> None:
        topic = self.cluster.create_topic("t", assignments=[replicas[:factor]], configs={"min.insync.replicas": str(min_isr)})
        (self.partition,) = topic.partitions

    @rule(node=st.sampled_from(NODES))
    def stop_or_start(self, node: int) -> None:
        change = self.cluster.stop_node if self.cluster.brokers[node].running else self.cluster.start_node
        change(node)

    @rule(replicas=st.permutations(NODES), factor=st.integers(1, 3))
    def reassign(self, replicas: list[int], factor: int) -> None:
        self.cluster.replica_control.reassign(self.partition, replicas[:factor])

    @precondition(lambda self: self.partition.is_reassigned)
    @rule()
    def cancel(self) -> None:
        if self.partition.cancel_reassignment(self.cluster.running):
            self.cluster.replica_control.changed(self.partition)

    @rule(milliseconds=st.sampled_from([1, 499, 500, 300_000]))
    def wait(self, milliseconds: int) -> None:
        self.world.advance(milliseconds)

    @precondition(lambda self: self.partition.leader != -1)
    @rule(acks=st.sampled_from([1, -1]))
    def produce(self, acks: int) -> None:
        value, self.written = b"%d" % self.written, self.written + 1
        answer = self.world.leader_of("t").call(PRODUCE, 9, produce_request("t", a_batch(value), acks=acks))
        if acks == -1 and answer.responses[0].partition_responses[0].error_code == 0:
            self.acknowledged.append(value)

    @invariant()
    def the_state_is_sound(self) -> None:
        partition, running = self.partition, self.cluster.running
        assert (partition.leader == -1) == (partition.isr == [])
        assert set(partition.isr) <= set(partition.replicas) & set(running)
        assert partition.leader == -1 or partition.leader in partition.isr
        assert partition.isr or set(partition.elr) - set(running)
        assert not set(partition.elr) & set(partition.isr)
        assert set(partition.lagging) == set(partition.replicas) - set(partition.isr)
        assert partition.high_watermark <= partition.log.end_offset
        assert len(self.acknowledged) <= partition.high_watermark

    def teardown(self) -> None:
        """Starts all nodes. Every reassignment must complete, and every acknowledged record must be present, in order.

        A reassignment that adds nothing, started during one that adds a replica, leaves this replica both added and removed. As in
        Apache Kafka 4.3.1, such a reassignment ends only when it is cancelled.
        """
        for node in NODES:
            if not self.cluster.brokers[node].running:
                self.cluster.start_node(node)
        self.world.advance(500)
        if set(self.partition.adding) & set(self.partition.removing):
            self.cancel()
            self.world.advance(500)
        assert not self.partition.is_reassigned
        assert sorted(self.partition.isr) == sorted(self.partition.replicas)
        assert self.partition.high_watermark == self.partition.log.end_offset
        data: Any = b"".join(bytes(part) for part in self.partition.log.read(0, 1 << 20, self.partition.log.end_offset, at_least_one=True))
        positions = [data.find(a_batch(value)[61:]) for value in self.acknowledged]
        assert -1 not in positions
        assert positions == sorted(positions)


Replicas.TestCase.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
test_replicas_stopping_lose_no_acknowledged_record = Replicas.TestCase
