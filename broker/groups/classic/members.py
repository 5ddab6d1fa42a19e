"""The members of a classic group, with counts that are kept up to date so that a JoinGroup need not visit all members."""

from __future__ import annotations

from collections import Counter
from collections.abc import ItemsView, Iterable, Iterator, Mapping, ValuesView

from ...kafka_quirks.java_hash import hash_map_order
from ...scheduling.waiting import Reply
from .member import Member
from .messages import Join, JoinResult


class Members(Mapping[str, Member]):
    """Members by member id, in the order in which they joined.

    Only the methods of this class may change the protocols and the waiting JoinGroup of a member, because they update the counts.
    """

    def __init__(self, members: Iterable[Member] = ()) -> None:
        self.joined = 0
        """The number of members whose JoinGroup waits."""
        self._members: dict[str, Member] = {}
        self._static_ids: dict[str, str] = {}
        """Instance id -> member id."""
        self._supporters: dict[str, int] = {}
        """Protocol name -> number of members that support it."""
        for member in members:
            self.add(member)

    def __getitem__(self, member_id: str) -> Member:
        return self._members[member_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    # The views of Mapping would look up each member by its id again.

    def values(self) -> ValuesView[Member]:
        return self._members.values()

    def items(self) -> ItemsView[str, Member]:
        return self._members.items()

    def add(self, member: Member) -> None:
        self._members[member.member_id] = member
        if member.group_instance_id is not None:
            self._static_ids[member.group_instance_id] = member.member_id
        self._support(member, 1)
        self.joined += member.join_reply is not None

    def remove(self, member: Member) -> None:
        del self._members[member.member_id]
        if member.group_instance_id is not None:
            del self._static_ids[member.group_instance_id]
        self._support(member, -1)
        self.joined -= member.join_reply is not None

    def rename(self, member: Member, member_id: str) -> None:
        """Gives a member another id. The member becomes the last in the order of members."""
        self.remove(member)
        member.member_id = member_id
        self.add(member)

    def rejoin(self, member: Member, join: Join, reply: Reply[JoinResult]) -> None:
        """Updates a member that has sent another JoinGroup.

        As in Kafka, an older JoinGroup that still waits is never answered, because the client has abandoned that request.
        """
        self._support(member, -1)
        self.joined += member.join_reply is None
        member.update(join, reply)
        self._support(member, 1)

    def _support(self, member: Member, change: int) -> None:
        supporters = self._supporters
        for name in member.protocol_names:
            supporters[name] = supporters.get(name, 0) + change

    def answer_join(self, member: Member, result: JoinResult) -> None:
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
