"""The topics that members of a classic group subscribe to, read from the metadata that consumers send in JoinGroup."""

from __future__ import annotations

import struct
from collections.abc import Collection

from .member import Member
from .messages import CONSUMER_PROTOCOL_TYPE


def subscribed_topics(subscription: bytes) -> list[str]:
    """Returns the topics of a `ConsumerProtocolSubscription`, the first fields of which are the same in all versions.

    Raises ValueError for malformed bytes.
    """
    topics: list[str] = []
    try:
        _, count = struct.unpack_from(">hi", subscription)
        position = 6
        for _ in range(count):
            (length,) = struct.unpack_from(">h", subscription, position)
            (name,) = struct.unpack_from(f">{length}s", subscription, position + 2)
            topics.append(name.decode())
            position += 2 + length
    except struct.error as error:
        raise ValueError("not a consumer's subscription") from error
    return topics


def subscriptions(protocol_type: str | None, protocol_name: str | None, members: Collection[Member]) -> frozenset[str] | None:
    """Returns the topics that any member subscribes to.

    Returns None if the members are not consumers (Kafka Connect workers, for example) or if any metadata is malformed.
    """
    if protocol_type != CONSUMER_PROTOCOL_TYPE:
        return None
    try:
        return frozenset(topic for member in members for topic in subscribed_topics(member.metadata(protocol_name)))
    except ValueError:
        return None
