"""DescribeQuorum (KIP-595), AddRaftVoter and RemoveRaftVoter (KIP-853), and UnregisterBroker, which removes a node from metadata.

The emulated metadata quorum has one voter, the controller, so requests that change the voters fail; the other brokers are observers.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import partial

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.add_raft_voter import ADD_RAFT_VOTER, AddRaftVoterRequest, AddRaftVoterResponse
from ...protocol.messages.describe_quorum import (
    DESCRIBE_QUORUM,
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    Node,
    PartitionData,
    QuorumListener,
    QuorumPartition,
    QuorumTopic,
    ReplicaState,
)
from ...protocol.messages.remove_raft_voter import REMOVE_RAFT_VOTER, RemoveRaftVoterRequest, RemoveRaftVoterResponse
from ...protocol.messages.unregister_broker import UNREGISTER_BROKER, UnregisterBrokerRequest, UnregisterBrokerResponse
from ...protocol.schema import ZERO_UUID
from ..api.context import Context
from ..api.registry import handles
from ..cluster.features import KRAFT_VERSION
from ..cluster.state import ClusterState
from ..scheduling.slices import Slices, in_slices
from ..scheduling.waiting import NEXT_TURN, Wait
from ..security.acls import Operation, ResourceType
from ..topics.names import CLUSTER_METADATA

FIRST_EPOCH = 1


@handles(DESCRIBE_QUORUM)
def describe_quorum(request: DescribeQuorumRequest, context: Context) -> Generator[Wait, None, DescribeQuorumResponse]:
    """Describes partition 0 of `__cluster_metadata`. Other partitions get UNKNOWN_TOPIC_OR_PARTITION."""
    if not context.may(Operation.DESCRIBE, ResourceType.CLUSTER):
        denied = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        return DescribeQuorumResponse(error_code=denied, error_message="not allowed to DESCRIBE CLUSTER", topics=[], nodes=[])
    topics, slices = [], Slices()
    for topic in request.topics:
        partitions = yield from in_slices(partial(_describe, topic.topic_name, context), topic.partitions, slices, 3)
        topics.append(QuorumTopic(topic_name=topic.topic_name, partitions=partitions))
        if slices.full(6):
            yield NEXT_TURN
    found = any(not partition.error_code for topic in topics for partition in topic.partitions)
    return DescribeQuorumResponse(error_message="", topics=topics, nodes=_controllers(context) if found else [])


def _describe(topic_name: str, context: Context, wanted: PartitionData) -> QuorumPartition:
    index = wanted.partition_index
    if (topic_name, index) != (CLUSTER_METADATA, 0):
        return QuorumPartition(
            partition_index=index,
            error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            error_message="This server does not host this topic-partition.",
            leader_id=0,
            leader_epoch=0,
            high_watermark=0,
            current_voters=[],
            observers=[],
        )
    cluster = context.cluster
    # Only the length of the metadata log is emulated, so every node has all of it.
    end_offset = cluster.metadata_log.end_offset
    states = {
        node_id: ReplicaState(
            replica_id=node_id, log_end_offset=end_offset, last_fetch_timestamp=context.now_ms, last_caught_up_timestamp=context.now_ms
        )
        for node_id in sorted({cluster.brokers.controller_id, *cluster.brokers.running})
    }
    voter = states.pop(cluster.brokers.controller_id)
    return QuorumPartition(
        partition_index=0,
        error_message="",
        leader_id=cluster.brokers.controller_id,
        leader_epoch=FIRST_EPOCH,
        high_watermark=end_offset,
        current_voters=[voter],
        observers=list(states.values()),
    )


def _controllers(context: Context) -> list[Node]:
    cluster = context.cluster
    controller = cluster.brokers[cluster.brokers.controller_id]
    listeners = [
        QuorumListener(name=listener.name, host=listener.advertised_host, port=listener.advertised_port)
        for listener in controller.listeners.values()
    ]
    return [Node(node_id=controller.node_id, listeners=listeners)]


DEFAULT_CONTROLLER_LISTENER = "CONTROLLER"


@handles(ADD_RAFT_VOTER)
def add_raft_voter(request: AddRaftVoterRequest, context: Context) -> AddRaftVoterResponse:
    """Raises KafkaError, with REQUEST_TIMED_OUT for a valid request, because there is no controller at the voter's address."""
    context.demand(Operation.ALTER)
    cluster = context.cluster
    _check_voter(request, "Add", cluster)
    names = cluster.config.lists.get("controller.listener.names") or (DEFAULT_CONTROLLER_LISTENER,)
    if names[0] not in {listener.name for listener in request.listeners}:
        problem = f"Add voter request didn't include the endpoint for the default listener {names[0]}"
        raise KafkaError(ErrorCode.INVALID_REQUEST, problem)
    _check_kraft_version("adding", cluster)
    if request.voter_id == cluster.brokers.controller_id:
        raise KafkaError(ErrorCode.DUPLICATE_VOTER, f"The voter id {request.voter_id} is already part of the set of voters.")
    raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, f"New voter {request.voter_id} is not ready to receive requests")


@handles(REMOVE_RAFT_VOTER)
def remove_raft_voter(request: RemoveRaftVoterRequest, context: Context) -> RemoveRaftVoterResponse:
    """Raises KafkaError, with VOTER_NOT_FOUND for a valid request, because the only voter cannot be removed."""
    context.demand(Operation.ALTER)
    cluster = context.cluster
    _check_voter(request, "Remove", cluster)
    _check_kraft_version("removing", cluster)
    raise KafkaError(ErrorCode.VOTER_NOT_FOUND, f"Cannot remove voter {request.voter_id} from the set of voters")


def _check_voter(request: AddRaftVoterRequest | RemoveRaftVoterRequest, verb: str, cluster: ClusterState) -> None:
    if request.cluster_id not in (None, cluster.cluster_id):
        problem = f'The given id "{request.cluster_id}" doesn\'t match the cluster id "{cluster.cluster_id}"'
        raise KafkaError(ErrorCode.INCONSISTENT_CLUSTER_ID, problem)
    if request.voter_id < 0 or request.voter_directory_id == ZERO_UUID:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"{verb} voter request didn't include a valid voter")


def _check_kraft_version(doing: str, cluster: ClusterState) -> None:
    if not cluster.features.level(KRAFT_VERSION):
        problem = f"Cluster doesn't support {doing} voter because the kraft.version feature is 0"
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, problem)


@handles(UNREGISTER_BROKER)
def unregister_broker(request: UnregisterBrokerRequest, context: Context) -> UnregisterBrokerResponse:
    """Removes a node from metadata until it is started again. A running node loses its leaderships, as if it had been stopped."""
    context.demand(Operation.ALTER)
    context.cluster.nodes.unregister(request.broker_id)
    return UnregisterBrokerResponse(error_message="")
