"""Several log directories: where replicas are placed, and how they move."""

from __future__ import annotations

import pytest

from odradek.broker.cluster.log_dirs import MAX_CHOSEN, MOVE_MS, RATE, LogDirs
from odradek.broker.topics.partition import Partition
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.broker.harness import World, produce

SETTINGS = {"log.dirs": "/a,/b", "replica.fetch.max.bytes": "100"}


def world_with(settings: dict[str, str] | None = None, partitions: int = 4) -> World:
    world = World(nodes=1, settings={**SETTINGS, **(settings or {})})
    world.cluster.topics.create("t", assignments=[[1]] * partitions)
    return world


def dirs_of(world: World) -> LogDirs:
    dirs = world.cluster.brokers[1].log_dirs
    dirs.refresh()
    return dirs


def partition(world: World, index: int = 0) -> Partition:
    return world.cluster.topics["t"].partitions[index]


def throttle(world: World, rate: int) -> None:
    world.cluster.alter_brokers(None, {RATE: str(rate)})


def test_new_replicas_go_to_the_emptiest_directory() -> None:
    world = world_with()
    assert [dirs_of(world).directory(partition(world, index)) for index in range(4)] == ["/a", "/b", "/a", "/b"]


def test_new_replicas_avoid_cordoned_directories() -> None:
    world = world_with({"cordoned.log.dirs": "/a"})
    assert {dirs_of(world).directory(partition(world, index)) for index in range(4)} == {"/b"}


def test_single_directory_keeps_no_state() -> None:
    world = world_with({"log.dirs": "/only"})
    dirs = dirs_of(world)
    dirs.move("t", 0, "/only")
    assert dirs.directory(partition(world)) == "/only"
    assert not dirs.placed and not dirs.moves


def test_replica_moves_after_a_while() -> None:
    world = world_with()
    dirs_of(world).move("t", 0, "/b")
    assert dirs_of(world).directory(partition(world)) == "/a"
    world.advance(MOVE_MS)
    assert dirs_of(world).directory(partition(world)) == "/b"
    assert dirs_of(world).future(partition(world)) is None


def test_throttled_replica_moves_batch_by_batch() -> None:
    world = world_with()
    for value in (b"x", b"y", b"z"):
        produce(world, "t", value * 80)
    size = partition(world).log.size // 3
    throttle(world, 10)
    dirs_of(world).move("t", 0, "/b")
    lags = []
    for _ in range(40):
        future = dirs_of(world).future(partition(world))
        lags.append(None if future is None else (future.directory, future.size, future.offset_lag))
        world.advance(1000)
    assert list(dict.fromkeys(lags)) == [("/b", size, 2), ("/b", 2 * size, 1), None]


def test_throttle_that_changes_keeps_what_was_copied() -> None:
    world = world_with()
    for value in (b"x", b"y", b"z"):
        produce(world, "t", value * 80)
    throttle(world, 100)
    dirs_of(world).move("t", 0, "/b")
    world.advance(2000)
    before = dirs_of(world).future(partition(world))
    throttle(world, 1)
    assert before is not None and before == dirs_of(world).future(partition(world))
    assert before.offset_lag == 1


def test_move_back_ends_the_move() -> None:
    world = world_with()
    dirs_of(world).move("t", 0, "/b")
    dirs_of(world).move("t", 0, "/a")
    world.advance(MOVE_MS)
    assert dirs_of(world).directory(partition(world)) == "/a"


def test_directory_that_was_chosen_before_is_used() -> None:
    world = world_with(partitions=1)
    dirs = dirs_of(world)
    with pytest.raises(KafkaError) as refused:
        dirs.move("t", 1, "/a")
    assert refused.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    world.cluster.topics.add_partitions(world.cluster.topics["t"], [[1], [1]])
    assert [dirs_of(world).directory(partition(world, index)) for index in (1, 2)] == ["/a", "/b"]


def test_choices_without_a_replica_are_bounded() -> None:
    dirs = dirs_of(world_with())
    for index in range(MAX_CHOSEN + 5):
        with pytest.raises(KafkaError):
            dirs.move("nobody", index, "/a")
    assert len(dirs.chosen) == MAX_CHOSEN


@pytest.mark.parametrize(
    ("directory", "code"), [("/c", ErrorCode.LOG_DIR_NOT_FOUND), ("/b", ErrorCode.INVALID_REPLICA_ASSIGNMENT)], ids=["unknown", "cordoned"]
)
def test_move_to_unusable_directory_is_refused(directory: str, code: ErrorCode) -> None:
    dirs = dirs_of(world_with({"cordoned.log.dirs": "/b"}))
    with pytest.raises(KafkaError) as refused:
        dirs.move("t", 0, directory)
    assert refused.value.code is code


def test_deleted_replica_is_forgotten() -> None:
    world = world_with()
    dirs_of(world).move("t", 0, "/b")
    world.cluster.delete_topic(world.cluster.topics["t"])
    dirs = dirs_of(world)
    assert not dirs.placed and not dirs.moves
