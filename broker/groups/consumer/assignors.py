"""Server-side assignors of consumer groups (KIP-848): functions that compute the target assignment of all members.

`uniform` balances the number of partitions per member and moves as few as possible (Kafka's UniformAssignor); `range_` gives each member
adjacent partitions of each topic (Kafka's RangeAssignor). Racks are ignored, as in Kafka 4.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

Slot = tuple[bytes, int]
"""A partition by topic id and index (Kafka's TopicIdPartition without the name)."""


class Subscriber(NamedTuple):
    """The data of a member that assignors use: the ids of its topics, its previous target assignment (`held`), and its own ids."""

    member_id: str
    instance_id: str | None
    topics: frozenset[bytes]
    held: frozenset[Slot]


Assignor = Callable[[Sequence[Subscriber], Mapping[bytes, int]], dict[str, frozenset[Slot]]]
"""(Members, topic id -> number of partitions) -> (member id -> target assignment)."""


def by_topic(slots: Iterable[Slot]) -> dict[bytes, list[int]]:
    """Returns topic id -> partition indexes, both in ascending order."""
    topics: dict[bytes, list[int]] = {}
    for topic_id, index in sorted(slots):
        topics.setdefault(topic_id, []).append(index)
    return topics


def range_(members: Sequence[Subscriber], partitions: Mapping[bytes, int]) -> dict[str, frozenset[Slot]]:
    """Assigns a range of adjacent partitions of each topic to each member.

    Members are sorted by instance id or member id, static ones first.
    """
    ordered = sorted(members, key=lambda member: (member.instance_id is None, member.instance_id or member.member_id))
    owned: dict[str, set[Slot]] = {member.member_id: set() for member in members}
    for topic_id, count in partitions.items():
        subscribers = [member.member_id for member in ordered if topic_id in member.topics]
        quota, extra = divmod(count, len(subscribers)) if subscribers else (0, 0)
        start = 0
        for position, member_id in enumerate(subscribers):
            end = start + quota + (position < extra)
            owned[member_id].update((topic_id, index) for index in range(start, end))
            start = end
    return {member_id: frozenset(slots) for member_id, slots in owned.items()}


def uniform(members: Sequence[Subscriber], partitions: Mapping[bytes, int]) -> dict[str, frozenset[Slot]]:
    """Assigns equally many partitions to all members as far as their topics allow, and moves as few as possible."""
    slots = [(topic_id, index) for topic_id, count in partitions.items() for index in range(count)]
    alike = len({member.topics for member in members}) == 1
    owned = _spread(members, slots) if alike else _balance(members, slots)
    return {member_id: frozenset(mine) for member_id, mine in owned.items()}


def _spread(members: Sequence[Subscriber], slots: Sequence[Slot]) -> dict[str, set[Slot]]:
    """Assigns partitions to members with the same topics. Each keeps its partitions up to a quota, which free partitions fill up."""
    existing = set(slots)
    quota, extra = divmod(len(slots), len(members))
    held = {member.member_id: sorted(member.held & existing) for member in members}
    # Members that hold more than the quota get the extra partitions, so that these need not move.
    with_extra = set(sorted(held, key=lambda member_id: -len(held[member_id]))[:extra])
    owned = {member_id: set(mine[: quota + (member_id in with_extra)]) for member_id, mine in held.items()}
    free = iter(_free_slots(slots, owned))
    for member_id, mine in owned.items():
        while len(mine) < quota + (member_id in with_extra):
            mine.add(next(free))
    return owned


def _balance(members: Sequence[Subscriber], slots: Sequence[Slot]) -> dict[str, set[Slot]]:
    """Assigns partitions to members with different topics.

    Members keep what they hold, free partitions go to the least loaded subscriber, then partitions move as long as that balances the load.
    """
    subscribers: dict[bytes, list[str]] = {}
    for member in members:
        for topic_id in member.topics:
            subscribers.setdefault(topic_id, []).append(member.member_id)
    existing = set(slots)
    owned = {member.member_id: {slot for slot in member.held & existing if slot[0] in member.topics} for member in members}
    # Partitions with few subscribers come first, because they have the fewest possible owners.
    for slot in sorted(_free_slots(slots, owned), key=lambda slot: (len(subscribers.get(slot[0], ())), slot)):
        if candidates := subscribers.get(slot[0]):
            owned[min(candidates, key=lambda member_id: len(owned[member_id]))].add(slot)
    while _rebalance_once(subscribers, owned):
        pass
    return owned


def _rebalance_once(subscribers: Mapping[bytes, Sequence[str]], owned: dict[str, set[Slot]]) -> bool:
    """Moves partitions to members that own at least two fewer; returns whether any was moved.

    Each move lowers the sum of the squared numbers of partitions, so that repeated calls terminate.
    """
    moved = False
    for owner in sorted(owned, key=lambda member_id: -len(owned[member_id])):
        for slot in sorted(owned[owner], reverse=True):
            least = min(subscribers[slot[0]], key=lambda member_id: len(owned[member_id]))
            if len(owned[owner]) > len(owned[least]) + 1:
                owned[owner].remove(slot)
                owned[least].add(slot)
                moved = True
    return moved


def _free_slots(slots: Iterable[Slot], owned: Mapping[str, set[Slot]]) -> list[Slot]:
    taken: set[Slot] = set().union(*owned.values())
    return [slot for slot in slots if slot not in taken]


ASSIGNORS: dict[str, Assignor] = {"uniform": uniform, "range": range_}
"""Assignors by the names in group.consumer.assignors and ConsumerGroupHeartbeat."""
