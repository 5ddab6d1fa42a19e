"""Timers of a restored cluster: each fires after the time that remained when the state was written."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from odradek.broker.cluster.state import ClusterState
from odradek.broker.groups.classic.messages import Join, JoinResult, Leave, Protocol, Sync
from odradek.broker.groups.consumer.heartbeat import ConsumerHeartbeat
from odradek.broker.groups.states import GroupState
from odradek.broker.scheduling.waiting import Reply
from odradek.broker.snapshots.cluster import write_cluster
from odradek.broker.snapshots.coordinators import set_timers
from odradek.broker.transactions.transaction import TopicPartition, TransactionState
from tests.broker.harness import World, produce

TIMEOUT_MS = 10_000
LONG_MS = 3_600_000


def world() -> World:
    made = World(2, {"offsets.topic.num.partitions": "1", "transaction.state.log.num.partitions": "1"})
    for name in ("__consumer_offsets", "__transaction_state"):
        made.cluster.topics.ensure_internal(name)
    made.cluster.topics.create("t", 1, 2)
    return made


def join(cluster: ClusterState, member_id: str = "") -> JoinResult:
    protocols = (Protocol("range", b""),)
    asked = Join(
        protocol_type="p", protocols=protocols, session_timeout_ms=TIMEOUT_MS, rebalance_timeout_ms=2 * TIMEOUT_MS, member_id=member_id
    )
    reply: Reply[JoinResult] = Reply()
    cluster.groups.classic.join("g", asked, reply)
    return reply.value if reply.done else JoinResult(0)  # type: ignore[arg-type]


def classic_session(world: World) -> None:
    join(world.cluster)
    world.advance(0)
    (member_id,) = world.cluster.groups.get("g").members  # type: ignore[union-attr]
    world.cluster.groups.classic.sync("g", Sync(member_id=member_id, generation_id=1, assignments={member_id: b"a"}), Reply())


def unsynced(world: World) -> None:
    join(world.cluster)
    world.advance(0)


def consumer_session(world: World) -> None:
    heartbeat = ConsumerHeartbeat(member_id="m", epoch=0, topics=frozenset({"t"}), rebalance_timeout_ms=LONG_MS, owned=frozenset())
    world.cluster.groups.consumer.heartbeat("g", heartbeat)


def empty_group(cluster: ClusterState) -> bool:
    group = cluster.groups.get("g")
    return group is not None and group.is_empty


def transaction(world: World) -> None:
    producer = world.cluster.transactions.init_producer_id("id", TIMEOUT_MS).producer
    world.cluster.transactions.add_partitions("id", producer, [TopicPartition("t", 0)])


def aborted(cluster: ClusterState) -> bool:
    found = cluster.transactions.get("id")
    return found is not None and found.state is TransactionState.COMPLETE_ABORT


def transactional_id(world: World) -> None:
    world.cluster.transactions.init_producer_id("id", TIMEOUT_MS)


def moved_leader(world: World) -> None:
    leader = world.cluster.topics["t"].partitions[0].leader
    world.cluster.nodes.stop(leader)
    world.cluster.nodes.start(leader)


def led_by_the_first_replica(cluster: ClusterState) -> bool:
    partition = cluster.topics["t"].partitions[0]
    return partition.leader == partition.replicas[0]


def reassigned(world: World) -> None:
    partition = world.cluster.topics.create("u", assignments=[[1]]).partitions[0]
    world.cluster.replica_control.reassign(partition, [2])


def reassignment_is_complete(cluster: ClusterState) -> bool:
    return cluster.topics["u"].partitions[0].replicas == [2]


def old_records(world: World) -> None:
    world.cluster.alter_topic(world.cluster.topics["t"], {"retention.ms": "1", "message.timestamp.type": "LogAppendTime"})
    produce(world, "t", b"v")
    world.advance(1000)


def deleted_records(cluster: ClusterState) -> bool:
    return cluster.topics["t"].partitions[0].log.size == 0


def idle_producer(world: World) -> None:
    world.cluster.producer_ids.generate()
    produce(world, "t", b"v", producer_id=0, producer_epoch=0, base_sequence=0)


def forgotten_producer(cluster: ClusterState) -> bool:
    return not len(cluster.topics["t"].partitions[0].producers)


DAY_MS = 86_400_000
Case = tuple[Callable[[World], None], Callable[[ClusterState], bool], int]
CASES: dict[str, Case] = {
    "classic session": (classic_session, empty_group, TIMEOUT_MS),
    "classic sync": (unsynced, empty_group, TIMEOUT_MS),
    "consumer session": (consumer_session, empty_group, 45_000),
    "transaction": (transaction, aborted, TIMEOUT_MS),
    "transactional id": (transactional_id, lambda cluster: cluster.transactions.get("id") is None, 7 * DAY_MS),
    "leader rebalance": (moved_leader, led_by_the_first_replica, 300_000),
    "reassignment": (reassigned, reassignment_is_complete, 500),
    "log retention": (old_records, deleted_records, 30_000 - 1000),
    "producer expiration": (idle_producer, forgotten_producer, DAY_MS),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_timer_restored_fires_after_the_time_that_remained(case: Case) -> None:
    begin, is_over, delay_ms = case
    passed_ms = delay_ms // 3
    made = world()
    begin(made)
    made.advance(passed_ms)
    state = write_cluster(made.cluster)
    made.advance(LONG_MS)
    for _ in range(2):
        made.restore(state)
        made.advance(delay_ms - passed_ms - 1)
        assert not is_over(made.cluster)
        made.advance(600_000 if delay_ms >= DAY_MS else 1)  # the longest ones are checked only at intervals
        assert is_over(made.cluster)


def test_initial_rebalance_restored_waits_for_the_rest() -> None:
    made = World(1, {"offsets.topic.num.partitions": "1", "group.initial.rebalance.delay.ms": "3000"})
    made.cluster.topics.ensure_internal("__consumer_offsets")
    join(made.cluster)
    made.advance(1000)
    state = write_cluster(made.cluster)
    made.restore(state)
    made.advance(1999)
    group = made.cluster.groups.get("g")
    assert group is not None
    assert group.state is GroupState.PREPARING_REBALANCE
    made.advance(1)
    assert group.is_empty, "the member has not joined again, because its request was lost with its connection"


def test_member_restored_in_a_rebalance_may_join_again() -> None:
    made = world()
    classic_session(made)
    (member_id,) = made.cluster.groups.get("g").members  # type: ignore[union-attr]
    join(made.cluster)  # waits until the first member has joined again
    made.restore(write_cluster(made.cluster))
    group = made.cluster.groups.get("g")
    assert group is not None
    assert group.state is GroupState.PREPARING_REBALANCE
    join(made.cluster, member_id)
    made.advance(2 * TIMEOUT_MS)
    assert list(group.members) == [member_id], "the other member's request was lost, and it has not joined again in time"


def test_leave_of_a_restored_member_cancels_its_timers() -> None:
    made = world()
    classic_session(made)
    made.restore(write_cluster(made.cluster))
    (member_id,) = made.cluster.groups.get("g").members  # type: ignore[union-attr]
    assert ("session", "g", member_id) in made.timers
    made.cluster.groups.classic.leave("g", [Leave(member_id=member_id)])
    assert ("session", "g", member_id) not in made.timers


@pytest.mark.parametrize(
    "key",
    ["lunch", ["session", "unknown", "m"], ["transaction", "unknown"], ["lunch", "g"], 7, ["reassignment", ["t", 5]], ["reassignment", 5]],
)
def test_timer_that_cannot_exist_is_refused(key: object) -> None:
    with pytest.raises((ValueError, LookupError)):
        set_timers(world().cluster, [(key, 5)])


def test_timer_of_an_object_is_not_part_of_the_state() -> None:
    made = World(1)
    before = write_cluster(made.cluster)["timers"]
    for key in (object(), (object(), 5)):
        made.timers.set(key, 1000, lambda: None)
    assert write_cluster(made.cluster)["timers"] == before
