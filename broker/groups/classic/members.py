"""The members of a classic group, and the topics to which they subscribe.

`requests.py` checks the bounds of a member's session time-out, and `rebalance.py` sets the timer and removes a silent member. `Members`
keeps counts up to date, so that a JoinGroup need not visit all members.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Collection, ItemsView, Iterable, Iterator, Mapping, ValuesView

from ....protocol.codec import MAX_STRING_BYTES
from ...kafka_quirks.java_hash import hash_map_order
from ...scheduling.waiting import Reply
from .messages import CONSUMER_PROTOCOL_TYPE, Join, JoinResult, SyncResult

UUID_LENGTH = 36


class ClassicMember:
    """The contents of a member's last `Join`, its assignment, and the replies that it waits for."""

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
        """Whether the member has not been part of a generation yet."""
        self.sync_reply: Reply[SyncResult] | None = None
        self.update(join, reply)

    def update(self, join: Join, reply: Reply[JoinResult] | None) -> None:
        self.protocols = join.protocols
        self.session_timeout_ms, self.rebalance_timeout_ms = join.session_timeout_ms, join.rebalance_timeout_ms
        self.join_reply = reply

    @property
    def is_static(self) -> bool:
        """Whether the member has an instance id, which stays the same when its member id changes (KIP-345)."""
        return self.group_instance_id is not None

    @property
    def is_waiting(self) -> bool:
        """Whether a JoinGroup or a SyncGroup of the member waits for its answer."""
        return self.join_reply is not None or self.sync_reply is not None

    @property
    def protocol_names(self) -> frozenset[str]:
        return frozenset([protocol.name for protocol in self.protocols])

    def metadata(self, protocol_name: str | None) -> bytes:
        """Returns the member's metadata for a protocol, b"" if it does not support the protocol."""
        return next((protocol.metadata for protocol in self.protocols if protocol.name == protocol_name), b"")

    def vote(self, candidates: frozenset[str]) -> str:
        """Returns the first of the member's protocols that is among the candidates."""
        return next(protocol.name for protocol in self.protocols if protocol.name in candidates)

    def answer_sync(self, result: SyncResult) -> bool:
        """Answers the waiting SyncGroup; returns False if none waits."""
        if self.sync_reply is None:
            return False
        self.sync_reply.set(result)
        self.sync_reply = None
        return True


def member_id_prefix(join: Join) -> str:
    """Returns the first part of a generated member id, which continues with "-" and a UUID."""
    return join.client_id if join.group_instance_id is None else join.group_instance_id


def fits_generated_id(join: Join) -> bool:
    """Returns False if a member id must be generated that is too long for a string in the response."""
    return bool(join.member_id) or len(member_id_prefix(join).encode()) <= MAX_STRING_BYTES - len("-") - UUID_LENGTH


class Members(Mapping[str, ClassicMember]):
    """Members by member id, in the order in which they joined.

    Only the methods of this class may change the protocols and the waiting JoinGroup of a member, because they update the counts.
    """

    def __init__(self, members: Iterable[ClassicMember] = ()) -> None:
        self.joined = 0
        """The number of members whose JoinGroup waits."""
        self._members: dict[str, ClassicMember] = {}
        self._static_ids: dict[str, str] = {}
        """Instance id -> member id."""
        self._supporters: dict[str, int] = {}
        """Protocol name -> number of members that support it."""
        for member in members:
            self.add(member)

    def __getitem__(self, member_id: str) -> ClassicMember:
        return self._members[member_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    # The views of Mapping would look up each member by its id again.

    def values(self) -> ValuesView[ClassicMember]:
        return self._members.values()

    def items(self) -> ItemsView[str, ClassicMember]:
        return self._members.items()

    def add(self, member: ClassicMember) -> None:
        self._members[member.member_id] = member
        if member.group_instance_id is not None:
            self._static_ids[member.group_instance_id] = member.member_id
        self._support(member, 1)
        self.joined += member.join_reply is not None

    def remove(self, member: ClassicMember) -> None:
        del self._members[member.member_id]
        if member.group_instance_id is not None:
            del self._static_ids[member.group_instance_id]
        self._support(member, -1)
        self.joined -= member.join_reply is not None

    def rename(self, member: ClassicMember, member_id: str) -> None:
        """Gives a member another id. The member becomes the last in the order of members."""
        self.remove(member)
        member.member_id = member_id
        self.add(member)

    def rejoin(self, member: ClassicMember, join: Join, reply: Reply[JoinResult]) -> None:
        """Updates a member that has sent another JoinGroup.

        As in Kafka, an older JoinGroup that still waits is never answered, because the client has abandoned that request.
        """
        self._support(member, -1)
        self.joined += member.join_reply is None
        member.update(join, reply)
        self._support(member, 1)

    def _support(self, member: ClassicMember, change: int) -> None:
        supporters = self._supporters
        for name in member.protocol_names:
            supporters[name] = supporters.get(name, 0) + change

    def answer_join(self, member: ClassicMember, result: JoinResult) -> None:
        """Answers the JoinGroup of a member, if one waits."""
        if member.join_reply is not None:
            member.join_reply.set(result)
            member.join_reply = None
            self.joined -= 1

    def revertible_parts(self, member_ids: Iterable[str]) -> list[object]:
        """Returns the objects that change when these members are removed, replaced or answered, for a savepoint.

        Ids of unknown members are ignored.
        """
        members = [self._members[member_id] for member_id in member_ids if member_id in self._members]
        replies = [reply for member in members for reply in (member.join_reply, member.sync_reply) if reply is not None]
        return [self, *members, *replies]

    def static_id(self, group_instance_id: str) -> str | None:
        """Returns the member id of a static member, None if the instance id is unknown."""
        return self._static_ids.get(group_instance_id)

    def all_support(self, protocol_name: str) -> bool:
        return self._supporters.get(protocol_name, 0) == len(self)

    def elect_protocol(self) -> str:
        """Returns the protocol with the most votes.

        Every member votes for the first of its protocols that all members support. Of protocols with equally many votes, the first in
        the order of Java's HashMap wins, as in Kafka's ClassicGroup.selectProtocol.
        """
        any_member = next(iter(self._members.values()))
        candidates = frozenset(filter(self.all_support, any_member.protocol_names))
        votes = Counter(member.vote(candidates) for member in self._members.values())
        return max(hash_map_order(votes), key=votes.__getitem__)


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


def subscriptions(protocol_type: str | None, protocol_name: str | None, members: Collection[ClassicMember]) -> frozenset[str] | None:
    """Returns the topics that any member subscribes to.

    Returns None if the members are not consumers (Kafka Connect workers, for example) or if any metadata is malformed.
    """
    if protocol_type != CONSUMER_PROTOCOL_TYPE:
        return None
    try:
        return frozenset(topic for member in members for topic in subscribed_topics(member.metadata(protocol_name)))
    except ValueError:
        return None
