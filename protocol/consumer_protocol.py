"""What members of classic consumer groups tell each other through the broker: a version, then one of these (ConsumerProtocol).

The broker reads and writes them only where both group protocols meet.
"""

from __future__ import annotations

from typing import TypeVar

from .schema import Int32, Message, ProtocolError, field

NEWEST_VERSION = 3


class TopicPartitions(Message):
    """Partitions of a topic."""

    topic: str
    partitions: list[Int32]


class ConsumerProtocolSubscription(Message):
    """What a member wants: v1 brought what it owns, v2 in which generation, v3 its rack."""

    topics: list[str]
    user_data: bytes | None = None
    owned_partitions: list[TopicPartitions] = field(since=1, default_factory=list)
    generation_id: Int32 = field(since=2, default=-1)
    rack_id: str | None = field(since=3, default=None)


class ConsumerProtocolAssignment(Message):
    """What a member gets."""

    assigned_partitions: list[TopicPartitions]
    user_data: bytes | None = None


M = TypeVar("M", ConsumerProtocolSubscription, ConsumerProtocolAssignment)


def version_of(data: bytes) -> int:
    """The version to answer in; of newer ones than we know, the newest that we know. Raises ProtocolError."""
    version = int.from_bytes(data[:2], "big", signed=True)
    if len(data) < 2 or version < 0:
        raise ProtocolError("not a message of the consumer protocol")
    return min(version, NEWEST_VERSION)


def read(cls: type[M], data: bytes) -> M:
    """Raises ProtocolError."""
    return cls.decoders[version_of(data)](memoryview(data), 2)[0]  # type: ignore[no-any-return]


def write(message: M, version: int) -> bytes:
    """With its version in front."""
    return version.to_bytes(2, "big") + message.encode(version)
