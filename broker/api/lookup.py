"""Finds the topics, partitions and brokers that a request refers to, with the checks and errors that all APIs share.

The checks come in Kafka's order: permission first, so that an error does not reveal whether a topic exists to a client that may not
describe it; then existence; then leadership and leader epoch. The response to a request that was sent to the wrong broker contains the
current leader and its address (KIP-951).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.common import LeaderIdAndEpoch, NodeEndpoint
from ...protocol.schema import ZERO_UUID
from ..cluster.broker import Broker
from ..scheduling.slices import Slices
from ..scheduling.waiting import NEXT_TURN, Wait
from ..security.acls import Operation, ResourceType
from ..settings.listeners import Listener
from ..topics.partition import Partition, Topic
from .context import Context

# Topics and partitions


def find_topic(context: Context, operation: Operation | None, name: str, topic_id: bytes = ZERO_UUID) -> Topic:
    """Returns the topic with this id or, if the id is zero, this name. `operation` is the permission that the client needs (None: none).

    Raises KafkaError with UNKNOWN_TOPIC_ID, TOPIC_AUTHORIZATION_FAILED or UNKNOWN_TOPIC_OR_PARTITION.
    """
    cluster = context.cluster
    if topic_id == ZERO_UUID:
        topic = cluster.topics.get(name)
    elif (topic := cluster.topics_by_id.get(topic_id)) is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID)
    # `may` checks for an authorizer too. The check here saves a call per partition in Produce and Fetch.
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
    """Returns a partition that this broker leads or, with `or_followed`, has a replica of.

    `current_leader_epoch` is the client's view of the leader epoch, -1 if it has none (KIP-320). Raises KafkaError with
    UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER, FENCED_LEADER_EPOCH or UNKNOWN_LEADER_EPOCH.
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


# The partitions of a request about committed offsets


class HasPartitionIndex(Protocol):
    """An entry of a request that names a partition."""

    partition_index: int


P = TypeVar("P", bound=HasPartitionIndex)
TopicKey = tuple[str, bytes]
"""(name, id) of a topic in a request. Depending on the version, the name is empty or the id is zero."""


class Found(NamedTuple, Generic[P]):
    """A partition that exists and that the client may read. `wanted` is its entry in the request."""

    key: TopicKey
    topic: Topic
    wanted: P


PartitionErrors = dict[TopicKey, list[tuple[int, ErrorCode]]]
"""(partition index, error code) pairs by topic, each topic once."""


def find_partitions(
    topics: Iterable[tuple[TopicKey, Sequence[P]]], context: Context, slices: Slices, *, by_id: bool = False
) -> Generator[Wait, None, tuple[list[Found[P]], PartitionErrors]]:
    """Splits the partitions of a request into those that the client may read and the errors for the others, in slices.

    With `by_id`, a topic without an id gets UNKNOWN_TOPIC_ID. Kafka returns the errors before the other partitions.
    """
    found: list[Found[P]] = []
    refused: PartitionErrors = {}
    for key, partitions in topics:
        if slices.full(2 + len(partitions) // 8):
            yield NEXT_TURN
        try:
            if by_id and key[1] == ZERO_UUID:
                raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID)
            topic = find_topic(context, Operation.READ, *key)
        except KafkaError as error:
            for wanted in partitions:
                refused.setdefault(key, []).append((wanted.partition_index, error.code))
            continue
        for wanted in partitions:
            if topic.partition(wanted.partition_index) is None:
                refused.setdefault(key, []).append((wanted.partition_index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
            else:
                found.append(Found(key, topic, wanted))
    return found, refused


# Brokers and leaders


def reachable_brokers(context: Context) -> Iterator[tuple[Broker, Listener]]:
    """Yields the running brokers that have a listener of the name that the client is connected to, with that listener."""
    for node_id in context.cluster.brokers.running:
        broker = context.cluster.brokers[node_id]
        if listener := broker.listeners.get(context.client.listener_name):
            yield broker, listener


def current_leader(partition: Partition | None) -> LeaderIdAndEpoch | None:
    """Returns the leader and leader epoch of a partition for the response fields of KIP-951, or None for no partition."""
    return LeaderIdAndEpoch(leader_id=partition.leader, leader_epoch=partition.leader_epoch) if partition else None


def node_endpoints(context: Context, leaders: Iterable[int]) -> list[NodeEndpoint]:
    """Returns the addresses of these nodes on the listener that the client is connected to, each once."""
    endpoints = []
    for node_id in sorted(set(leaders)):
        broker = context.cluster.brokers.get(node_id)
        listener = broker.listeners.get(context.client.listener_name) if broker else None
        if broker and listener:
            endpoints.append(NodeEndpoint(node_id=node_id, host=listener.advertised_host, port=listener.advertised_port, rack=broker.rack))
    return endpoints


def stopped_nodes(context: Context) -> frozenset[int]:
    """Returns the ids of the nodes that are fenced or not registered."""
    return frozenset(node_id for node_id, broker in context.cluster.brokers.items() if broker.fenced or not broker.registered)
