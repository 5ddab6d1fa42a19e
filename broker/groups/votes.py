"""What the members of a classic group have in common: protocols that all know, the one that is elected, the topics they read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from .member import Member, subscribed_topics

CONSUMER_PROTOCOL_TYPE = "consumer"


def is_common(protocol_name: str, members: Collection[Member]) -> bool:
    """Whether every member knows a protocol."""
    return all(any(protocol.name == protocol_name for protocol in member.protocols) for member in members)


def elected_protocol(members: Collection[Member]) -> str:
    """Every member votes for the first of its protocols that all know. The most votes win, of equals the first."""
    anybody = next(iter(members))
    candidates = frozenset(protocol.name for protocol in anybody.protocols if is_common(protocol.name, members))
    ((name, _),) = Counter(member.vote(candidates) for member in members).most_common(1)
    return name


def subscriptions(protocol_type: str | None, protocol_name: str | None, members: Collection[Member]) -> frozenset[str] | None:
    """The topics that members of consumer groups name; None if that cannot be read."""
    if protocol_type != CONSUMER_PROTOCOL_TYPE:
        return None
    try:
        return frozenset(topic for member in members for topic in subscribed_topics(member.metadata(protocol_name)))
    except ValueError:
        return None
