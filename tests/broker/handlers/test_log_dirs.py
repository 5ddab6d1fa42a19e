"""DescribeLogDirs and AlterReplicaLogDirs: the answers of Apache Kafka 4.3.1."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.alter_replica_log_dirs import (
    ALTER_REPLICA_LOG_DIRS,
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from odradek.protocol.messages.describe_log_dirs import DESCRIBE_LOG_DIRS, DescribableLogDirTopic, DescribeLogDirsRequest
from tests.broker.harness import World, produce


@pytest.fixture
def world() -> World:
    world = World()
    world.cluster.topics.create("t", assignments=[[1, 2], [1, 2]])
    return world


def log_dirs(world: World, *topics: DescribableLogDirTopic, everything: bool = False) -> list[tuple[str, int, int]]:
    request = DescribeLogDirsRequest(topics=None if everything else list(topics))
    (directory,) = world.client().call(DESCRIBE_LOG_DIRS, 4, request).results
    assert (directory.error_code, directory.log_dir) == (0, "/tmp/kafka-logs")
    return [
        (topic.name, partition.partition_index, partition.partition_size) for topic in directory.topics for partition in topic.partitions
    ]


def test_describe_log_dirs_has_own_replicas(world: World) -> None:
    produce(world, "t", b"x", partition=1)
    size = world.cluster.topics["t"].partitions[1].log.size
    world.cluster.topics.create("other", assignments=[[2]])
    assert log_dirs(world, everything=True) == [("t", 0, 0), ("t", 1, size)]
    unknown = DescribableLogDirTopic(topic="nope", partitions=[0])
    assert log_dirs(world, DescribableLogDirTopic(topic="t", partitions=[1, 7]), unknown) == [("t", 1, size)]
    assert log_dirs(world) == []


@pytest.mark.parametrize(
    ("path", "codes"),
    [
        ("/tmp/kafka-logs", [0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]),
        ("/nowhere", [ErrorCode.LOG_DIR_NOT_FOUND] * 3),
    ],
)
def test_alter_replica_log_dirs_only_to_own_directory(world: World, path: str, codes: list[int]) -> None:
    topics = [AlterReplicaLogDirTopic(name="t", partitions=[0, 7]), AlterReplicaLogDirTopic(name="nope", partitions=[0])]
    request = AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path=path, topics=topics)])
    results = world.client().call(ALTER_REPLICA_LOG_DIRS, 2, request).results
    assert [partition.error_code for topic in results for partition in topic.partitions] == codes


def test_relative_log_dirs_are_absolute_in_answers() -> None:
    world = World(settings={"log.dirs": "logs/one,/var/two"})
    results = world.client().call(DESCRIBE_LOG_DIRS, 4, DescribeLogDirsRequest(topics=None)).results
    assert [result.log_dir for result in results] == [str(Path.cwd() / "logs/one"), "/var/two"]


@pytest.mark.parametrize(("length", "partition", "is_short"), [(213, 0, True), (213, 10, False), (214, 0, False), (249, 0, False)])
def test_alter_replica_log_dirs_refuses_long_names(length: int, partition: int, is_short: bool) -> None:
    """The folder of the copy has a name of at most 255 characters (KAFKA-4893)."""
    world, name = World(nodes=1), "t" * length
    world.cluster.topics.create(name, 11)
    topics = [AlterReplicaLogDirTopic(name=name, partitions=[partition])]
    request = AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path="/tmp/kafka-logs", topics=topics)])
    (result,) = world.client().call(ALTER_REPLICA_LOG_DIRS, 2, request).results
    assert result.partitions[0].error_code == (0 if is_short else ErrorCode.INVALID_TOPIC_EXCEPTION)
