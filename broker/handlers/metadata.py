"""Metadata, DescribeCluster and DescribeTopicPartitions: the brokers, and who leads what.

Addresses are those of the listener that was asked. A topic that is created because it was asked for is described in the same answer.
Apache Kafka answers UNKNOWN_TOPIC_OR_PARTITION for tens of milliseconds, until its brokers know the topic. That error followed by the
topic in the very next answer makes group readers of kafka-go hang on an empty assignment.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import suppress
from heapq import nsmallest
from typing import NamedTuple

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.describe_cluster import (
    DESCRIBE_CLUSTER,
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from ...protocol.messages.describe_topic_partitions import (
    DESCRIBE_TOPIC_PARTITIONS,
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)
from ...protocol.messages.metadata import (
    METADATA,
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from ...protocol.schema import ZERO_UUID
from ..cluster.broker import Broker
from ..context import Context
from ..registry import handles
from ..scheduling.waiting import NEXT_TURN, Wait
from ..security.acls import Operation, ResourceType
from ..settings.listeners import Listener
from ..slices import Slices, chunks
from ..topics.names import illegal_name
from ..topics.partition import Partition
from ..topics.topic import Topic

# Topics whose errors keep it secret what else may be done to them.
_UNTOLD = (ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
# What is refused is told after what is found.
_ORDER: dict[int, int] = {ErrorCode.UNKNOWN_TOPIC_ID: 0, ErrorCode.NONE: 1, ErrorCode.TOPIC_AUTHORIZATION_FAILED: 3}
NOT_ASKED = -(1 << 31)
BROKERS, CONTROLLERS = 1, 2


def reachable(context: Context) -> Iterator[tuple[Broker, Listener]]:
    """The running brokers with their addresses on the listener that the client came in by."""
    for node_id in context.cluster.running:
        broker = context.cluster.brokers[node_id]
        if listener := broker.listeners.get(context.client.listener_name):
            yield broker, listener


class View(NamedTuple):
    """What every partition of an answer is compared with."""

    context: Context
    slices: Slices
    reachable: frozenset[int]
    """The nodes that listen where the client came in."""
    stopped: frozenset[int]

    @classmethod
    def of(cls, context: Context) -> View:
        """The cluster as it is now."""
        cluster = context.cluster
        reachable_nodes = frozenset(broker.node_id for broker, _ in reachable(context))
        stopped = frozenset(node_id for node_id, broker in cluster.brokers.items() if not (broker.running and broker.registered))
        return cls(context, Slices(), reachable_nodes, stopped)

    def offline(self, partition: Partition) -> list[int]:
        """The replicas of a partition that are down or no longer registered."""
        return [node_id for node_id in partition.replicas if node_id in self.stopped] if self.stopped else []


@handles(METADATA)
def metadata(request: MetadataRequest, context: Context) -> Generator[Wait, None, MetadataResponse]:
    """Describes the topics that were asked for, or all."""
    cluster = context.cluster
    brokers = [
        MetadataResponseBroker(node_id=broker.node_id, host=listener.advertised_host, port=listener.advertised_port, rack=broker.rack)
        for broker, listener in reachable(context)
    ]
    topics = yield from _topics(request, View.of(context))
    asked_cluster = request.include_cluster_authorized_operations
    return MetadataResponse(
        brokers=brokers,
        cluster_id=cluster.cluster_id,
        controller_id=cluster.controller_id,
        topics=topics,
        cluster_authorized_operations=_cluster_operations(context) if asked_cluster else NOT_ASKED,
    )


def _cluster_operations(context: Context) -> int:
    return context.allowed(ResourceType.CLUSTER) if context.may(Operation.DESCRIBE, ResourceType.CLUSTER) else 0


def _topics(request: MetadataRequest, view: View) -> Generator[Wait, None, list[MetadataResponseTopic]]:
    context, cluster = view.context, view.context.cluster
    wanted = request.topics and list({(topic.topic_id, topic.name): topic for topic in request.topics}.values())  # each once
    topics = []
    if wanted is None or (context.version == 0 and not wanted):
        for topic in list(cluster.topics.values()):
            if cluster.topics.get(topic.name) is topic and context.may(Operation.DESCRIBE, ResourceType.TOPIC, topic.name):
                topics.append((yield from _describe(topic, view)))
            if view.slices.full():
                yield NEXT_TURN
    elif any(topic.topic_id != ZERO_UUID for topic in wanted):
        if context.version < 12:
            raise KafkaError(ErrorCode.INVALID_REQUEST)
        for named in wanted:
            if named.topic_id != ZERO_UUID:
                topics.append((yield from _by_id(named.topic_id, view)))
    elif any(topic.name is None for topic in wanted):
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    else:
        for named in wanted:
            topics.append((yield from _by_name(named.name or "", request, view)))
    topics.sort(key=lambda topic: _ORDER.get(topic.error_code, 2))
    if request.include_topic_authorized_operations:
        for described in topics:
            if described.error_code not in _UNTOLD:
                described.topic_authorized_operations = context.allowed(ResourceType.TOPIC, described.name or "")
            if view.slices.full():
                yield NEXT_TURN
    return topics


def _by_id(topic_id: bytes, view: View) -> Generator[Wait, None, MetadataResponseTopic]:
    context = view.context
    topic = context.cluster.topics_by_id.get(topic_id)
    if topic is None:
        return MetadataResponseTopic(error_code=ErrorCode.UNKNOWN_TOPIC_ID, name=None, topic_id=topic_id, partitions=[])
    if not context.may(Operation.DESCRIBE, ResourceType.TOPIC, topic.name):
        return MetadataResponseTopic(error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED, name=None, topic_id=topic_id, partitions=[])
    return (yield from _describe(topic, view))


def _by_name(name: str, request: MetadataRequest, view: View) -> Generator[Wait, None, MetadataResponseTopic]:
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
        with suppress(KafkaError):  # why it cannot be created is not told; the topic just stays unknown
            return (yield from _describe(_create(name, context), view))
    return MetadataResponseTopic(error_code=code, name=name, partitions=[])


def _create(name: str, context: Context) -> Topic:
    """Returns the new topic. Raises KafkaError as CreateTopics would answer."""
    cluster = context.cluster
    if not cluster.ensure_internal(name):
        return cluster.create_topic(name)
    if name not in cluster.topics:
        raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, "No broker is running that could hold a replica.")
    return cluster.topics[name]


def _describe(topic: Topic, view: View) -> Generator[Wait, None, MetadataResponseTopic]:
    described = MetadataResponseTopic(name=topic.name, topic_id=topic.id, is_internal=topic.is_internal, partitions=[])
    for partitions in chunks(topic.partitions):
        described.partitions += [_partition(partition, view) for partition in partitions]
        if view.slices.full(len(partitions)):
            yield NEXT_TURN
    return described


def _partition(partition: Partition, view: View) -> MetadataResponsePartition:
    code, leader = ErrorCode.NONE, partition.leader
    if leader == -1:
        code = ErrorCode.LEADER_NOT_AVAILABLE
    elif leader not in view.reachable:
        code = ErrorCode.LISTENER_NOT_FOUND if view.context.version >= 6 else ErrorCode.LEADER_NOT_AVAILABLE
        leader = -1
    replicas = partition.replicas
    if not view.context.version:  # the first clients could not look up a replica that is away
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
        offline_replicas=view.offline(partition),
    )


@handles(DESCRIBE_CLUSTER)
def describe_cluster(request: DescribeClusterRequest, context: Context) -> DescribeClusterResponse:
    """The brokers, and the fenced (stopped) ones if asked for."""
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


@handles(DESCRIBE_TOPIC_PARTITIONS)
def describe_topic_partitions(
    request: DescribeTopicPartitionsRequest, context: Context
) -> Generator[Wait, None, DescribeTopicPartitionsResponse]:
    """Topics in the order of their names, at most `response_partition_limit` partitions; the cursor says where to go on."""
    names = {topic.name for topic in request.topics}
    cursor = request.cursor
    if cursor and (cursor.partition_index < 0 or (names and cursor.topic_name not in names)):
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    limit = context.broker.config.integers["max.request.partition.size.limit"]
    room = max(1, min(request.response_partition_limit, limit))
    response, view = DescribeTopicPartitionsResponse(topics=[]), View.of(context)
    # As each topic has a partition, the names of a page are among the first so many; the one behind them is for the cursor.
    allowed = yield from _first_names(names, cursor.topic_name if cursor else "", None if names else room + 1, view)
    for name in allowed:
        if not room:
            response.next_cursor = Cursor(topic_name=name, partition_index=0)
            break
        topic = context.cluster.topics.get(name)
        if topic is None and not names:
            continue  # it was deleted meanwhile
        if topic is None:
            unknown = ErrorCode.INVALID_TOPIC_EXCEPTION if illegal_name(name) else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            response.topics.append(_undescribed(name, unknown, context.allowed(ResourceType.TOPIC, name)))
            continue
        first = cursor.partition_index if cursor and cursor.topic_name == name else 0
        page = topic.partitions[first : first + room]
        room -= len(page)
        response.topics.append(_page(topic, page, view))
        if view.slices.full(1 + len(page)):
            yield NEXT_TURN
        if first + len(page) < len(topic.partitions):
            response.next_cursor = Cursor(topic_name=name, partition_index=first + len(page))
            break
    refused = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    response.topics += [
        _undescribed(name, refused) for name in sorted(names.difference(allowed)) if not cursor or name >= cursor.topic_name
    ]
    return response


def _first_names(names: set[str], first: str, count: int | None, view: View) -> Generator[Wait, None, list[str]]:
    """The smallest `count` names from `first` on that the client may describe, ascending; of all topics if there are no `names`."""
    context, found = view.context, list[str]()
    for some in chunks(list(names or context.cluster.topics)):
        found += [name for name in some if name >= first and context.may(Operation.DESCRIBE, ResourceType.TOPIC, name)]
        if count is not None:
            found = nsmallest(count, found)
        if view.slices.full(len(some) // 4):
            yield NEXT_TURN
    return sorted(found)


def _undescribed(name: str, code: ErrorCode, operations: int = NOT_ASKED) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        error_code=code, name=name, topic_id=ZERO_UUID, partitions=[], topic_authorized_operations=operations
    )


def _page(topic: Topic, partitions: list[Partition], view: View) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.id,
        is_internal=topic.is_internal,
        topic_authorized_operations=view.context.allowed(ResourceType.TOPIC, topic.name),
        partitions=[
            DescribeTopicPartitionsResponsePartition(
                partition_index=partition.index,
                leader_id=partition.leader,
                leader_epoch=partition.leader_epoch,
                replica_nodes=partition.replicas,
                isr_nodes=partition.isr,
                eligible_leader_replicas=partition.elr,
                last_known_elr=partition.last_known_elr,
                offline_replicas=view.offline(partition),
            )
            for partition in partitions
        ],
    )
