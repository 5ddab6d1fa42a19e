"""The members of a classic group, with what every join asks of all of them kept up to date, so that it need not look at each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from ...kafka_quirks.java_hash import hash_map_order
from ...scheduling.waiting import Reply
from .member import Join, JoinResult, Member


class Members(Mapping[str, Member]):
    """Member id -> member, in the order in which they came. What they know and wait in changes by the methods here only."""

    def __init__(self, members: Iterable[Member] = ()) -> None:
        self.joined = 0
        """How many wait in JoinGroup."""
        self._members: dict[str, Member] = {}
        self._static_ids: dict[str, str] = {}
        self._supporters: Counter[str] = Counter()
        """Protocol -> how many members know it."""
        for member in members:
            self.add(member)

    def __getitem__(self, member_id: str) -> Member:
        return self._members[member_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def add(self, member: Member) -> None:
        """One more."""
        self._members[member.member_id] = member
        if member.group_instance_id is not None:
            self._static_ids[member.group_instance_id] = member.member_id
        self._supporters.update(member.protocol_names)
        self.joined += member.join_reply is not None

    def remove(self, member: Member) -> None:
        """One less."""
        del self._members[member.member_id]
        if member.group_instance_id is not None:
            del self._static_ids[member.group_instance_id]
        self._supporters.subtract(member.protocol_names)
        self.joined -= member.join_reply is not None

    def rename(self, member: Member, member_id: str) -> None:
        """A static member has another id from now on."""
        self.remove(member)
        member.member_id = member_id
        self.add(member)

    def rejoin(self, member: Member, join: Join, reply: Reply[JoinResult]) -> None:
        """A member has sent another JoinGroup. An older one that still waits is forgotten, as in Kafka: its client has given it up."""
        self._supporters.subtract(member.protocol_names)
        self.joined += member.join_reply is None
        member.update(join, reply)
        self._supporters.update(member.protocol_names)

    def answer(self, member: Member, result: JoinResult) -> None:
        """Answers the JoinGroup that a member waits in, if any."""
        if member.join_reply is not None:
            member.join_reply.set(result)
            member.join_reply = None
            self.joined -= 1

    def parts(self, member_ids: Iterable[str]) -> list[object]:
        """The objects that change when some of the members, as far as they are there, are removed, replaced or answered."""
        members = [self._members[member_id] for member_id in member_ids if member_id in self._members]
        replies = [reply for member in members for reply in (member.join_reply, member.sync_reply) if reply is not None]
        return [self, *members, *replies]

    def static_id(self, group_instance_id: str) -> str | None:
        """The id of a static member."""
        return self._static_ids.get(group_instance_id)

    def all_know(self, protocol_name: str) -> bool:
        """Whether every member knows a protocol."""
        return self._supporters[protocol_name] == len(self)

    def elect(self) -> str:
        """Every member votes for the first of its protocols that all know. The most votes win; of equals, the first in a hash table."""
        anybody = next(iter(self._members.values()))
        candidates = frozenset(filter(self.all_know, anybody.protocol_names))
        votes = Counter(member.vote(candidates) for member in self._members.values())
        return max(hash_map_order(votes), key=votes.__getitem__)
