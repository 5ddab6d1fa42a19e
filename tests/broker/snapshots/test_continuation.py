"""Counters that clients see, and the clients themselves, go on when a former state is restored."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from odradek.broker.api.context import Parked
from odradek.broker.cluster.state import ClusterState
from odradek.broker.groups.classic.messages import Join, Protocol, Sync
from odradek.broker.groups.consumer.heartbeat import ConsumerHeartbeat
from odradek.broker.groups.offsets import CommittedOffset
from odradek.broker.groups.share.heartbeat import ShareHeartbeat
from odradek.broker.groups.streams.heartbeat import StreamsHeartbeat
from odradek.broker.groups.streams.topology import Topology
from odradek.broker.scheduling.timers import Timers
from odradek.broker.scheduling.turns import Turns
from odradek.broker.scheduling.waiting import Reply
from odradek.broker.snapshots.cluster import State, restore_cluster, write_cluster
from odradek.broker.transactions.transaction import Producer, TopicPartition, TransactionState
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.messages.offset_for_leader_epoch import (
    OFFSET_FOR_LEADER_EPOCH,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import World, a_batch, produce, produce_request

TIMEOUT_MS = 10_000
IN_T = [TopicPartition("t", 0)]


@pytest.fixture
def world() -> World:
    """A cluster whose topic `t` has three records."""
    made = World(2, {"offsets.topic.num.partitions": "1", "transaction.state.log.num.partitions": "1"})
    for name in ("__consumer_offsets", "__transaction_state", "__share_group_state"):
        made.cluster.topics.ensure_internal(name)
    made.cluster.topics.create("t", 1, 2)
    produce(made, "t", b"a", b"b", b"c")
    return made


def back_to(world: World, state: State) -> ClusterState:
    world.restore(state, continues=True)
    return world.cluster


# Leader epochs


def end_of(world: World, epoch: int) -> tuple[int, int]:
    """Returns the answer to OffsetForLeaderEpoch."""
    wanted = OffsetForLeaderPartition(partition=0, current_leader_epoch=-1, leader_epoch=epoch)
    request = OffsetForLeaderEpochRequest(replica_id=-1, topics=[OffsetForLeaderTopic(topic="t", partitions=[wanted])])
    answer = world.leader_of("t").call(OFFSET_FOR_LEADER_EPOCH, 4, request).topics[0].partitions[0]
    return answer.leader_epoch, answer.end_offset


def leader_epochs(cluster: ClusterState) -> set[int]:
    return {partition.leader_epoch for partition in cluster.topics.partitions()}


def test_consumer_finds_out_where_the_restored_log_ends(world: World) -> None:
    state = write_cluster(world.cluster)
    produce(world, "t", b"d")
    assert end_of(world, 0) == (0, 4)
    back_to(world, state)
    produce(world, "t", b"e", b"f")
    assert end_of(world, 0) == (0, 3), "the record at offset 3 is another one now"
    assert end_of(world, 1) == (1, 5)
    back_to(world, state)
    produce(world, "t", b"g", b"h", b"i")
    assert end_of(world, 1) == (0, 3), "nothing is left of the time between"


def test_leader_epochs_are_above_those_of_deleted_topics(world: World) -> None:
    state = write_cluster(world.cluster)
    world.cluster.delete_topic(world.cluster.topics["t"])
    partition = world.cluster.topics.create("t", 1, 2).partitions[0]
    for leader in (1, 2, 1, 2):
        partition.elect(leader)
    world.cluster.delete_topic(world.cluster.topics["t"])
    cluster = back_to(world, state)
    assert leader_epochs(cluster) == {5}
    cluster.topics.create("new", 1, 2)
    cluster.topics.add_partitions(cluster.topics["t"], [[1, 2]])
    assert leader_epochs(cluster) == {5}, "a consumer may know a topic with the same name from the time before"


def test_restored_groups_are_not_taken_for_moved_ones(world: World) -> None:
    world.cluster.topics["__consumer_offsets"].partitions[0].elect(2)
    moves = back_to(world, write_cluster(world.cluster)).coordinator_moves
    moves.changed(world.cluster.topics["__consumer_offsets"].partitions[0])
    assert moves.untreated == {}


def test_loaded_state_begins_new_leader_epochs(world: World) -> None:
    world.cluster.topics["t"].partitions[0].elect(2)
    assert leader_epochs(world.cluster) == {0, 1}
    turns = Turns[Parked](Timers(world.timers.now_ms), lambda: 0.0)
    loaded = restore_cluster(write_cluster(world.cluster), world.config, turns, Random(), None, None)
    assert leader_epochs(loaded) == {2}


def test_features_have_a_newer_epoch_after_each_restore(world: World) -> None:
    state, epochs = write_cluster(world.cluster), [world.cluster.metadata_log.end_offset]
    for _ in range(3):
        world.cluster.topics.create("u", 1, 1)
        epochs.append(world.cluster.metadata_log.end_offset)
        epochs.append(back_to(world, state).metadata_log.end_offset)
    assert epochs == sorted(set(epochs))


# Producers


def write(world: World, sequence: int, value: bytes, producer_id: int = 7) -> int:
    return produce(world, "t", value, producer_id=producer_id, producer_epoch=0, base_sequence=sequence)


def test_idempotent_producer_goes_on_with_its_sequence(world: World) -> None:
    write(world, 0, b"x")
    state = write_cluster(world.cluster)
    for sequence in range(1, 9):
        write(world, sequence, b"y")
    back_to(world, state)
    assert [write(world, sequence, b"z") for sequence in (9, 10)] == [4, 5]
    assert write(world, 10, b"z") == 5, "sent again"


def test_idempotent_producer_never_gets_an_offset_from_before(world: World) -> None:
    """The numbers of a batch are those of one that the restored log has, but it is another batch."""
    earlier = write_cluster(world.cluster)
    write(world, 0, b"x")
    later = write_cluster(world.cluster)
    back_to(world, earlier)
    write(world, 0, b"y")
    write(world, 1, b"y")
    back_to(world, later)
    assert write(world, 1, b"z") == 4


def test_batch_that_is_sent_again_after_a_restore_is_found(world: World) -> None:
    write(world, 0, b"x")
    back_to(world, write_cluster(world.cluster))
    assert write(world, 0, b"x") == 3


def test_producer_ids_are_unique_over_all_restores(world: World) -> None:
    state, ids = write_cluster(world.cluster), []
    for _ in range(3):
        ids.append(world.cluster.producer_ids.generate())
        ids.append(world.cluster.transactions.init_producer_id("id", TIMEOUT_MS).producer.id)
        back_to(world, state)
    # The transactional id keeps its producer id; its epoch grows.
    assert sorted({*ids[::2], ids[1]}) == sorted([*ids[::2], ids[1]])
    assert world.cluster.transactions.init_producer_id("id", TIMEOUT_MS).producer == Producer(ids[1], 3)


def begin(world: World) -> Producer:
    producer = world.cluster.transactions.init_producer_id("id", TIMEOUT_MS).producer
    assert world.cluster.transactions.add_partitions("id", producer, IN_T) is ErrorCode.NONE
    return producer


def end(world: World, producer: Producer, *, v2: bool = False) -> Producer:
    result = world.cluster.transactions.end("id", producer, commit=True, raise_epoch=v2)
    assert result.error is ErrorCode.NONE
    return result.producer


@pytest.mark.parametrize("v2", [False, True])
@pytest.mark.parametrize("known", [False, True])
def test_transactional_producer_goes_on(world: World, known: bool, v2: bool) -> None:
    state = write_cluster(world.cluster)
    producer = end(world, begin(world), v2=v2)
    if known:
        state = write_cluster(world.cluster)
    for _ in range(3):
        assert world.cluster.transactions.add_partitions("id", producer, IN_T) is ErrorCode.NONE
        producer = end(world, producer, v2=v2)
        transactions = back_to(world, state).transactions
        assert (transactions.get("id") is not None) == known, "it returns with the first request of its producer"
    successor = world.cluster.transactions.init_producer_id("id", TIMEOUT_MS).producer
    assert successor == producer._replace(epoch=producer.epoch + 1)
    assert world.cluster.transactions.add_partitions("id", producer, IN_T) is ErrorCode.PRODUCER_FENCED


@pytest.mark.parametrize("known", [False, True])
def test_producer_in_a_transaction_recovers_with_another_id(world: World, known: bool) -> None:
    state = write_cluster(world.cluster)
    if known:
        end(world, begin(world))
        state = write_cluster(world.cluster)
    producer = begin(world)
    transactions = back_to(world, state).transactions
    assert transactions.end("id", producer, commit=True, raise_epoch=False).error is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    recovered = transactions.init_producer_id("id", TIMEOUT_MS, producer).producer
    assert recovered.id != producer.id
    assert transactions.add_partitions("id", recovered, IN_T) is ErrorCode.NONE


def test_transaction_open_in_a_snapshot_is_open_again(world: World) -> None:
    producer = begin(world)
    state = write_cluster(world.cluster)
    end(world, producer)
    transaction = back_to(world, state).transactions.get("id")
    assert transaction is not None
    assert (transaction.producer, transaction.state) == (producer, TransactionState.ONGOING)


def test_first_write_of_a_transaction_finds_a_new_coordinator(world: World) -> None:
    """A reset removes `__transaction_state`, and a producer of transactions v2 does not look for the coordinator again."""
    empty = World(2, {"transaction.state.log.num.partitions": "1"})
    empty.cluster.topics.create("t", 1, 2)
    state = write_cluster(empty.cluster)
    empty.cluster.topics.ensure_internal("__transaction_state")
    producer = end(empty, begin(empty), v2=True)
    back_to(empty, state)
    batch = a_batch(b"v", producer_id=producer.id, producer_epoch=producer.epoch, base_sequence=0, is_transactional=True)
    request = produce_request("t", batch)
    request.transactional_id = "id"
    answer = empty.leader_of("t").call(PRODUCE, 12, request).responses[0].partition_responses[0]
    assert answer.error_code == ErrorCode.NONE


# Groups


def join_classic(world: World, member_id: str = "") -> int:
    """Joins, synchronizes and returns the generation."""
    protocols = (Protocol("range", b""),)
    join = Join(protocol_type="p", protocols=protocols, session_timeout_ms=TIMEOUT_MS, rebalance_timeout_ms=TIMEOUT_MS, member_id=member_id)
    world.cluster.groups.classic.join("g", join, Reply())
    world.advance(0)
    group = world.cluster.groups.get("g")
    assert group is not None
    (member_id,) = group.members
    sync = Sync(member_id=member_id, generation_id=group.epoch, assignments={member_id: b"a"})
    world.cluster.groups.classic.sync("g", sync, Reply())
    return group.epoch


def beat_classic(cluster: ClusterState, epoch: int) -> ErrorCode:
    group = cluster.groups.get("g")
    member_id = next(iter(group.members)) if group is not None else "m"
    return cluster.groups.classic.heartbeat("g", member_id, None, epoch)


def commit(cluster: ClusterState) -> None:
    """Commits an offset without a member, which creates a classic group."""
    cluster.groups.offsets.commit("g", {("t", 0): CommittedOffset(1, -1, "", cluster.timers.now_ms)})


def refusal(call: Callable[[], object]) -> ErrorCode:
    try:
        call()
    except KafkaError as error:
        return error.code
    return ErrorCode.NONE


def beat_consumer(cluster: ClusterState, epoch: int) -> ErrorCode:
    full = ConsumerHeartbeat(member_id="m", epoch=0, topics=frozenset({"t"}), rebalance_timeout_ms=TIMEOUT_MS, owned=frozenset())
    return refusal(lambda: cluster.groups.consumer.heartbeat("g", full if epoch == 0 else ConsumerHeartbeat(member_id="m", epoch=epoch)))


def beat_share(cluster: ClusterState, epoch: int) -> ErrorCode:
    topics = frozenset({"t"}) if epoch == 0 else None
    return refusal(lambda: cluster.groups.share.heartbeat("g", ShareHeartbeat("m", epoch, topics=topics)))


def beat_streams(cluster: ClusterState, epoch: int) -> ErrorCode:
    joining = StreamsHeartbeat("m", 0, topology=Topology(1, {}), active=(), standby=(), warmup=(), rebalance_timeout_ms=TIMEOUT_MS)
    return refusal(lambda: cluster.groups.streams.heartbeat("g", joining if epoch == 0 else StreamsHeartbeat("m", epoch)))


Beat = Callable[[ClusterState, int], ErrorCode]
BEATS = [beat_consumer, beat_share, beat_streams]


@pytest.mark.parametrize("beat", BEATS)
@pytest.mark.parametrize("epoch", [2, -1])
def test_member_of_a_removed_group_may_join_again(world: World, beat: Beat, epoch: int) -> None:
    state = write_cluster(world.cluster)
    assert beat(world.cluster, 2) is ErrorCode.GROUP_ID_NOT_FOUND, "the group never existed"
    assert beat(world.cluster, 0) is ErrorCode.NONE
    cluster = back_to(world, state)
    assert beat(cluster, epoch) is ErrorCode.UNKNOWN_MEMBER_ID
    cluster = back_to(world, state)
    assert beat(cluster, epoch) is ErrorCode.UNKNOWN_MEMBER_ID, "it is known over several restores"
    assert beat(cluster, 0) is ErrorCode.NONE


@pytest.mark.parametrize("beat", BEATS)
def test_member_whose_group_is_of_another_kind_may_join_again(world: World, beat: Beat) -> None:
    state = write_cluster(world.cluster)
    beat(world.cluster, 0)
    cluster = back_to(world, state)
    commit(cluster)
    assert beat(cluster, 2) is ErrorCode.UNKNOWN_MEMBER_ID


def test_group_that_was_deleted_is_not_found(world: World) -> None:
    state = write_cluster(world.cluster)
    join_classic(world)
    cluster = back_to(world, state)
    commit(cluster)
    assert cluster.groups.delete("g") is ErrorCode.NONE
    assert beat_consumer(cluster, 2) is ErrorCode.GROUP_ID_NOT_FOUND


def test_commit_to_a_removed_group_lets_the_member_join_again(world: World) -> None:
    state = write_cluster(world.cluster)
    assert world.cluster.groups.offsets.check_commit("g", "m", None, 2) is ErrorCode.GROUP_ID_NOT_FOUND
    beat_consumer(world.cluster, 0)
    offsets = back_to(world, state).groups.offsets
    assert offsets.check_commit("g", "m", None, 2) is ErrorCode.UNKNOWN_MEMBER_ID
    assert offsets.check_commit("g", "", None, -1) is ErrorCode.NONE, "a commit without a member creates the group"


def test_unchanged_group_keeps_its_members(world: World) -> None:
    beat_consumer(world.cluster, 0)
    epoch = world.cluster.groups.get("g").epoch  # type: ignore[union-attr]
    cluster = back_to(world, write_cluster(world.cluster))
    assert beat_consumer(cluster, epoch) is ErrorCode.NONE
    assert cluster.groups.get("g").epoch == epoch  # type: ignore[union-attr]


@pytest.mark.parametrize("beat", BEATS)
def test_changed_group_fences_its_members(world: World, beat: Beat) -> None:
    """The epochs of the restored group would otherwise mean two assignments."""
    beat(world.cluster, 0)
    state, first = write_cluster(world.cluster), world.cluster.groups.get("g").epoch  # type: ignore[union-attr]
    beat(world.cluster, -1)
    beat(world.cluster, 0)
    newest = world.cluster.groups.get("g").epoch  # type: ignore[union-attr]
    assert newest > first
    cluster = back_to(world, state)
    group = cluster.groups.get("g")
    assert group is not None
    assert group.epoch == newest + 1
    assert [beat(cluster, epoch) for epoch in (first, newest)] == [ErrorCode.FENCED_MEMBER_EPOCH] * 2
    assert beat(cluster, 0) is ErrorCode.NONE
    member = next(iter(group.members.values()))
    assert member.epoch > newest  # type: ignore[attr-defined]


@pytest.mark.parametrize("beat", [beat_consumer, beat_share])
def test_group_that_was_created_again_fences_its_members(world: World, beat: Beat) -> None:
    """It may have reached the epoch of the restored group with another assignment."""
    empty = write_cluster(world.cluster)
    beat(world.cluster, 0)
    state, first = write_cluster(world.cluster), world.cluster.groups.get("g").epoch  # type: ignore[union-attr]
    cluster = back_to(world, empty)
    beat(cluster, 0)
    other: Any = next(iter(cluster.groups.get("g").members.values()))  # type: ignore[union-attr]
    other.assigned = other.topics = frozenset({"another topic"})
    assert cluster.groups.get("g").epoch == first  # type: ignore[union-attr]
    assert beat(back_to(world, state), first) is ErrorCode.FENCED_MEMBER_EPOCH


def test_changed_group_refuses_commits_of_former_epochs(world: World) -> None:
    beat_consumer(world.cluster, 0)
    state, first = write_cluster(world.cluster), world.cluster.groups.get("g").epoch  # type: ignore[union-attr]
    world.cluster.groups.consumer.heartbeat(
        "g", ConsumerHeartbeat(member_id="n", epoch=0, topics=frozenset({"t"}), rebalance_timeout_ms=1, owned=frozenset())
    )
    offsets = back_to(world, state).groups.offsets
    assert offsets.check_commit("g", "m", None, first, [(world.cluster.topics["t"].id, 0)]) is ErrorCode.STALE_MEMBER_EPOCH


def test_changed_classic_group_has_another_generation(world: World) -> None:
    first, state = join_classic(world), write_cluster(world.cluster)
    assert beat_classic(back_to(world, state), first) is ErrorCode.NONE, "nothing has changed"
    (member_id,) = world.cluster.groups.get("g").members  # type: ignore[union-attr]
    newest = join_classic(world, member_id)
    assert newest > first
    cluster = back_to(world, state)
    assert [beat_classic(cluster, epoch) for epoch in (first, newest)] == [ErrorCode.ILLEGAL_GENERATION] * 2
    assert join_classic(world, member_id) > newest
