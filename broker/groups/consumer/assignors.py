"""Server-side assignors of consumer groups: who shall own which partition (KIP-848). Racks are not looked at, as in Kafka 4.3."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

Slot = tuple[bytes, int]
"""A partition of a consumer group: topic id and index."""


class Subscriber(NamedTuple):
    """What an assignor knows of a member: the ids of its topics, and what it shall own by the last assignment."""

    member_id: str
    instance_id: str | None
    topics: frozenset[bytes]
    held: frozenset[Slot]


Assignor = Callable[[Sequence[Subscriber], Mapping[bytes, int]], dict[str, frozenset[Slot]]]
"""Members and how many partitions each topic has -> what each member shall own."""


def by_topic(slots: Iterable[Slot]) -> dict[bytes, list[int]]:
    """Partitions in rising order, topic by topic."""
    topics: dict[bytes, list[int]] = {}
    for topic_id, index in sorted(slots):
        topics.setdefault(topic_id, []).append(index)
    return topics


def range_(members: Sequence[Subscriber], partitions: Mapping[bytes, int]) -> dict[str, frozenset[Slot]]:
    """Neighbouring partitions of each topic go to one member; members are sorted, static ones first (Kafka's RangeAssignor)."""
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
    """As even as can be, then with as few moves as can be."""
    slots = [(topic_id, index) for topic_id, count in partitions.items() for index in range(count)]
    alike = len({member.topics for member in members}) == 1
    owned = _spread(members, slots) if alike else _balance(members, slots)
    return {member_id: frozenset(mine) for member_id, mine in owned.items()}


def _spread(members: Sequence[Subscriber], slots: Sequence[Slot]) -> dict[str, set[Slot]]:
    """All members have the same topics: everybody keeps up to a quota, and the rest is dealt out."""
    existing = set(slots)
    quota, extra = divmod(len(slots), len(members))
    held = {member.member_id: sorted(member.held & existing) for member in members}
    # Who holds more than the quota already gets the extra partition, so that it need not move.
    favoured = set(sorted(held, key=lambda member_id: -len(held[member_id]))[:extra])
    owned = {member_id: set(mine[: quota + (member_id in favoured)]) for member_id, mine in held.items()}
    free = iter(_unowned(slots, owned))
    for member_id, mine in owned.items():
        while len(mine) < quota + (member_id in favoured):
            mine.add(next(free))
    return owned


def _balance(members: Sequence[Subscriber], slots: Sequence[Slot]) -> dict[str, set[Slot]]:
    """Topics differ: what was held stays, free partitions go to the least loaded, then single ones move while that evens out."""
    subscribers: dict[bytes, list[str]] = {}
    for member in members:
        for topic_id in member.topics:
            subscribers.setdefault(topic_id, []).append(member.member_id)
    existing = set(slots)
    owned = {member.member_id: {slot for slot in member.held & existing if slot[0] in member.topics} for member in members}
    # Partitions with few possible owners first: they have the least choice.
    for slot in sorted(_unowned(slots, owned), key=lambda slot: (len(subscribers.get(slot[0], ())), slot)):
        if candidates := subscribers.get(slot[0]):
            owned[min(candidates, key=lambda member_id: len(owned[member_id]))].add(slot)
    while _move_some(subscribers, owned):
        pass
    return owned


def _move_some(subscribers: Mapping[bytes, Sequence[str]], owned: dict[str, set[Slot]]) -> bool:
    """Moves partitions to members that have at least two less; each move lowers the sum of squares, so this comes to an end."""
    moved = False
    for owner in sorted(owned, key=lambda member_id: -len(owned[member_id])):
        for slot in sorted(owned[owner], reverse=True):
            least = min(subscribers[slot[0]], key=lambda member_id: len(owned[member_id]))
            if len(owned[owner]) > len(owned[least]) + 1:
                owned[owner].remove(slot)
                owned[least].add(slot)
                moved = True
    return moved


def _unowned(slots: Iterable[Slot], owned: Mapping[str, set[Slot]]) -> list[Slot]:
    taken: set[Slot] = set().union(*owned.values())
    return [slot for slot in slots if slot not in taken]


ASSIGNORS: dict[str, Assignor] = {"uniform": uniform, "range": range_}
"""By the names that `group.consumer.assignors` and members use."""
