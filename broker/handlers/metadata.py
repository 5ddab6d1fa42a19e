"""Metadata and DescribeCluster: the brokers with their addresses, and the topics with the leaders and replicas of their partitions.

Addresses are those of the listener that the client is connected to. A node without such a listener is left out, and a partition that it
leads gets LISTENER_NOT_FOUND.

If `auto.create.topics.enable` is set, a topic that does not exist is created and described in the same response. Apache Kafka returns
UNKNOWN_TOPIC_OR_PARTITION for tens of milliseconds, until its brokers have the topic's metadata. That error makes group readers of
kafka-go hang on an empty assignment (one of three situations with Apache Kafka, two of three here with a topic that appears after 30 ms),
and while the clock is frozen, a topic that is to appear later would never appear. Therefore odradek omits the error.

A response may describe many topics. It is built in slices (`slices.py`), from topics that are encoded once per change
(`topic_descriptions.py`).
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from itertools import chain

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
    MetadataResponseTopic,
)
from ...protocol.schema import ZERO_UUID, EncodedItems
from ..api.context import Context, reachable_brokers, stopped_nodes
from ..api.registry import handles
from ..api.topic_descriptions import OPERATIONS_NOT_REQUESTED, Description, TopicDescriber
from ..scheduling.waiting import NEXT_TURN, Background, Wait
from ..security.acls import Operation, ResourceType
from ..topics.partition import Topic
from ..topics.topics import illegal_name

# Topics with these errors are described without the client's permissions.
_OPERATIONS_HIDDEN = (ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
# Kafka's order of the topics in a response; all other errors have position 2.
_ORDER: dict[int, int] = {ErrorCode.UNKNOWN_TOPIC_ID: 0, ErrorCode.NONE: 1, ErrorCode.TOPIC_AUTHORIZATION_FAILED: 3}
TOPIC_IDS_SINCE = 12  # of requests with topic ids; the field exists from v10 on
BROKERS, CONTROLLERS = 1, 2  # endpoint types of DescribeCluster
LARGE_BLOCK_BYTES = 4096
"""Encoded topics of this size are written as they are; smaller ones are copied together, because a write of many parts is slow."""


@handles(METADATA)
def metadata(request: MetadataRequest, context: Context) -> Generator[Wait, None, MetadataResponse]:
    """Describes the requested topics, or all topics that the client may describe."""
    cluster = context.cluster
    brokers = [
        MetadataResponseBroker(node_id=broker.node_id, host=listener.advertised_host, port=listener.advertised_port, rack=broker.rack)
        for broker, listener in reachable_brokers(context)
    ]
    reachable = frozenset(broker.node_id for broker in brokers)
    listing = _Listing(request, context, TopicDescriber(context.version, reachable, stopped_nodes(context)))
    topics = yield from listing.topics()
    with_operations = request.include_cluster_authorized_operations
    return MetadataResponse(
        brokers=brokers,
        cluster_id=cluster.cluster_id,
        controller_id=cluster.brokers.controller_id,
        topics=topics,
        cluster_authorized_operations=_cluster_operations(context) if with_operations else OPERATIONS_NOT_REQUESTED,
    )


def _cluster_operations(context: Context) -> int:
    return context.permissions(ResourceType.CLUSTER) if context.may(Operation.DESCRIBE, ResourceType.CLUSTER) else 0


class _Listing:
    """The topics of one response, which are encoded one after the other."""

    def __init__(self, request: MetadataRequest, context: Context, describer: TopicDescriber) -> None:
        self._request, self._context, self._describer = request, context, describer
        self._count = 0
        self._blocks: list[list[bytes | bytearray]] = [[], [], [], []]
        """The encoded topics by their position in `_ORDER`."""

    def topics(self) -> Generator[Wait, None, EncodedItems[MetadataResponseTopic]]:
        """Returns the topics of the response. Raises KafkaError with INVALID_REQUEST."""
        request = self._request
        if request.topics is None or (self._context.version == 0 and not request.topics):
            yield from self._add_all()
        else:
            distinct = list({(topic.topic_id, topic.name): topic for topic in request.topics}.values())
            for topic in _requested_topics(distinct, self._context.version):
                yield from self._add_by_name(topic.name or "") if topic.topic_id == ZERO_UUID else self._add_by_id(topic.topic_id)
                if self._describer.slices.full():
                    yield NEXT_TURN
        return EncodedItems(self._count, chain.from_iterable(self._blocks))

    def _add_all(self) -> Background:
        context, topics = self._context, self._context.cluster.topics
        for topic in list(topics.values()):
            if topics.get(topic.name) is topic and context.may(Operation.DESCRIBE, ResourceType.TOPIC, topic.name):
                yield from self._add(topic)

    def _add_by_id(self, topic_id: bytes) -> Background:
        context = self._context
        topic = context.cluster.topics_by_id.get(topic_id)
        if topic is None:
            self._refuse(ErrorCode.UNKNOWN_TOPIC_ID, None, topic_id)
        elif not context.may(Operation.DESCRIBE, ResourceType.TOPIC, topic.name):
            self._refuse(ErrorCode.TOPIC_AUTHORIZATION_FAILED, None, topic_id)
        else:
            yield from self._add(topic)

    def _add_by_name(self, name: str) -> Background:
        context = self._context
        if not context.may(Operation.DESCRIBE, ResourceType.TOPIC, name):
            return self._refuse(ErrorCode.TOPIC_AUTHORIZATION_FAILED, name)
        topic = context.cluster.topics.get(name)
        if topic is None and context.broker.config.booleans["auto.create.topics.enable"] and self._request.allow_auto_topic_creation:
            if not (context.may(Operation.CREATE, ResourceType.CLUSTER) or context.may(Operation.CREATE, ResourceType.TOPIC, name)):
                return self._refuse(ErrorCode.TOPIC_AUTHORIZATION_FAILED, name)
            with suppress(KafkaError):  # Kafka does not report why it cannot create the topic; the topic stays unknown
                topic = _create(name, context)
        if topic is None:
            self._refuse(ErrorCode.INVALID_TOPIC_EXCEPTION if illegal_name(name) else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name)
        else:
            yield from self._add(topic)

    def _add(self, topic: Topic) -> Background:
        describer, operations = self._describer, self._operations(topic.name)
        self._append(ErrorCode.NONE, describer.find(topic, operations) or (yield from describer.describe(topic, operations)))
        if describer.slices.full():
            yield NEXT_TURN

    def _refuse(self, code: ErrorCode, name: str | None, topic_id: bytes = ZERO_UUID) -> None:
        operations = OPERATIONS_NOT_REQUESTED if code in _OPERATIONS_HIDDEN else self._operations(name or "")
        described = MetadataResponseTopic(
            error_code=code, name=name, topic_id=topic_id, partitions=[], topic_authorized_operations=operations
        )
        self._append(code, self._describer.encode(described))

    def _operations(self, name: str) -> int:
        requested = self._request.include_topic_authorized_operations
        return self._context.permissions(ResourceType.TOPIC, name) if requested else OPERATIONS_NOT_REQUESTED

    def _append(self, code: ErrorCode, description: Description) -> None:
        self._count += 1
        blocks = self._blocks[_ORDER.get(code, 2)]
        for block in description:
            if len(block) >= LARGE_BLOCK_BYTES:
                blocks.append(block)
            elif blocks and isinstance(collected := blocks[-1], bytearray) and len(collected) < LARGE_BLOCK_BYTES:
                collected += block
            else:
                blocks.append(bytearray(block))


def _requested_topics(topics: list[MetadataRequestTopic], version: int) -> list[MetadataRequestTopic]:
    """Returns the topics with an id if any has one, because Kafka then ignores the others. Raises KafkaError with INVALID_REQUEST."""
    by_id = [topic for topic in topics if topic.topic_id != ZERO_UUID]
    if by_id and version < TOPIC_IDS_SINCE:
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    if not by_id and any(topic.name is None for topic in topics):
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    return by_id or topics


def _create(name: str, context: Context) -> Topic:
    """Returns the new topic. Raises KafkaError with the error codes of CreateTopics."""
    cluster = context.cluster
    if not cluster.topics.ensure_internal(name):
        if context.quotas is not None:
            context.quotas.mutate(len(cluster.topics.create(name, validate_only=True).partitions), strict=False)
        return cluster.topics.create(name)
    if name not in cluster.topics:
        raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, "No broker is running that could hold a replica.")
    return cluster.topics[name]


@handles(DESCRIBE_CLUSTER)
def describe_cluster(request: DescribeClusterRequest, context: Context) -> DescribeClusterResponse:
    """Lists the brokers. Stopped brokers, which Kafka calls fenced, are included only on request."""
    cluster = context.cluster
    response = DescribeClusterResponse(cluster_id=cluster.cluster_id, controller_id=cluster.brokers.controller_id, brokers=[])
    if request.endpoint_type != BROKERS:
        mismatch = ErrorCode.MISMATCHED_ENDPOINT_TYPE if request.endpoint_type == CONTROLLERS else ErrorCode.UNSUPPORTED_ENDPOINT_TYPE
        response.error_code, response.error_message, response.controller_id = mismatch, "This is a broker, not a controller.", -1
        return response
    for node_id, broker in sorted(cluster.brokers.items()):
        listener = broker.listeners.get(context.client.listener_name)
        if listener and broker.registered and (not broker.fenced or request.include_fenced_brokers):
            response.brokers.append(
                DescribeClusterBroker(
                    broker_id=node_id,
                    host=listener.advertised_host,
                    port=listener.advertised_port,
                    rack=broker.rack,
                    is_fenced=broker.fenced,
                )
            )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = _cluster_operations(context)
    return response
