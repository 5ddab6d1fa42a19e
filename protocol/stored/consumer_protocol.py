"""The messages that members of classic consumer groups exchange through the broker (Kafka's ConsumerProtocol): a version, then a message.

To a broker they are opaque bytes, except in a consumer group with classic members and in a group that is converted (KIP-848).
"""

from __future__ import annotations

from typing import TypeVar

from ..schema import Int32, Message, ProtocolError, field

NEWEST_VERSION = 3


class TopicPartitions(Message):
    """Some partitions of a topic."""

    topic: str
    partitions: list[Int32]


class ConsumerProtocolSubscription(Message):
    """The subscription of a member. v1 added the partitions it owns, v2 the generation in which it owns them, v3 its rack."""

    topics: list[str]
    user_data: bytes | None = None
    owned_partitions: list[TopicPartitions] = field(since=1, default_factory=list)
    generation_id: Int32 = field(since=2, default=-1)
    rack_id: str | None = field(since=3, default=None)


class ConsumerProtocolAssignment(Message):
    """The assignment of a member."""

    assigned_partitions: list[TopicPartitions]
    user_data: bytes | None = None


M = TypeVar("M", ConsumerProtocolSubscription, ConsumerProtocolAssignment)


def version_of(data: bytes) -> int:
    """Returns the version of a message, at most NEWEST_VERSION, because newer messages are read in that version. Raises ProtocolError."""
    version = int.from_bytes(data[:2], "big", signed=True)
    if len(data) < 2 or version < 0:
        raise ProtocolError("not a message of the consumer protocol")
    return min(version, NEWEST_VERSION)


def read(cls: type[M], data: bytes) -> M:
    """Returns the message after the version. Raises ProtocolError."""
    return cls.decoders[version_of(data)](memoryview(data), 2)[0]  # type: ignore[no-any-return]


def write(message: M, version: int) -> bytes:
    """Returns the bytes of the version, followed by those of the message in that version."""
    return version.to_bytes(2, "big") + message.encode(version)
