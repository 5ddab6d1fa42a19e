"""AlterPartitionReassignments and ListPartitionReassignments (KIP-455)."""

from __future__ import annotations

from collections.abc import Generator

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
    ListPartitionReassignmentsTopics,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from ..api.context import Context
from ..api.registry import handles
from ..scheduling.slices import Slices
from ..scheduling.waiting import NEXT_TURN, Wait
from ..security.acls import Operation
from ..topics.partition import Partition, Topic
from ..topics.placement import check_assignments


@handles(ALTER_PARTITION_REASSIGNMENTS)
def alter_partition_reassignments(
    request: AlterPartitionReassignmentsRequest, context: Context
) -> Generator[Wait, None, AlterPartitionReassignmentsResponse]:
    """Starts reassignments. A null list of replicas cancels the reassignment of a partition."""
    context.demand(Operation.ALTER)
    context.demand_controller()
    responses, slices = [], Slices()
    for topic in request.topics:
        partitions = []
        for wanted in topic.partitions:
            answer = ReassignablePartitionResponse(partition_index=wanted.partition_index, error_message=None)
            try:
                _reassign(topic.name, wanted, request.allow_replication_factor_change, context)
            except KafkaError as error:
                answer.error_code, answer.error_message = error.code, error.message
            partitions.append(answer)
            if slices.full(3):
                yield NEXT_TURN
        responses.append(ReassignableTopicResponse(name=topic.name, partitions=partitions))
        if slices.full(3):
            yield NEXT_TURN
    return AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change, error_message=None, responses=responses
    )


def _reassign(name: str, wanted: ReassignablePartition, factor_may_change: bool, context: Context) -> None:
    cluster = context.cluster
    topic = cluster.topics.get(name)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find a topic named {name}.")
    partition = topic.partition(wanted.partition_index)
    if partition is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find partition {name}:{wanted.partition_index}.")
    if wanted.replicas is None:
        _cancel(partition, context)
    else:
        _start(partition, wanted.replicas, factor_may_change, context)
    cluster.write_missing_markers()


def _start(partition: Partition, replicas: list[int], factor_may_change: bool, context: Context) -> None:
    cluster = context.cluster
    check_assignments([replicas], cluster.brokers)
    before, after = len(partition.replicas) - len(partition.removing), len(replicas)
    if before != after and not factor_may_change:
        raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, f"The replication factor is changed from {before} to {after}")
    cluster.replica_control.reassign(partition, replicas)


def _cancel(partition: Partition, context: Context) -> None:
    if not partition.is_reassigned:
        raise KafkaError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    if not partition.cancel_reassignment(context.cluster.brokers.running):
        raise KafkaError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Unable to revert partition assignment for {partition!r} because it would require an unclean leader election.",
        )
    context.cluster.replica_control.changed(partition)


@handles(LIST_PARTITION_REASSIGNMENTS)
def list_partition_reassignments(
    request: ListPartitionReassignmentsRequest, context: Context
) -> Generator[Wait, None, ListPartitionReassignmentsResponse]:
    """Lists the ongoing reassignments of the requested partitions or, with null, of all partitions."""
    context.demand(Operation.DESCRIBE)
    context.demand_controller()
    topics = context.cluster.topics
    if request.topics is None:
        wanted = [(topic, topic.partitions) for topic in topics.values()]
    else:
        wanted = [(topic, _requested_partitions(topic, each)) for each in request.topics if (topic := topics.get(each.name))]
    listed, slices = [], Slices()
    for topic, partitions in wanted:
        listed.append(_ongoing(topic, partitions))
        if slices.full(1 + len(partitions) // 10):
            yield NEXT_TURN
    return ListPartitionReassignmentsResponse(error_message=None, topics=[topic for topic in listed if topic.partitions])


def _requested_partitions(topic: Topic, wanted: ListPartitionReassignmentsTopics) -> list[Partition]:
    return [partition for index in wanted.partition_indexes if (partition := topic.partition(index))]


def _ongoing(topic: Topic, partitions: list[Partition]) -> OngoingTopicReassignment:
    return OngoingTopicReassignment(
        name=topic.name,
        partitions=[
            OngoingPartitionReassignment(
                partition_index=partition.index,
                replicas=partition.replicas,
                adding_replicas=partition.adding,
                removing_replicas=partition.removing,
            )
            for partition in partitions
            if partition.is_reassigned
        ],
    )
