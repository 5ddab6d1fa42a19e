"""Metadata and DescribeCluster: the brokers with their addresses, and the topics with the leaders and replicas of their partitions.

Addresses are those of the listener that the client is connected to. A node without such a listener is left out, and a partition that it
leads gets LISTENER_NOT_FOUND.

If `auto.create.topics.enable` is set, a topic that does not exist is created and described in the same response. Apache Kafka returns
UNKNOWN_TOPIC_OR_PARTITION for tens of milliseconds, until its brokers have the topic's metadata. Without such a delay between them, that
error followed by the topic makes group readers of kafka-go hang on an empty assignment, so odradek omits the error.

A response may describe many topics and is built in slices (`slices.py`).
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from typing import NamedTuple

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.describe_cluster import (
    DESCRIBE_CLUSTER,
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from ...protocol.messages.metadata import (
    METADATA,
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from ...protocol.schema import ZERO_UUID
from ..context import Context
from ..lookup import reachable_brokers, stopped_nodes
from ..registry import handles
from ..scheduling.waiting import NEXT_TURN, Wait
from ..security.acls import Operation, ResourceType
from ..slices import Slices, chunks
from ..topics.names import illegal_name
from ..topics.partition import Partition
from ..topics.topic import Topic

# Topics with these errors are described without the client's permissions.
_OPERATIONS_HIDDEN = (ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
# Kafka's order of the topics in a response; all other errors have position 2.
_ORDER: dict[int, int] = {ErrorCode.UNKNOWN_TOPIC_ID: 0, ErrorCode.NONE: 1, ErrorCode.TOPIC_AUTHORIZATION_FAILED: 3}
TOPIC_IDS_SINCE = 12  # of requests with topic ids; the field exists from v10 on
LISTENER_ERRORS_SINCE = 6
OPERATIONS_NOT_REQUESTED = -(1 << 31)
BROKERS, CONTROLLERS = 1, 2  # endpoint types of DescribeCluster

Described = Generator[Wait, None, MetadataResponseTopic]


class _View(NamedTuple):
    """The state of the nodes at the start of a request, to which the description of each partition refers."""

    context: Context
    slices: Slices
    reachable: frozenset[int]
    """The nodes that have the client's listener."""
    stopped: frozenset[int]


@handles(METADATA)
def metadata(request: MetadataRequest, context: Context) -> Generator[Wait, None, MetadataResponse]:
    """Describes the requested topics, or all topics that the client may describe."""
    cluster = context.cluster
    brokers = [
        MetadataResponseBroker(node_id=broker.node_id, host=listener.advertised_host, port=listener.advertised_port, rack=broker.rack)
        for broker, listener in reachable_brokers(context)
    ]
    view = _View(context, Slices(), frozenset(broker.node_id for broker in brokers), stopped_nodes(context))
    topics = yield from _topics(request, view)
    topics.sort(key=lambda topic: _ORDER.get(topic.error_code, 2))
    if request.include_topic_authorized_operations:
        yield from _add_topic_operations(topics, view)
    with_operations = request.include_cluster_authorized_operations
    return MetadataResponse(
        brokers=brokers,
        cluster_id=cluster.cluster_id,
        controller_id=cluster.controller_id,
        topics=topics,
        cluster_authorized_operations=_cluster_operations(context) if with_operations else OPERATIONS_NOT_REQUESTED,
    )


def _cluster_operations(context: Context) -> int:
    return context.allowed(ResourceType.CLUSTER) if context.may(Operation.DESCRIBE, ResourceType.CLUSTER) else 0


def _add_topic_operations(topics: list[MetadataResponseTopic], view: _View) -> Generator[Wait, None, None]:
    for topic in topics:
        if topic.error_code not in _OPERATIONS_HIDDEN:
            topic.topic_authorized_operations = view.context.allowed(ResourceType.TOPIC, topic.name or "")
        if view.slices.full():
            yield NEXT_TURN


def _topics(request: MetadataRequest, view: _View) -> Generator[Wait, None, list[MetadataResponseTopic]]:
    if request.topics is None or (view.context.version == 0 and not request.topics):
        return (yield from _all_topics(view))
    distinct = list({(topic.topic_id, topic.name): topic for topic in request.topics}.values())
    described = []
    for topic in _requested(distinct, view.context.version):
        if topic.topic_id != ZERO_UUID:
            described.append((yield from _by_id(topic.topic_id, view)))
        else:
            described.append((yield from _by_name(topic.name or "", request, view)))
    return described


def _requested(topics: list[MetadataRequestTopic], version: int) -> list[MetadataRequestTopic]:
    """Returns the topics with an id if any has one, because Kafka then ignores the others. Raises KafkaError with INVALID_REQUEST."""
    by_id = [topic for topic in topics if topic.topic_id != ZERO_UUID]
    if by_id and version < TOPIC_IDS_SINCE:
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    if not by_id and any(topic.name is None for topic in topics):
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    return by_id or topics


def _all_topics(view: _View) -> Generator[Wait, None, list[MetadataResponseTopic]]:
    context, topics, described = view.context, view.context.cluster.topics, []
    for topic in list(topics.values()):
        if topics.get(topic.name) is topic and context.may(Operation.DESCRIBE, ResourceType.TOPIC, topic.name):
            described.append((yield from _describe(topic, view)))
        if view.slices.full():
            yield NEXT_TURN
    return described


def _by_id(topic_id: bytes, view: _View) -> Described:
    context = view.context
    topic = context.cluster.topics_by_id.get(topic_id)
    if topic is None:
        return MetadataResponseTopic(error_code=ErrorCode.UNKNOWN_TOPIC_ID, name=None, topic_id=topic_id, partitions=[])
    if not context.may(Operation.DESCRIBE, ResourceType.TOPIC, topic.name):
        return MetadataResponseTopic(error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED, name=None, topic_id=topic_id, partitions=[])
    return (yield from _describe(topic, view))


def _by_name(name: str, request: MetadataRequest, view: _View) -> Described:
    context = view.context
    if not context.may(Operation.DESCRIBE, ResourceType.TOPIC, name):
        return MetadataResponseTopic(error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED, name=name, partitions=[])
    topic = context.cluster.topics.get(name)
    if topic is not None:
        return (yield from _describe(topic, view))
    code = ErrorCode.INVALID_TOPIC_EXCEPTION if illegal_name(name) else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if context.broker.config.booleans["auto.create.topics.enable"] and request.allow_auto_topic_creation:
        if not (context.may(Operation.CREATE, ResourceType.CLUSTER) or context.may(Operation.CREATE, ResourceType.TOPIC, name)):
            return MetadataResponseTopic(error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED, name=name, partitions=[])
        with suppress(KafkaError):  # Kafka does not report why it cannot create the topic; the topic stays unknown
            return (yield from _describe(_create(name, context), view))
    return MetadataResponseTopic(error_code=code, name=name, partitions=[])


def _create(name: str, context: Context) -> Topic:
    """Returns the new topic. Raises KafkaError with the error codes of CreateTopics."""
    cluster = context.cluster
    if not cluster.ensure_internal(name):
        if context.quotas is not None:
            context.quotas.mutate(len(cluster.create_topic(name, validate_only=True).partitions), strict=False)
        return cluster.create_topic(name)
    if name not in cluster.topics:
        raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, "No broker is running that could hold a replica.")
    return cluster.topics[name]


def _describe(topic: Topic, view: _View) -> Described:
    described = MetadataResponseTopic(name=topic.name, topic_id=topic.id, is_internal=topic.is_internal, partitions=[])
    for partitions in chunks(topic.partitions):
        described.partitions += [_partition(partition, view) for partition in partitions]
        if view.slices.full(len(partitions)):
            yield NEXT_TURN
    return described


def _partition(partition: Partition, view: _View) -> MetadataResponsePartition:
    code, leader, version = ErrorCode.NONE, partition.leader, view.context.version
    if leader == -1:
        code = ErrorCode.LEADER_NOT_AVAILABLE
    elif leader not in view.reachable:
        code = ErrorCode.LISTENER_NOT_FOUND if version >= LISTENER_ERRORS_SINCE else ErrorCode.LEADER_NOT_AVAILABLE
        leader = -1
    replicas = partition.replicas
    if version == 0:  # clients of v0 fail on a replica that is not among the brokers of the response
        replicas = [node for node in replicas if node in view.reachable]
        if code is ErrorCode.NONE and len(replicas) < len(partition.replicas):
            code = ErrorCode.REPLICA_NOT_AVAILABLE
    return MetadataResponsePartition(
        error_code=code,
        partition_index=partition.index,
        leader_id=leader,
        leader_epoch=partition.leader_epoch,
        replica_nodes=replicas,
        isr_nodes=partition.isr,
        offline_replicas=[node_id for node_id in partition.replicas if node_id in view.stopped] if view.stopped else [],
    )


@handles(DESCRIBE_CLUSTER)
def describe_cluster(request: DescribeClusterRequest, context: Context) -> DescribeClusterResponse:
    """Lists the brokers. Stopped brokers, which Kafka calls fenced, are included only on request."""
    cluster = context.cluster
    response = DescribeClusterResponse(cluster_id=cluster.cluster_id, controller_id=cluster.controller_id, brokers=[])
    if request.endpoint_type != BROKERS:
        mismatch = ErrorCode.MISMATCHED_ENDPOINT_TYPE if request.endpoint_type == CONTROLLERS else ErrorCode.UNSUPPORTED_ENDPOINT_TYPE
        response.error_code, response.error_message, response.controller_id = mismatch, "This is a broker, not a controller.", -1
        return response
    for node_id, broker in sorted(cluster.brokers.items()):
        listener = broker.listeners.get(context.client.listener_name)
        if listener and broker.registered and (broker.running or request.include_fenced_brokers):
            response.brokers.append(
                DescribeClusterBroker(
                    broker_id=node_id,
                    host=listener.advertised_host,
                    port=listener.advertised_port,
                    rack=broker.rack,
                    is_fenced=not broker.running,
                )
            )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = _cluster_operations(context)
    return response
