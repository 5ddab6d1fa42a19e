"""Leaders, in-sync and eligible replicas. The differential family `replicas` compares the same with Apache Kafka."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from odradek.broker.cluster.silence import Silence
from odradek.broker.topics.partition import Partition
from odradek.broker.topics.replication import ReplicaAssignment
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.list_offsets import LIST_OFFSETS, ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import Client, World, a_batch, produce, produce_request


def a_world(*replicas: int, **configs: str) -> tuple[World, Partition]:
    world = World(nodes=3, settings={"auto.leader.rebalance.enable": "false"})
    chosen = {name.replace("_", "."): value for name, value in configs.items()}
    return world, world.cluster.topics.create("t", assignments=[replicas], configs=chosen).partitions[0]


def produce_one(world: World, *values: bytes, acks: int = 1) -> int:
    """Produces one batch and returns the error code."""
    answer = world.leader_of("t").call(PRODUCE, 9, produce_request("t", a_batch(*values), acks=acks))
    return int(answer.responses[0].partition_responses[0].error_code)


def latest(world: World) -> int:
    wanted = ListOffsetsTopic(name="t", partitions=[ListOffsetsPartition(partition_index=0, timestamp=-1)])
    answer = world.leader_of("t").call(LIST_OFFSETS, 4, ListOffsetsRequest(replica_id=-1, topics=[wanted]))
    return int(answer.topics[0].partitions[0].offset)


def state(partition: Partition) -> tuple[int, int, list[int], list[int], list[int]]:
    """Returns leader, leader epoch, in-sync replicas, eligible leader replicas, last known eligible leader replicas."""
    return partition.leader, partition.leader_epoch, partition.isr, partition.elr, partition.last_known_elr


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda a: a.begin_reassignment([3, 1]), ReplicaAssignment([3, 1, 2], [1, 2], [3], [2])),
        (lambda a: a.begin_reassignment([3, 1]).cancel_reassignment(), ReplicaAssignment([1, 2], [1, 2], [], [])),
        (lambda a: a.begin_reassignment([3, 1]).complete_reassignment(), ReplicaAssignment([3, 1, 2], [1, 2], [3], [2])),
        (lambda a: a.begin_reassignment([3, 1]).with_in_sync([3]).complete_reassignment(), ReplicaAssignment([3, 1], [1, 3], [], [])),
        (lambda a: a.begin_reassignment([2]).complete_reassignment(), ReplicaAssignment([2], [2], [], [])),
        (lambda a: a.without(2).begin_reassignment([2]).complete_reassignment(), ReplicaAssignment([2, 1], [1], [], [1])),
        (lambda a: a._replace(isr=[2, 1]).with_in_sync([1]), ReplicaAssignment([1, 2], [2, 1], [], [])),
    ],
)
def test_assignment_follows_a_reassignment(change: Callable[[ReplicaAssignment], ReplicaAssignment], expected: ReplicaAssignment) -> None:
    assert change(ReplicaAssignment([1, 2], [1, 2], [], [])) == expected


def test_last_in_sync_replica_stopped_is_eligible() -> None:
    world, partition = a_world(2, 3)
    world.cluster.nodes.stop(2)
    assert state(partition) == (3, 1, [3], [], [])
    world.cluster.nodes.stop(3)
    assert state(partition) == (-1, 2, [], [3], [3])
    world.cluster.nodes.start(2)
    assert state(partition) == (-1, 2, [], [3], [3])
    world.cluster.nodes.start(3)
    assert state(partition) == (3, 3, [2, 3], [], [])


def test_replicas_below_min_isr_stay_eligible() -> None:
    world, partition = a_world(2, 3, min_insync_replicas="2")
    produce(world, "t", b"a")
    world.cluster.nodes.stop(2)
    assert state(partition) == (3, 1, [3], [2], [])
    world.cluster.nodes.stop(3)
    assert state(partition) == (-1, 2, [], [2, 3], [3])
    world.cluster.nodes.start(2)
    assert state(partition) == (2, 3, [2], [3], [])
    world.cluster.nodes.start(3)
    assert state(partition) == (2, 3, [2, 3], [], [])
    assert latest(world) == 1


def test_replica_leaving_enough_others_is_not_eligible() -> None:
    world, partition = a_world(2, 3, 1, min_insync_replicas="2")
    world.cluster.nodes.stop(2)
    assert state(partition) == (3, 1, [3, 1], [], [])
    world.cluster.nodes.stop(3)
    assert state(partition) == (1, 2, [1], [3], [])
    world.cluster.nodes.start(2)
    assert state(partition) == (1, 2, [1, 2], [], [])


def test_unclean_election_ends_eligibility() -> None:
    world, partition = a_world(2, 3, unclean_leader_election_enable="true")
    world.cluster.nodes.stop(2)
    world.cluster.nodes.stop(3)
    assert state(partition) == (-1, 2, [], [3], [3])
    world.cluster.nodes.start(2)
    assert state(partition) == (2, 3, [2], [], [])


def test_high_watermark_below_min_isr_does_not_move() -> None:
    """A record that an eligible leader lacks is never visible to consumers."""
    world, partition = a_world(2, 3, min_insync_replicas="2")
    produce(world, "t", b"a")
    world.cluster.nodes.stop(3)
    assert produce_one(world, b"b") == 0
    assert (partition.log.end_offset, latest(world)) == (2, 1)
    wanted = FetchTopic(topic="t", partitions=[FetchPartition(partition=0, fetch_offset=1, partition_max_bytes=1000)])
    answer = world.client(2).call(FETCH, 11, FetchRequest(max_wait_ms=0, min_bytes=0, topics=[wanted]))
    (data,) = answer.responses[0].partitions
    assert (data.error_code, data.high_watermark, len(data.records)) == (0, 1, 0)
    world.cluster.nodes.stop(2)
    world.cluster.nodes.start(3)
    assert (partition.leader, partition.log.end_offset, partition.lagging) == (3, 1, {2: 1})
    world.cluster.nodes.start(2)
    assert (partition.log.end_offset, latest(world)) == (1, 1)


def test_high_watermark_with_enough_replicas_moves_again() -> None:
    world, _ = a_world(2, 3, min_insync_replicas="2")
    world.cluster.nodes.stop(3)
    assert produce_one(world, b"a") == 0
    wanted = FetchTopic(topic="t", partitions=[FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)])
    reader = world.client(2)
    reader.send(FETCH, 11, FetchRequest(max_wait_ms=1000, min_bytes=1, topics=[wanted]))
    assert reader.receive() is None
    world.cluster.nodes.start(3)
    world.advance(0)
    assert reader.receive().responses[0].partitions[0].high_watermark == 1


def test_min_isr_lowered_ends_eligibility_and_frees_records() -> None:
    world, partition = a_world(2, 3, min_insync_replicas="2")
    world.cluster.nodes.stop(3)
    assert produce_one(world, b"a") == 0
    assert (state(partition), latest(world)) == ((2, 0, [2], [3], []), 0)
    world.cluster.alter_topic(partition.topic, {"min.insync.replicas": "1"})
    assert (state(partition), latest(world)) == ((2, 0, [2], [], []), 1)


def test_replica_created_on_stopped_node_has_no_records() -> None:
    world = World(nodes=3)
    world.cluster.nodes.stop(3)
    partition = world.cluster.topics.create("t", assignments=[[1, 3]]).partitions[0]
    assert partition.lagging == {3: 0}
    produce(world, "t", b"a")
    world.cluster.nodes.start(3)
    assert partition.lagging == {}


def high_watermarks(partition: Partition) -> tuple[int, int]:
    return partition.high_watermark, partition.log.end_offset


def test_follower_that_stops_holds_the_high_watermark() -> None:
    world, partition = a_world(1, 2, 3)
    control = world.cluster.replica_control
    produce_one(world, b"a")
    control.lag(partition, 2, 0)
    produce_one(world, b"b")
    assert (high_watermarks(partition), latest(world)) == ((1, 2), 1)
    control.lag(partition, 3, 0)
    produce_one(world, b"c")
    control.end_lag(partition, 2)
    assert (high_watermarks(partition), partition.isr) == ((2, 3), [1, 2, 3])
    control.end_lag(partition, 3)
    assert (high_watermarks(partition), partition.held_offset, partition.lagging) == ((3, 3), None, {})


def test_follower_at_a_distance_moves_the_high_watermark() -> None:
    world, partition = a_world(1, 2)
    produce_one(world, b"a")
    world.cluster.replica_control.lag(partition, 2, 3)
    seen = []
    for _ in range(5):
        produce_one(world, b"v")
        seen.append(latest(world))
    assert seen == [1, 1, 1, 2, 3]
    world.cluster.replica_control.lag(partition, 2, 0)
    produce_one(world, b"v")
    assert (latest(world), partition.position(2)) == (3, 3)


def test_follower_at_a_distance_has_whole_batches() -> None:
    world, partition = a_world(1, 2)
    world.cluster.replica_control.lag(partition, 2, 1)
    produce_one(world, b"a", b"b", b"c")
    produce_one(world, b"d", b"e", b"f")
    assert (latest(world), partition.position(2)) == (3, 3)


def test_high_watermark_does_not_go_back_when_followers_change() -> None:
    world, partition = a_world(1, 2, 3, min_insync_replicas="2")
    control = world.cluster.replica_control
    control.lag(partition, 2, 2)
    for _ in range(10):
        produce_one(world, b"v")
    assert high_watermarks(partition) == (8, 10)
    world.cluster.nodes.stop(3)
    control.lag(partition, 2, 5)
    assert high_watermarks(partition) == (8, 10)
    partition.follower_timed_out(2, world.cluster.brokers.running)
    produce_one(world, b"v")
    assert (high_watermarks(partition), partition.isr, partition.elr) == ((8, 11), [1], [2])


def test_clean_election_truncates_uncommitted_records() -> None:
    world, partition = a_world(1, 2, 3)
    produce_one(world, b"a")
    world.cluster.replica_control.lag(partition, 2, 0)
    produce_one(world, b"b")
    world.cluster.nodes.stop(1)
    assert (state(partition)[:3], high_watermarks(partition)) == ((2, 1, [2, 3]), (1, 1))
    assert (partition.held, partition.lagging) == ({}, {1: 1})
    world.cluster.nodes.start(1)
    assert (partition.lagging, partition.isr) == ({}, [1, 2, 3])


def test_unclean_election_truncates_committed_records() -> None:
    world, partition = a_world(1, 2)
    world.cluster.replica_control.lag(partition, 2, 0)
    produce_one(world, b"a")
    partition.follower_timed_out(2, world.cluster.brokers.running)
    assert latest(world) == 1
    world.cluster.nodes.stop(1)
    assert (partition.leader, partition.elect_uncleanly(world.cluster.brokers.running)) == (-1, True)
    assert (partition.leader, partition.isr, high_watermarks(partition)) == (2, [2], (0, 0))


def test_replica_of_a_silent_node_starts_without_records() -> None:
    world = World(nodes=3)
    world.cluster.nodes.silence(3, Silence.PAUSED)
    partition = world.cluster.topics.create("t", assignments=[[1, 3]]).partitions[0]
    produce_one(world, b"a")
    assert (partition.isr, partition.lagging, high_watermarks(partition)) == ([1, 3], {3: 0}, (0, 1))


NODES = (1, 2, 3, 4)


class Replicas(RuleBasedStateMachine):
    """Nodes stop, fail and return, and followers lag, while a partition is written to and reassigned.

    No record acknowledged with acks=all may be lost.
    """

    def __init__(self) -> None:
        super().__init__()
        self.world = World(nodes=4, settings={"log.retention.ms": "-1"})
        self.cluster = self.world.cluster
        self.acknowledged: list[bytes] = []
        self.written = 0
        self.waiting: list[tuple[Client, bytes]] = []

    @initialize(replicas=st.permutations(NODES), factor=st.integers(1, 3), min_isr=st.integers(1, 3))
    def create(self, replicas: list[int], factor: int, min_isr: int) -> None:
        topic = self.cluster.topics.create("t", assignments=[replicas[:factor]], configs={"min.insync.replicas": str(min_isr)})
        (self.partition,) = topic.partitions

    @rule(node=st.sampled_from(NODES), graceful=st.booleans())
    def stop_or_start(self, node: int, graceful: bool) -> None:
        broker = self.cluster.brokers[node]
        if not broker.running or broker.silence:
            self.cluster.nodes.start(node)
        else:
            self.cluster.nodes.stop(node, graceful=graceful)
        self.world.end_turn()

    @rule(node=st.sampled_from(NODES))
    def pause(self, node: int) -> None:
        broker = self.cluster.brokers[node]
        if broker.running and not broker.silence:
            self.cluster.nodes.silence(node, Silence.PAUSED)

    @rule(node=st.sampled_from(NODES), records=st.integers(0, 3))
    def lag(self, node: int, records: int) -> None:
        partition = self.partition
        if node in partition.replicas and node != partition.leader:
            self.cluster.replica_control.lag(partition, node, records)

    @rule(node=st.sampled_from(NODES))
    def catch_up(self, node: int) -> None:
        if node in self.partition.held:
            self.cluster.replica_control.end_lag(self.partition, node)

    @precondition(lambda self: self.partition.leader != -1)
    @rule(number=st.integers(0, 2))
    def move_leader(self, number: int) -> None:
        able = [node for node in self.partition.isr if node in self.cluster.brokers.running]
        self.cluster.replica_control.move_leader(self.partition, able[number % len(able)])

    @rule(replicas=st.permutations(NODES), factor=st.integers(1, 3))
    def reassign(self, replicas: list[int], factor: int) -> None:
        self.cluster.replica_control.reassign(self.partition, replicas[:factor])

    @precondition(lambda self: self.partition.is_reassigned)
    @rule()
    def cancel(self) -> None:
        if self.partition.cancel_reassignment(self.cluster.brokers.running):
            self.cluster.replica_control.changed(self.partition)

    @rule(milliseconds=st.sampled_from([1, 499, 500, 9000, 15_000, 300_000]))
    def wait(self, milliseconds: int) -> None:
        self.world.advance(milliseconds)

    @precondition(lambda self: self.partition.leader != -1)
    @rule(acks=st.sampled_from([1, -1]))
    def produce(self, acks: int) -> None:
        broker = self.cluster.brokers[self.partition.leader]
        if broker.running and not broker.silence:
            value, self.written = b"%d" % self.written, self.written + 1
            client = self.world.leader_of("t")
            client.send(PRODUCE, 9, produce_request("t", a_batch(value), acks=acks))
            self.waiting.append((client, value if acks == -1 else b""))

    @invariant()
    def the_state_is_sound(self) -> None:
        self.world.core.run_ready()
        self.world.end_turn()
        self.take_acknowledged()
        partition, running = self.partition, self.cluster.brokers.running
        assert (partition.leader == -1) == (partition.isr == [])
        assert set(partition.isr) <= set(partition.replicas) & set(running)
        assert partition.leader == -1 or partition.leader in partition.isr
        assert partition.isr or set(partition.elr) - set(running)
        assert not set(partition.elr) & set(partition.isr)
        assert set(partition.replicas) - set(partition.isr) <= set(partition.lagging) <= set(partition.replicas) - {partition.leader}
        assert {node for node in partition.isr if node in partition.lagging} <= self.cluster.brokers.silent | set(partition.held)
        assert set(partition.lag_marks) == set(partition.in_sync_laggards)
        assert partition.high_watermark <= partition.log.end_offset
        assert all(partition.high_watermark <= partition.position(node) for node in partition.isr)
        assert (partition.held_offset is None) == (len(partition.isr) >= partition.min_isr and not partition.in_sync_laggards)
        assert len(self.acknowledged) <= partition.high_watermark

    def take_acknowledged(self) -> None:
        waiting, self.waiting = self.waiting, []
        for client, value in waiting:
            response = client.receive()
            if response is None:
                self.waiting.append((client, value))
            elif value and response.responses[0].partition_responses[0].error_code == 0:
                self.acknowledged.append(value)

    def teardown(self) -> None:
        """Starts all nodes. Every reassignment must complete, and every acknowledged record must be present, in order.

        A reassignment that adds nothing, started during one that adds a replica, leaves this replica both added and removed. As in
        Apache Kafka 4.3.1, such a reassignment ends only when it is cancelled.
        """
        for node in NODES:
            self.catch_up(node)
            if self.cluster.brokers[node].fenced or node in self.cluster.brokers.silent:
                self.cluster.nodes.start(node)
        self.world.advance(500)
        self.the_state_is_sound()
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


Replicas.TestCase.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
test_replicas_stopping_lose_no_acknowledged_record = Replicas.TestCase
