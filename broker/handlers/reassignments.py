"""AlterPartitionReassignments and ListPartitionReassignments. A replica is a position in the one log, so every move is over at once."""

from __future__ import annotations

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.alter_partition_reassignments import (
    ALTER_PARTITION_REASSIGNMENTS,
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from ...protocol.messages.list_partition_reassignments import (
    LIST_PARTITION_REASSIGNMENTS,
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from ..acls import ALTER, DESCRIBE
from ..context import Context
from .registry import handles


@handles(ALTER_PARTITION_REASSIGNMENTS)
def alter_partition_reassignments(request: AlterPartitionReassignmentsRequest, context: Context) -> AlterPartitionReassignmentsResponse:
    """Gives partitions other replicas; null would cancel a reassignment, of which there is never one under way."""
    context.demand(ALTER)
    responses = []
    for topic in request.topics:
        partitions = []
        for wanted in topic.partitions:
            answer = ReassignablePartitionResponse(partition_index=wanted.partition_index, error_message=None)
            try:
                _reassign(topic.name, wanted, request.allow_replication_factor_change, context)
            except KafkaError as error:
                answer.error_code, answer.error_message = error.code, error.message
            partitions.append(answer)
        responses.append(ReassignableTopicResponse(name=topic.name, partitions=partitions))
    return AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change, error_message=None, responses=responses
    )


def _reassign(name: str, wanted: ReassignablePartition, factor_may_change: bool, context: Context) -> None:
    cluster = context.broker.cluster
    topic = cluster.topics.get(name)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find a topic named {name}.")
    partition = topic.partition(wanted.partition_index)
    if partition is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find partition {name}:{wanted.partition_index}.")
    if wanted.replicas is None:
        raise KafkaError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    cluster.check_assignments([wanted.replicas])
    before, after = len(partition.replicas), len(wanted.replicas)
    if before != after and not factor_may_change:
        raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, f"The replication factor is changed from {before} to {after}")
    partition.reassign(wanted.replicas, cluster.running)
    context.wake(partition)
    cluster.transactions.write_missing_markers()


@handles(LIST_PARTITION_REASSIGNMENTS)
def list_partition_reassignments(request: ListPartitionReassignmentsRequest, context: Context) -> ListPartitionReassignmentsResponse:
    """None is ever under way."""
    context.demand(DESCRIBE)
    return ListPartitionReassignmentsResponse(error_message=None, topics=[])
