"""What is said to a classic group, what it answers, and what it knows of each member.

Requests that may have to wait come with a `Reply`: the group sets it at once or when its rebalance gets that far.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ....protocol.codec import MAX_STRING_BYTES
from ....protocol.errors import ErrorCode
from ...scheduling.waiting import Reply

CONSUMER_PROTOCOL_TYPE = "consumer"
UUID_LENGTH = 36


class Protocol(NamedTuple):
    """An assignment strategy that a member supports, with what it tells the leader about itself."""

    name: str
    metadata: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Join:
    """A JoinGroup, free of the differences between its versions. An empty `member_id` asks for a new one."""

    protocol_type: str
    protocols: tuple[Protocol, ...]
    session_timeout_ms: int
    rebalance_timeout_ms: int
    member_id: str = ""
    group_instance_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    reason: str = "not provided"
    requires_known_member_id: bool = False
    """A new dynamic member is told its id first and joins with it then (v4+, KIP-394)."""
    supports_skip_assignment: bool = False
    """The leader understands that it shall not assign (v9+, KIP-814)."""

    @property
    def stem(self) -> str:
        """What the id of a new member begins with."""
        return self.client_id if self.group_instance_id is None else self.group_instance_id

    @property
    def can_be_answered(self) -> bool:
        """Whether the id that a new member is given may stand in an answer: a UUID is added to the stem."""
        return bool(self.member_id) or len(self.stem.encode()) <= MAX_STRING_BYTES - len("-") - UUID_LENGTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Sync:
    """A SyncGroup. Only the leader's `assignments` (member id -> assignment) count; None for a protocol is not compared."""

    member_id: str
    generation_id: int
    group_instance_id: str | None = None
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignments: Mapping[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave:
    """One member that leaves. An empty `member_id` with an instance id is an administrator removing a static member."""

    member_id: str
    group_instance_id: str | None = None
    reason: str = "not provided"


class JoinedMember(NamedTuple):
    """What the leader learns about each member."""

    member_id: str
    group_instance_id: str | None
    metadata: bytes


class JoinResult(NamedTuple):
    """The answer to a `Join`. Only the leader gets `members`."""

    error: ErrorCode
    member_id: str = ""
    generation_id: int = -1
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader: str = ""
    members: tuple[JoinedMember, ...] = ()
    skip_assignment: bool = False


class SyncResult(NamedTuple):
    """The answer to a `Sync`."""

    error: ErrorCode
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""


class Member:
    """One member of a classic group: what its last `Join` said, its assignment, and the request that it waits in."""

    __slots__ = (
        "assignment",
        "client_host",
        "client_id",
        "group_instance_id",
        "is_new",
        "join_reply",
        "member_id",
        "protocols",
        "rebalance_timeout_ms",
        "session_timeout_ms",
        "sync_reply",
    )

    def __init__(self, member_id: str, join: Join, reply: Reply[JoinResult] | None) -> None:
        self.member_id = member_id
        self.group_instance_id = join.group_instance_id
        self.client_id, self.client_host = join.client_id, join.client_host
        self.assignment = b""
        self.is_new = True
        """It has not been through a rebalance yet."""
        self.sync_reply: Reply[SyncResult] | None = None
        self.update(join, reply)

    def update(self, join: Join, reply: Reply[JoinResult] | None) -> None:
        """Takes over a new `Join`."""
        self.protocols = join.protocols
        self.session_timeout_ms, self.rebalance_timeout_ms = join.session_timeout_ms, join.rebalance_timeout_ms
        self.join_reply = reply

    @property
    def is_static(self) -> bool:
        """It has a name of its own that outlives its member id (KIP-345)."""
        return self.group_instance_id is not None

    @property
    def is_waiting(self) -> bool:
        """It waits in JoinGroup or SyncGroup."""
        return self.join_reply is not None or self.sync_reply is not None

    @property
    def protocol_names(self) -> frozenset[str]:
        """Those of the protocols that it knows."""
        return frozenset(protocol.name for protocol in self.protocols)

    def metadata(self, protocol_name: str | None) -> bytes:
        """What the member said for one protocol; empty for a protocol that it does not have."""
        return next((protocol.metadata for protocol in self.protocols if protocol.name == protocol_name), b"")

    def vote(self, candidates: frozenset[str]) -> str:
        """The candidate that the member named first."""
        return next(protocol.name for protocol in self.protocols if protocol.name in candidates)

    def answer_sync(self, result: SyncResult) -> bool:
        """Answers the SyncGroup that the member waits in; False if there is none."""
        if self.sync_reply is None:
            return False
        self.sync_reply.set(result)
        self.sync_reply = None
        return True


def subscribed_topics(subscription: bytes) -> list[str]:
    """The topics in a `ConsumerProtocolSubscription`, all versions of which begin alike. Raises ValueError."""
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
    """The topics that members of consumer groups name; None if that cannot be read."""
    if protocol_type != CONSUMER_PROTOCOL_TYPE:
        return None
    try:
        return frozenset(topic for member in members for topic in subscribed_topics(member.metadata(protocol_name)))
    except ValueError:
        return None
