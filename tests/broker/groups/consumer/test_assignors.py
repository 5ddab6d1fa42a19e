"""Properties of target assignments for arbitrary members and topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.groups.consumer.assignors import ASSIGNORS, Slot, Subscriber, range_, uniform

TOPICS = [bytes([n]) * 16 for n in range(4)]
topic_sets = st.frozensets(st.sampled_from(TOPICS), max_size=4)
partition_counts = st.fixed_dictionaries({topic: st.integers(1, 7) for topic in TOPICS})


@st.composite
def groups(draw: st.DrawFn) -> tuple[list[Subscriber], dict[bytes, int]]:
    """Returns members that hold disjoint partitions, possibly of topics that they no longer subscribe to, and partition counts."""
    partitions = draw(partition_counts)
    alike = draw(st.booleans())
    common = draw(topic_sets)
    owners = draw(st.lists(st.integers(0, 5), min_size=28, max_size=28))
    slots = [(topic, index) for topic in TOPICS for index in range(7)]
    members = []
    for number in range(draw(st.integers(1, 6))):
        held = frozenset(slot for slot, owner in zip(slots, owners, strict=True) if owner == number)
        instance = f"i{9 - number}" if draw(st.booleans()) else None
        members.append(Subscriber(f"m{number}", instance, common if alike else draw(topic_sets), held))
    read = frozenset().union(*(member.topics for member in members))
    return members, {topic: count for topic, count in partitions.items() if topic in read}


@pytest.mark.parametrize("name", ASSIGNORS)
@given(group=groups())
def test_every_partition_is_assigned_to_one_subscriber(name: str, group: tuple[list[Subscriber], dict[bytes, int]]) -> None:
    members, partitions = group
    owned = ASSIGNORS[name](members, partitions)
    assert set(owned) == {member.member_id for member in members}
    slots = [slot for mine in owned.values() for slot in mine]
    assert sorted(slots) == sorted((topic, index) for topic, count in partitions.items() for index in range(count))
    assert all(slot[0] in member.topics for member in members for slot in owned[member.member_id])


@given(group=groups())
def test_uniform_balances_numbers_of_partitions(group: tuple[list[Subscriber], dict[bytes, int]]) -> None:
    members, partitions = group
    owned = uniform(members, partitions)
    for poor in members:
        for rich in members:
            could_move = any(topic in poor.topics for topic, _ in owned[rich.member_id])
            assert not could_move or len(owned[rich.member_id]) <= len(owned[poor.member_id]) + 1


@given(group=groups())
def test_uniform_keeps_balanced_assignment(group: tuple[list[Subscriber], dict[bytes, int]]) -> None:
    members, partitions = group
    owned = uniform(members, partitions)
    again = [member._replace(held=owned[member.member_id]) for member in members]
    assert uniform(again, partitions) == owned


def moved(before: Mapping[str, frozenset[Slot]], members: Sequence[Subscriber], partitions: Mapping[bytes, int]) -> int:
    after = uniform([member._replace(held=before.get(member.member_id, frozenset())) for member in members], partitions)
    return sum(len(before[member_id] - after.get(member_id, frozenset())) for member_id in before)


def test_uniform_moves_fewest_partitions() -> None:
    topic = TOPICS[0]
    two = [Subscriber(name, None, frozenset([topic]), frozenset()) for name in "ab"]
    before = uniform(two, {topic: 9})
    assert sorted(map(len, before.values())) == [4, 5]
    assert moved(before, [*two, Subscriber("c", None, frozenset([topic]), frozenset())], {topic: 9}) == 3
    assert moved(before, two, {topic: 10}) == 0


def test_range_assigns_adjacent_partitions_static_members_first() -> None:
    topic = TOPICS[0]
    members = [Subscriber("a", None, frozenset([topic]), frozenset()), Subscriber("z", "i", frozenset([topic]), frozenset())]
    owned = range_(members, {topic: 5})
    assert sorted(index for _, index in owned["z"]) == [0, 1, 2]
    assert sorted(index for _, index in owned["a"]) == [3, 4]
