"""The messages that members of classic groups exchange, also as kafka-python writes them."""

from __future__ import annotations

import pytest
from kafka.coordinator.assignors.range import RangePartitionAssignor

from odradek.protocol.schema import ProtocolError
from odradek.protocol.stored.consumer_protocol import (
    NEWEST_VERSION,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    TopicPartitions,
    read,
    version_of,
    write,
)


@pytest.mark.parametrize("version", range(NEWEST_VERSION + 1))
def test_write_any_version_round_trips(version: int) -> None:
    subscription = ConsumerProtocolSubscription(topics=["a", "b"], user_data=b"x")
    if version >= 1:
        subscription.owned_partitions = [TopicPartitions(topic="a", partitions=[1, 2])]
    if version >= 2:
        subscription.generation_id = 7
    if version >= 3:
        subscription.rack_id = "r"
    assert read(ConsumerProtocolSubscription, write(subscription, version)) == subscription
    assignment = ConsumerProtocolAssignment(assigned_partitions=[TopicPartitions(topic="a", partitions=[1])])
    assert read(ConsumerProtocolAssignment, write(assignment, version)) == assignment


def test_read_subscription_of_kafka_python() -> None:
    written = RangePartitionAssignor().metadata({"orders"}).encode()
    assert read(ConsumerProtocolSubscription, written).topics == ["orders"]


def test_version_of_newer_version_is_newest_known() -> None:
    assert version_of(b"\x00\x63") == NEWEST_VERSION


@pytest.mark.parametrize("data", [b"", b"\x00", b"\xff\xff", b"\x00\x00\x7f\xff\xff\xff"])
def test_read_malformed_message_raises(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        read(ConsumerProtocolSubscription, data)
