"""The server-side assignor of share groups, `simple` (Kafka's SimpleAssignor): it computes the target assignment of all members.

Several members may share a partition, and all partitions are shared by about equally many members. Members keep partitions as far as that
balance allows. If all members subscribe to the same topics, their partitions are assigned together (`_Alike`), otherwise topic by topic
(`_Topic`). Both do the same with different keys:

1. Each member shall get a number of partitions, `wanted`, which follows from its position among the members.
2. Members with more partitions than wanted lose some, and partitions that more members share than `sharing` lose some members.
3. Members with fewer partitions than wanted take turns to get the partitions with fewer members.

The order in which partitions are lost and got is that in which Java iterates over hash tables (`kafka_quirks/java_hash.py`). If the
ids of two topics fall into the same bucket, Kafka's order depends on all former assignments, and is not reproduced.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from math import ceil
from typing import Generic, NamedTuple, TypeVar

from ...kafka_quirks.java_hash import DEFAULT_CAPACITY, JavaHashTable, hash_map_order, integer_hash, topic_id_hash, topic_partition_hash
from ..consumer.assignors import Slot

Assignment = Mapping[bytes, frozenset[int]]
"""Topic id -> partition indexes. A topic without indexes is different from no topic, as in Kafka's records and responses."""
NO_PARTITIONS: Assignment = {}
K = TypeVar("K", bound=Hashable)


class Subscriber(NamedTuple):
    """The data of a member that the assignor uses: the ids of its topics, in Java's order of their names, and its previous target."""

    topics: tuple[bytes, ...]
    held: Assignment


def simple(subscribers: Mapping[str, Subscriber], partitions: Assignment, *, alike: bool) -> dict[str, Assignment]:
    """Returns the target assignment by member id.

    `partitions` are those that may be assigned, by topic id. `alike` is whether all members subscribe to the same topic names.
    """
    order = hash_map_order(subscribers)
    members = [subscribers[member_id] for member_id in order]
    topics = members[0].topics if alike else tuple({topic_id: None for member in members for topic_id in member.topics})
    if not topics:
        return dict.fromkeys(order, NO_PARTITIONS)
    targets = [{topic_id: set(indexes) for topic_id, indexes in member.held.items()} for member in members]
    if alike:
        _assign_together(topics, partitions, targets)
    else:
        for topic_id in topics:
            _assign_topic(topic_id, partitions.get(topic_id, ()), members, targets)
    return {
        member_id: {topic_id: frozenset(indexes) for topic_id, indexes in target.items()}
        for member_id, target in zip(order, targets, strict=True)
    }


Target = dict[bytes, set[int]]


def _assign_together(topics: Sequence[bytes], partitions: Assignment, targets: Sequence[Target]) -> None:
    """Changes the targets of members with the same topics."""
    for target in targets:
        for topic_id in target.keys() - set(topics):
            del target[topic_id]
    slots = [(topic_id, index) for topic_id in topics for index in sorted(partitions.get(topic_id, ()))]
    balance: _Balance[Slot] = _Balance(topic_partition_hash, slots, range(len(targets)))
    for member, target in enumerate(targets):
        for topic_id in JavaHashTable(topic_id_hash, target):
            for index in _java_order(target[topic_id]):
                balance.hold(member, (topic_id, index))
    balance.run()
    for member, target in enumerate(targets):
        held = balance.partitions_of(member)
        for indexes in target.values():
            indexes.clear()
        for topic_id, index in held:
            target.setdefault(topic_id, set()).add(index)


def _assign_topic(topic_id: bytes, indexes: Iterable[int], members: Sequence[Subscriber], targets: Sequence[Target]) -> None:
    """Changes one topic in the targets of all members."""
    subscribed = [member for member, subscriber in enumerate(members) if topic_id in subscriber.topics]
    balance: _Balance[int] = _Balance(integer_hash, sorted(indexes), subscribed)
    for member, target in enumerate(targets):
        for index in _java_order(target.get(topic_id, ())):
            balance.hold(member, index)
    balance.run()
    for member, target in enumerate(targets):
        if (held := set(balance.partitions_of(member))) or topic_id in target:
            target[topic_id] = held


def _java_order(indexes: Collection[int]) -> Iterator[int]:
    """Iterates over indexes in the order of a HashSet that was made of them in ascending order."""
    return iter(JavaHashTable(integer_hash, sorted(indexes), max(DEFAULT_CAPACITY, int(len(indexes) / 0.75) + 1)))


class _Balance(Generic[K]):
    """Shares partitions, the keys, among members, which are numbers. Members that are not `subscribed` lose what they hold."""

    def __init__(self, hashed: Callable[[K], int], assignable: Sequence[K], subscribed: Sequence[int]) -> None:
        self._hashed = hashed
        self._assignable, self._subscribed = assignable, subscribed
        count, members = len(assignable), len(subscribed)
        self.sharing = -(-members // count) if count else 0
        """The number of members that shall share each partition, at most."""
        precise = self.sharing * count / members
        self.wanted = {member: ceil(precise * (at + 1)) - ceil(precise * at) for at, member in enumerate(subscribed)}
        """Member -> the number of partitions that it shall have."""
        self._order = JavaHashTable(hashed, capacity=_capacity(count))
        self._members: dict[K, JavaHashTable[int]] = {}
        self._held: dict[int, JavaHashTable[K]] = {}

    def hold(self, member: int, key: K) -> None:
        """Records that a member has a partition."""
        self._order.compute_if_absent(key)
        self._members.setdefault(key, JavaHashTable(integer_hash)).add(member)
        self._held.setdefault(member, JavaHashTable(self._hashed)).add(key)

    def partitions_of(self, member: int) -> Iterator[K]:
        return iter(self._held.get(member, ()))

    def run(self) -> None:
        self._revoke_from_members()
        self._revoke_from_partitions()
        for key in self._assignable:
            self._order.compute_if_absent(key)
            self._members.setdefault(key, JavaHashTable(integer_hash))
        self._assign()

    def _revoke_from_members(self) -> None:
        for member, held in self._held.items():
            surplus = len(held) - self.wanted.get(member, 0)
            for key in list(held)[: max(0, surplus)]:
                self._release(member, key)

    def _revoke_from_partitions(self) -> None:
        for key in self._order:
            members = self._members[key]
            surplus = len(members) - self.sharing
            for member in list(members)[: max(0, surplus)]:
                self._release(member, key)

    def _release(self, member: int, key: K) -> None:
        self._held[member].remove(key)
        self._members[key].remove(member)

    def _lacks(self, member: int) -> bool:
        return len(self._held.get(member, ())) < self.wanted[member]

    def _assign(self) -> None:
        turns = _MemberTurns([member for member in sorted(self._subscribed) if self._lacks(member)])
        for key in self._order:
            members = self._members[key]
            while len(members) < self.sharing and (member := turns.next()) is not None:
                if member not in members:
                    self.hold(member, key)
                    turns.took(is_done=not self._lacks(member))


class _MemberTurns:
    """Members that take turns until a whole round passes in which none of them could take a partition."""

    def __init__(self, members: list[int]) -> None:
        self._members, self._next, self._took = members, 0, False

    def next(self) -> int | None:
        """Returns the member whose turn it is; None, now and later, if there was no member left or a round without success."""
        if self._next == len(self._members):
            if not self._took:
                return None
            self._next, self._took = 0, False
        if not self._members:
            return None
        self._next += 1
        return self._members[self._next - 1]

    def took(self, *, is_done: bool) -> None:
        """Notes that the member has taken a partition. A member that is done gets no further turn."""
        self._took = True
        if is_done:
            self._next -= 1
            del self._members[self._next]


def _capacity(count: int) -> int:
    """Returns the capacity of a table that Kafka creates for this number of keys (AssignorHelpers.newHashMap)."""
    return int((count + 1) / 0.75 + 1)
