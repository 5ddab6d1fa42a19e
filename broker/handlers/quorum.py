"""DescribeQuorum (KIP-595). The emulated metadata quorum has one voter, the controller; the other brokers are observers."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial

from ...protocol.errors import ErrorCode
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
from ..api.context import Context
from ..api.registry import handles
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
