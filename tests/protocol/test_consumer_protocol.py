"""The embedded protocol of classic groups, against kafka-python's reading of it."""

from __future__ import annotations

import pytest
from kafka.coordinator.assignors.range import RangePartitionAssignor

from odradek.protocol.consumer_protocol import (
    NEWEST_VERSION,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    TopicPartitions,
    read,
    version_of,
    write,
)
from odradek.protocol.schema import ProtocolError


@pytest.mark.parametrize("version", range(NEWEST_VERSION + 1))
def test_round_trip(version: int) -> None:
    wanted = ConsumerProtocolSubscription(topics=["a", "b"], user_data=b"x")
    if version >= 1:
        wanted.owned_partitions = [TopicPartitions(topic="a", partitions=[1, 2])]
    if version >= 2:
        wanted.generation_id = 7
    if version >= 3:
        wanted.rack_id = "r"
    assert read(ConsumerProtocolSubscription, write(wanted, version)) == wanted
    given = ConsumerProtocolAssignment(assigned_partitions=[TopicPartitions(topic="a", partitions=[1])])
    assert read(ConsumerProtocolAssignment, write(given, version)) == given


def test_what_a_client_writes_is_read() -> None:
    written = RangePartitionAssignor().metadata({"orders"}).encode()
    assert read(ConsumerProtocolSubscription, written).topics == ["orders"]


def test_a_newer_version_is_read_as_the_newest_that_is_known() -> None:
    assert version_of(b"\x00\x63") == NEWEST_VERSION


@pytest.mark.parametrize("data", [b"", b"\x00", b"\xff\xff", b"\x00\x00\x7f\xff\xff\xff"])
def test_what_is_no_message_is_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        read(ConsumerProtocolSubscription, data)
