"""The stored states of share partitions: epochs, snapshots and updates, and reading them back from the log."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from odradek.broker.cluster.state import ClusterState
from odradek.broker.share_partitions.coordinator import ShareCoordinator
from odradek.broker.share_partitions.records import SharePartitionKey
from odradek.broker.share_partitions.stored_state import StateBatch
from odradek.broker.snapshots.cluster import write_cluster
from odradek.broker.topics.partition import Partition
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.stored.coordinator_records import CoordinatorRecord
from tests.broker.harness import World

SETTINGS = {"share.coordinator.state.topic.num.partitions": "1"}
INTERVAL_MS = 300_000


@pytest.fixture
def world() -> World:
    return new_world()


def new_world(**settings: str) -> World:
    world = World(nodes=1, settings=SETTINGS | {name.replace("_", "."): value for name, value in settings.items()})
    world.cluster.topics.create("t", 2, 1)
    return world


def key_in(cluster: ClusterState, partition: int = 0) -> SharePartitionKey:
    return SharePartitionKey("g", cluster.topics["t"].id, partition)


def initialized(world: World, start_offset: int = -1) -> tuple[ShareCoordinator, SharePartitionKey]:
    states, key = world.cluster.share_states, key_in(world.cluster)
    states.initialize(*key, start_offset, 1)
    return states, key


def state_log(cluster: ClusterState) -> Partition:
    return cluster.topics["__share_group_state"].partitions[0]


def test_key_text_contains_the_topic_id_in_base64() -> None:
    assert SharePartitionKey("g", bytes(16), 3).text == "g:AAAAAAAAAAAAAAAAAAAAAA:3"


TOPIC_ID = "A" * 22


@pytest.mark.parametrize("text", ["", "g", f"g:{TOPIC_ID}", f" :{TOPIC_ID}:0", "g:AAAA:0", f"g:{TOPIC_ID}:x"])
def test_key_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        SharePartitionKey.parse(text)


def test_key_is_read_from_its_text() -> None:
    key = SharePartitionKey("g:with:colons", bytes(range(16)), 3)
    assert SharePartitionKey.parse(key.text) == key


def test_initialize_without_offset_leaves_the_count_unknown(world: World) -> None:
    states, key = initialized(world)
    assert states.summary(*key) == (1, 0, -1, -1)
    states.set_start_offset(*key, 5, 2)
    assert states.summary(*key) == (2, 0, 5, 0)
    assert states.summary(*key_in(world.cluster, 1)) is None


def test_initialize_of_an_older_epoch_is_fenced(world: World) -> None:
    states, key = initialized(world)
    states.initialize(*key, 0, 3)
    with pytest.raises(KafkaError) as refused:
        states.initialize(*key, 0, 2)
    assert refused.value.code == ErrorCode.FENCED_STATE_EPOCH
    states.initialize(*key, 0, -1)


@pytest.mark.parametrize(("partition", "code"), [(-1, ErrorCode.INVALID_REQUEST), (2, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)])
def test_initialize_of_a_missing_partition_is_refused(world: World, partition: int, code: ErrorCode) -> None:
    key = key_in(world.cluster, partition)
    states = world.cluster.share_states
    calls: list[Callable[[], object]] = [lambda: states.initialize(*key, 0, 1), lambda: states.delete(*key)]
    for call in calls:
        with pytest.raises(KafkaError) as refused:
            call()
        assert refused.value.code == code
    assert "__share_group_state" not in world.cluster.topics


def test_read_raises_the_leader_epoch_and_fences_older_ones(world: World) -> None:
    states, key = initialized(world, 4)
    assert states.read(key, 7) == (1, 4, [])
    assert states.summary(*key) == (1, 7, 4, 0)
    for call in (lambda: states.read(key, 6), lambda: states.write(key, 1, 6, 4, 0, [])):
        with pytest.raises(KafkaError) as refused:
            call()
        assert refused.value.code == ErrorCode.FENCED_LEADER_EPOCH
    size = state_log(world.cluster).log.end_offset
    states.read(key, 7)
    states.read(key, -1)
    assert state_log(world.cluster).log.end_offset == size


def test_read_and_write_before_initialize_are_refused(world: World) -> None:
    states, key = world.cluster.share_states, key_in(world.cluster)
    for call in (lambda: states.read(key, 0), lambda: states.write(key, 0, 0, 0, 0, [])):
        with pytest.raises(KafkaError) as refused:
            call()
        assert refused.value.code == ErrorCode.INVALID_REQUEST


def test_write_with_an_older_state_epoch_is_fenced(world: World) -> None:
    states, key = initialized(world, 0)
    with pytest.raises(KafkaError) as refused:
        states.write(key, 0, 0, 0, 0, [])
    assert refused.value.code == ErrorCode.FENCED_STATE_EPOCH


def test_write_keeps_a_start_offset_that_is_not_given(world: World) -> None:
    states, key = initialized(world, 3)
    states.write(key, 1, 0, -1, 2, [StateBatch(3, 4, 2, 1)])
    assert states.read(key, -1) == (1, 3, [(3, 4, 2, 1)])
    states.write(key, 1, 0, 4, 1, [StateBatch(6, 6, 0, 1)])
    assert states.read(key, -1) == (1, 4, [(4, 4, 2, 1), (6, 6, 0, 1)])


def test_write_beyond_the_updates_writes_a_snapshot() -> None:
    world = new_world(share_coordinator_snapshot_update_records_per_snapshot="2")
    states, key = initialized(world, 0)
    for offset in range(6):
        states.write(key, 1, 0, -1, offset, [StateBatch(offset * 2, offset * 2, 2, 1)])
    assert states._states[key].snapshot_epoch == 2
    assert [batch.first for batch in states.read(key, -1).batches] == [0, 2, 4, 6, 8, 10]
    states.write(key, 1, 0, 5, 0, [])
    states.write(key, 1, 0, -1, 0, [])
    assert states.read(key, -1).start_offset == 5


def test_states_are_read_back_from_the_log(world: World) -> None:
    states, key = initialized(world, 0)
    states.write(key, 1, 0, 1, 1, [StateBatch(1, 1, 0, 1), StateBatch(2, 2, 2, 2)])
    other = key_in(world.cluster, 1)
    states.initialize(*other, 0, 1)
    states.delete(*other)
    before = states.read(key, -1), states.summary(*key)
    world.restore(write_cluster(world.cluster))
    restored = world.cluster.share_states
    assert restored is not states
    assert (restored.read(key, -1), restored.summary(*key)) == before
    assert len(restored) == 1


def test_states_ignore_records_that_are_none(world: World, caplog: pytest.LogCaptureFixture) -> None:
    _, key = initialized(world, 0)
    state_log(world.cluster).append_records([CoordinatorRecord(b"\0\x09", b"")], 0, None)
    world.restore(write_cluster(world.cluster))
    assert world.cluster.share_states.read(key, -1).start_offset == 0
    assert "ignored the record at offset 1" in caplog.text


def test_states_of_a_deleted_topic_are_removed(world: World) -> None:
    states, _ = initialized(world)
    world.cluster.delete_topic(world.cluster.topics["t"])
    assert len(states) == 0


def test_write_without_a_leader_changes_nothing() -> None:
    world = World(nodes=2, settings=SETTINGS | {"share.coordinator.state.topic.replication.factor": "1"})
    world.cluster.topics.create("t", 1, 1, [[1]])
    states, key = initialized(world, 0)
    partition = state_log(world.cluster)
    world.cluster.nodes.stop(partition.leader)
    before = states.summary(*key)
    with pytest.raises(KafkaError) as refused:
        states.write(key, 1, 0, 9, 0, [])
    assert refused.value.code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert states.summary(*key) == before


def test_cold_partitions_get_a_snapshot_and_are_pruned(world: World) -> None:
    states, key = initialized(world, 0)
    warm = key_in(world.cluster, 1)
    states.initialize(*warm, 0, 1)
    states.write(key, 1, 0, 1, 1, [])
    world.advance(INTERVAL_MS)
    assert state_log(world.cluster).log.end_offset == 5
    world.advance(INTERVAL_MS)
    assert state_log(world.cluster).log.start_offset == 3
    assert state_log(world.cluster).log.end_offset == 5, "a quiet log gets no more snapshots"
    world.restore(write_cluster(world.cluster))
    assert world.cluster.share_states.read(key, -1).start_offset == 1
    assert ("cold share snapshots" in world.timers) and ("share state pruning" in world.timers)


def test_records_of_deleted_states_are_pruned(world: World) -> None:
    for _ in range(10):
        states, key = initialized(world, 0)
        states.delete(*key)
    world.advance(2 * INTERVAL_MS)
    log = state_log(world.cluster).log
    assert (log.start_offset, log.end_offset) == (19, 20), "only the last deletion is kept"
    assert "share state pruning" not in world.timers
    states, key = initialized(world, 7)
    world.restore(write_cluster(world.cluster))
    assert world.cluster.share_states.read(key, -1).start_offset == 7


def test_cold_state_keeps_no_records_of_deleted_ones(world: World) -> None:
    states, _ = initialized(world, 3)
    world.advance(INTERVAL_MS)
    for _ in range(10):
        states.initialize(*key_in(world.cluster, 1), 0, 1)
        states.delete(*key_in(world.cluster, 1))
    world.advance(2 * INTERVAL_MS)
    log = state_log(world.cluster).log
    assert log.end_offset - log.start_offset == 1
    world.advance(5 * INTERVAL_MS)
    assert log.end_offset == 23, "the quiet log gets no more snapshots"
