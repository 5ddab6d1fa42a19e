"""ElectLeaders: elects preferred leaders or, for partitions without an eligible leader, any running replica (KIP-460)."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.elect_leaders import (
    ELECT_LEADERS,
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from ..api.context import Context
from ..api.registry import handles
from ..scheduling.slices import Slices, in_slices
from ..scheduling.waiting import NEXT_TURN, Wait
from ..security.acls import Operation
from ..topics.partition import Partition
from ..topics.replication import NO_LEADER

PREFERRED, UNCLEAN = 0, 1
# Errors of partitions that a response about all partitions omits: no election is needed, or the topic was deleted between two slices.
_OMITTED = (ErrorCode.ELECTION_NOT_NEEDED, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


@handles(ELECT_LEADERS)
def elect_leaders(request: ElectLeadersRequest, context: Context) -> Generator[Wait, None, ElectLeadersResponse]:
    """Holds an election for each requested partition. With null, all partitions are meant; those that need no election are then omitted."""
    context.demand(Operation.ALTER)
    context.demand_controller()
    cluster = context.cluster
    if request.topic_partitions is None:
        wanted = [(topic.name, list(range(len(topic.partitions)))) for topic in cluster.topics.values()]
    else:
        wanted = [(topic.topic, topic.partitions) for topic in request.topic_partitions]
    if request.election_type not in (PREFERRED, UNCLEAN):
        return _unknown_type(request, wanted)
    results, slices = [], Slices()
    for name, indexes in wanted:
        elections = yield from in_slices(partial(_elect, name, request.election_type, context), indexes, slices, 4)
        if request.topic_partitions is None:
            elections = [election for election in elections if election.error_code not in _OMITTED]
        results.append(ReplicaElectionResult(topic=name, partition_result=elections))
        if slices.full(3):
            context.cluster.write_missing_markers()
            yield NEXT_TURN
    context.cluster.write_missing_markers()
    return ElectLeadersResponse(replica_election_results=results)


def _unknown_type(request: ElectLeadersRequest, wanted: list[tuple[str, list[int]]]) -> ElectLeadersResponse:
    """Returns the response to an unknown type of election. As in Kafka, there is no top-level error if the request has no partitions."""
    message = f"Unknown election type {request.election_type}"
    return ElectLeadersResponse(
        error_code=ErrorCode.NONE if request.topic_partitions == [] else ErrorCode.INVALID_REQUEST,
        replica_election_results=[
            ReplicaElectionResult(
                topic=name,
                partition_result=[
                    PartitionResult(partition_id=index, error_code=ErrorCode.INVALID_REQUEST, error_message=message) for index in indexes
                ],
            )
            for name, indexes in wanted
            if request.topic_partitions is not None
        ],
    )


def _elect(name: str, election_type: int, context: Context, index: int) -> PartitionResult:
    try:
        topic = context.cluster.topics.get(name)
        if topic is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {name}")
        partition = topic.partition(index)
        if partition is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {name}-{index}")
        (_elect_preferred if election_type == PREFERRED else _elect_unclean)(partition, context)
        context.cluster.replica_control.changed(partition)
    except KafkaError as error:
        return PartitionResult(partition_id=index, error_code=error.code, error_message=error.message)
    return PartitionResult(partition_id=index, error_message=None)


def _elect_preferred(partition: Partition, _: Context) -> None:
    if partition.leader == partition.replicas[0]:
        raise KafkaError(ErrorCode.ELECTION_NOT_NEEDED, "Leader election not needed for topic partition.")
    if not partition.prefer_first_replica():
        raise KafkaError(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, "The preferred leader was not available.")


def _elect_unclean(partition: Partition, context: Context) -> None:
    if partition.leader != NO_LEADER:
        raise KafkaError(ErrorCode.ELECTION_NOT_NEEDED, "Leader election not needed for topic partition.")
    if not partition.elect_uncleanly(context.cluster.brokers.running):
        raise KafkaError(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, "Eligible topic partition leaders are not available.")
