"""Checks that every request about a partition begins with, and the hints that go with their errors (KIP-951)."""

from __future__ import annotations

from collections.abc import Iterable

from ..protocol.errors import ErrorCode, KafkaError
from ..protocol.messages.common import LeaderIdAndEpoch, NodeEndpoint
from ..protocol.schema import ZERO_UUID
from .cluster.broker import Broker
from .context import Context
from .security.acls import Operation, ResourceType
from .topics.partition import Partition
from .topics.topic import Topic


def find_topic(context: Context, operation: Operation | None, name: str, topic_id: bytes = ZERO_UUID) -> Topic:
    """The topic of a name or, from the versions with topic ids on, of an id, for a client that may do `operation` to it (None: any client).

    Raises KafkaError with 3, 29 or 100: whether there is a topic of a name is told only to those who may.
    """
    cluster = context.cluster
    if topic_id == ZERO_UUID:
        topic = cluster.topics.get(name)
    elif (topic := cluster.topics_by_id.get(topic_id)) is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID)
    # The authorizer is looked at here too, to spare who has none a call for each partition.
    if (
        cluster.authorizer is not None
        and operation is not None
        and not context.may(operation, ResourceType.TOPIC, topic.name if topic else name)
    ):
        raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return topic


def find_led_partition(broker: Broker, topic: Topic, index: int, current_leader_epoch: int = -1, *, or_followed: bool = False) -> Partition:
    """The partition, led by this broker in the epoch that the client knows (-1: any), or followed by it where that is enough.

    Raises KafkaError with 3, 6, 74 or 75.
    """
    partition = topic.partition(index)
    if partition is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if partition.leader != broker.node_id and not (or_followed and broker.node_id in partition.replicas):
        raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    if current_leader_epoch not in (-1, partition.leader_epoch):
        fenced = current_leader_epoch < partition.leader_epoch
        raise KafkaError(ErrorCode.FENCED_LEADER_EPOCH if fenced else ErrorCode.UNKNOWN_LEADER_EPOCH)
    return partition


def current_leader(partition: Partition | None) -> LeaderIdAndEpoch | None:
    """Who leads now, for a client that asked the wrong broker."""
    return LeaderIdAndEpoch(leader_id=partition.leader, leader_epoch=partition.leader_epoch) if partition else None


def node_endpoints(context: Context, leaders: Iterable[int]) -> list[NodeEndpoint]:
    """Where those leaders listen, by the listener that the client came in by."""
    endpoints = []
    for node_id in sorted(set(leaders)):
        broker = context.cluster.brokers.get(node_id)
        listener = broker.listeners.get(context.client.listener_name) if broker else None
        if broker and listener:
            endpoints.append(NodeEndpoint(node_id=node_id, host=listener.advertised_host, port=listener.advertised_port, rack=broker.rack))
    return endpoints
