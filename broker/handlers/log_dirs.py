"""DescribeLogDirs and AlterReplicaLogDirs (KIP-113). Each broker has one log directory, which is only a name."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from ...protocol.errors import ErrorCode
from ...protocol.messages.alter_replica_log_dirs import (
    ALTER_REPLICA_LOG_DIRS,
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from ...protocol.messages.describe_log_dirs import (
    DESCRIBE_LOG_DIRS,
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from ..cluster.broker import Broker
from ..context import Context
from ..registry import handles
from ..scheduling.waiting import NEXT_TURN, Wait
from ..security.acls import Operation, ResourceType
from ..slices import Slices, chunks
from ..topics.partition import Partition


def log_dir(broker: Broker) -> str:
    """Returns the name of the broker's directory: the first one in log.dirs, else log.dir."""
    lists = broker.config.lists
    return (lists.get("log.dirs") or lists["log.dir"])[0]


def _replica(broker: Broker, topic_name: str, index: int) -> Partition | None:
    """Returns the partition, or None if it does not exist or the broker has no replica of it."""
    topic = broker.cluster.topics.get(topic_name)
    partition = topic.partition(index) if topic else None
    return partition if partition and broker.node_id in partition.replicas else None


@handles(DESCRIBE_LOG_DIRS)
def describe_log_dirs(request: DescribeLogDirsRequest, context: Context) -> Generator[Wait, None, DescribeLogDirsResponse]:
    """Describes the broker's replicas of the requested partitions or, with null, all its replicas. Other partitions are omitted."""
    if not context.may(Operation.DESCRIBE, ResourceType.CLUSTER):
        return DescribeLogDirsResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED, results=[])
    broker = context.broker
    if request.topics is None:
        wanted: dict[str, Sequence[int]] = {topic.name: range(len(topic.partitions)) for topic in broker.cluster.topics.values()}
    else:
        requested: dict[str, dict[int, None]] = {}
        for each in request.topics:
            requested.setdefault(each.topic, {}).update(dict.fromkeys(each.partitions))
        wanted = {name: list(indexes) for name, indexes in requested.items()}
    topics, slices = [], Slices()
    for name, indexes in wanted.items():
        described = DescribeLogDirsTopic(name=name, partitions=[])
        for chunk in chunks(indexes):
            described.partitions += [_describe(replica, broker) for index in chunk if (replica := _replica(broker, name, index))]
            if slices.full(1 + len(chunk)):
                yield NEXT_TURN
        if described.partitions:
            topics.append(described)
    return DescribeLogDirsResponse(results=[DescribeLogDirsResult(log_dir=log_dir(broker), topics=topics)])


def _describe(partition: Partition, broker: Broker) -> DescribeLogDirsPartition:
    """Describes a broker's replica. `offset_lag` is 0 even if it lags, because Kafka compares its end with the high watermark it knows."""
    log, end_offset = partition.log, partition.position(broker.node_id)
    size = log.size if end_offset == log.end_offset else log.available(log.start_offset, end_offset)
    return DescribeLogDirsPartition(partition_index=partition.index, partition_size=size, offset_lag=0, is_future_key=False)


@handles(ALTER_REPLICA_LOG_DIRS)
def alter_replica_log_dirs(request: AlterReplicaLogDirsRequest, context: Context) -> AlterReplicaLogDirsResponse:
    """Accepts moves to the directory where the replicas already are. Returns LOG_DIR_NOT_FOUND for any other directory."""
    may_alter = context.may(Operation.ALTER, ResourceType.CLUSTER)
    results: dict[str, dict[int, AlterReplicaLogDirPartitionResult]] = {}
    for directory in request.dirs:
        for topic in directory.topics:
            for index in topic.partitions:
                code = ErrorCode.NONE
                if not may_alter:
                    code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
                elif directory.path != log_dir(context.broker):
                    code = ErrorCode.LOG_DIR_NOT_FOUND
                elif _replica(context.broker, topic.name, index) is None:
                    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                results.setdefault(topic.name, {})[index] = AlterReplicaLogDirPartitionResult(partition_index=index, error_code=code)
    return AlterReplicaLogDirsResponse(
        results=[
            AlterReplicaLogDirTopicResult(topic_name=name, partitions=list(partitions.values())) for name, partitions in results.items()
        ]
    )
