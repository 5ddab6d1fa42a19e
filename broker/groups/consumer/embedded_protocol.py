"""Conversion between partitions by topic id and the bytes that classic consumers send and receive in JoinGroup and SyncGroup."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ....protocol.errors import ErrorCode, KafkaError
from ....protocol.schema import ProtocolError
from ....protocol.stored import consumer_protocol
from ....protocol.stored.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription, TopicPartitions
from ...topics.partition import Topic
from .assignors import Slot, by_topic


def read_subscription(metadata: bytes) -> ConsumerProtocolSubscription:
    """Returns the subscription in a JoinGroup's metadata. Raises KafkaError with UNKNOWN_SERVER_ERROR for malformed bytes, as in Kafka."""
    try:
        return consumer_protocol.read(ConsumerProtocolSubscription, metadata)
    except ProtocolError:
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "Malformed embedded consumer protocol.") from None


def slots_of(partitions: Iterable[TopicPartitions], topics: Mapping[str, Topic]) -> frozenset[Slot]:
    """Returns (topic id, partition index) pairs. Topics that do not exist are left out."""
    return frozenset((topics[each.topic].id, index) for each in partitions if each.topic in topics for index in each.partitions)


def write_assignment(slots: Iterable[Slot], topics_by_id: Mapping[bytes, Topic], version: int) -> bytes:
    """Returns the bytes of a `ConsumerProtocolAssignment`. Topics that do not exist are left out."""
    assigned = [
        TopicPartitions(topic=topics_by_id[topic_id].name, partitions=indexes)
        for topic_id, indexes in by_topic(slots).items()
        if topic_id in topics_by_id
    ]
    return consumer_protocol.write(ConsumerProtocolAssignment(assigned_partitions=assigned), version)
