"""DescribeLogDirs and AlterReplicaLogDirs (KIP-113). The rules for directories are in `cluster/log_dirs.py`."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from ...protocol.errors import ErrorCode, KafkaError
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
from ..api.context import Context
from ..api.registry import handles
from ..cluster.broker import Broker
from ..scheduling.slices import Slices, chunks
from ..scheduling.waiting import NEXT_TURN, Wait
from ..security.acls import Operation, ResourceType
from ..topics.partition import Partition


def _replica(context: Context, topic_name: str, index: int) -> Partition | None:
    """Returns the partition, or None if it does not exist or the broker has no replica of it."""
    topic = context.cluster.topics.get(topic_name)
    partition = topic.partition(index) if topic else None
    return partition if partition and context.broker.node_id in partition.replicas else None


@handles(DESCRIBE_LOG_DIRS)
def describe_log_dirs(request: DescribeLogDirsRequest, context: Context) -> Generator[Wait, None, DescribeLogDirsResponse]:
    """Describes the broker's replicas of the requested partitions or, with null, all its replicas. Other partitions are omitted."""
    if not context.may(Operation.DESCRIBE, ResourceType.CLUSTER):
        return DescribeLogDirsResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED, results=[])
    broker = context.broker
    if request.topics is None:
        wanted: dict[str, Sequence[int]] = {topic.name: range(len(topic.partitions)) for topic in context.cluster.topics.values()}
    else:
        requested: dict[str, dict[int, None]] = {}
        for each in request.topics:
            requested.setdefault(each.topic, {}).update(dict.fromkeys(each.partitions))
        wanted = {name: list(indexes) for name, indexes in requested.items()}
    log_dirs, slices = broker.log_dirs, Slices()
    log_dirs.refresh()
    results = {
        name: DescribeLogDirsResult(log_dir=log_dirs.path(name), topics=[], is_cordoned=log_dirs.is_cordoned(name))
        for name in log_dirs.names
    }
    for name, indexes in wanted.items():
        topics = {directory: DescribeLogDirsTopic(name=name, partitions=[]) for directory in results}
        for chunk in chunks(indexes):
            for replica in (replica for index in chunk if (replica := _replica(context, name, index))):
                directory = log_dirs.directory(replica)
                topics[directory].partitions.append(_describe(replica, broker))
                if (future := log_dirs.future(replica)) is not None:
                    topics[future.directory].partitions.append(
                        DescribeLogDirsPartition(
                            partition_index=replica.index, partition_size=future.size, offset_lag=future.offset_lag, is_future_key=True
                        )
                    )
            if slices.full(1 + len(chunk)):
                yield NEXT_TURN
        for directory, topic in topics.items():
            if topic.partitions:
                results[directory].topics.append(topic)
    return DescribeLogDirsResponse(results=list(results.values()))


def _describe(partition: Partition, broker: Broker) -> DescribeLogDirsPartition:
    """Describes a broker's replica. `offset_lag` is 0 even if it lags, because Kafka compares its end with the high watermark it knows."""
    log, end_offset = partition.log, partition.position(broker.node_id)
    size = log.size if end_offset == log.end_offset else log.available(log.start_offset, end_offset)
    return DescribeLogDirsPartition(partition_index=partition.index, partition_size=size, offset_lag=0, is_future_key=False)


@handles(ALTER_REPLICA_LOG_DIRS)
def alter_replica_log_dirs(request: AlterReplicaLogDirsRequest, context: Context) -> Generator[Wait, None, AlterReplicaLogDirsResponse]:
    """Begins to move replicas to other directories. Of several directories for a replica, the last one counts."""
    log_dirs = context.broker.log_dirs
    log_dirs.refresh()
    may_alter = context.may(Operation.ALTER, ResourceType.CLUSTER)
    wanted = {(topic.name, index): each.path for each in request.dirs for topic in each.topics for index in topic.partitions}
    results: dict[str, list[AlterReplicaLogDirPartitionResult]] = {}
    slices = Slices()
    for (name, index), directory in wanted.items():
        code = ErrorCode.NONE if may_alter else ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        try:
            if may_alter:
                log_dirs.move(name, index, directory)
        except KafkaError as error:
            code = error.code
        results.setdefault(name, []).append(AlterReplicaLogDirPartitionResult(partition_index=index, error_code=code))
        if slices.full(2):
            yield NEXT_TURN
    return AlterReplicaLogDirsResponse(
        results=[AlterReplicaLogDirTopicResult(topic_name=name, partitions=partitions) for name, partitions in results.items()]
    )
