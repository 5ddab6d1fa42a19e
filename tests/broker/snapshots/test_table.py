"""The snapshots of a cluster: handles, and the memory that snapshots and the cluster share."""

from __future__ import annotations

import weakref

import pytest

from odradek.broker.snapshots.handle import Snapshot
from odradek.broker.snapshots.table import Snapshots
from odradek.protocol.errors import ErrorCode
from odradek.storage.log import Log
from tests.broker.harness import World, a_batch, produce
from tests.broker.topics.mapped_memory import VALUE, errors_of, mapping

SIZE = len(a_batch(VALUE))


def world_with_records(count: int = 3, limit: int | None = None) -> tuple[World, Snapshots]:
    world = World(1, max_memory_bytes=limit)
    snapshots = Snapshots(world.cluster)
    world.cluster.topics.create("t", 1)
    for _ in range(count):
        produce(world, "t", VALUE)
    return world, snapshots


def log_of(world: World) -> Log:
    return world.cluster.topics["t"].partitions[0].log


def values(world: World) -> list[bytes]:
    log = log_of(world)
    return [bytes(batch) for batch in log.batches(log.start_offset, log.end_offset)]


def used(world: World) -> int:
    assert world.cluster.log_memory is not None
    return world.cluster.log_memory.used_bytes


def test_snapshot_handle_describes_what_was_taken() -> None:
    world, snapshots = world_with_records()
    first, second = snapshots.take(world.cluster), snapshots.take(world.cluster)
    assert first == Snapshot(1, world.timers.now_ms, 1, 3 * SIZE)
    assert list(snapshots) == [first, second]
    snapshots.close(first.id)
    assert (first.id in snapshots, second.id in snapshots) == (False, True)
    assert snapshots.take(world.cluster).id == 3, "ids are not used again"


def test_restored_log_and_former_log_write_to_different_memory() -> None:
    world, snapshots = world_with_records()
    taken = snapshots.take(world.cluster)
    produce(world, "t", b"before")
    later = snapshots.take(world.cluster)
    kept = log_of(world).read(0, 2**40, 4, at_least_one=True)
    expected = [bytes(part) for part in kept]
    world.restore(snapshots[taken.id])
    produce(world, "t", b"after")
    assert [bytes(part) for part in kept] == expected, "a response that is being sent does not change"
    after = values(world)
    world.restore(snapshots[later.id])
    assert (values(world)[-1][-10:], after[-1][-9:]) == (a_batch(b"before")[-10:], a_batch(b"after")[-9:])
    world.restore(snapshots[taken.id])
    assert len(values(world)) == 3


@pytest.mark.usefixtures("without_collector")
def test_snapshot_closed_releases_the_memory_of_its_records() -> None:
    world, snapshots = world_with_records()
    taken, memory = snapshots.take(world.cluster), mapping(log_of(world))
    world.restore(snapshots.initial)
    assert memory() is not None
    snapshots.close(taken.id)
    assert memory() is None


@pytest.mark.usefixtures("without_collector")
def test_reset_releases_the_memory_of_later_records() -> None:
    world, snapshots = world_with_records()
    memory: weakref.ref[object] = mapping(log_of(world))
    world.restore(snapshots.initial)
    assert memory() is None


def test_memory_of_a_snapshot_counts_once_until_it_is_closed() -> None:
    world, snapshots = world_with_records(limit=100 * SIZE)
    assert used(world) == 3 * SIZE
    taken = snapshots.take(world.cluster)
    assert used(world) == 3 * SIZE, "the memory is shared"
    produce(world, "t", VALUE)
    world.cluster.delete_topic(world.cluster.topics["t"])
    assert used(world) == 3 * SIZE, "the snapshot keeps its records, but not the later one"
    world.restore(snapshots[taken.id])
    assert used(world) == 3 * SIZE
    snapshots.close(taken.id)
    assert used(world) == 3 * SIZE, "the restored cluster uses the records"
    world.restore(snapshots.initial)
    assert used(world) == 0


def test_produce_is_refused_while_a_snapshot_uses_the_memory() -> None:
    world, snapshots = world_with_records(limit=5 * SIZE)
    taken = snapshots.take(world.cluster)
    topic = world.cluster.topics["t"]
    topic.partitions[0].delete_before(3)
    assert errors_of(world.client(), "t", 3) == [0, 0, ErrorCode.KAFKA_STORAGE_ERROR]
    snapshots.close(taken.id)
    assert errors_of(world.client(), "t", 3) == [0, 0, 0]
