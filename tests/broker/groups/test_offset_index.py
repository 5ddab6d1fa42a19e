"""The index of committed offsets, compared with the offsets of all groups."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from odradek.broker.groups.coordinator import Groups
from odradek.broker.groups.offset_index import OffsetIndex
from odradek.broker.groups.offsets import CommittedOffset, CommittedOffsets
from odradek.broker.transactions.transaction import Producer
from tests.broker.harness import World

GROUPS, TOPICS, PRODUCERS = [f"g{n}" for n in range(4)], ["t", "u", "v"], [1, 2]


def test_topic_deletion_visits_only_groups_with_its_offsets(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = World(1).cluster.groups
    for number in range(100):
        groups.offsets.commit(f"g{number}", {("t" if number == 7 else "u", 0): CommittedOffset(1, -1, "", 0)})
    visited: list[CommittedOffsets] = []
    partitions = CommittedOffsets.partitions

    def count(offsets: CommittedOffsets, topic: str) -> list[int]:
        visited.append(offsets)
        return partitions(offsets, topic)

    monkeypatch.setattr(CommittedOffsets, "partitions", count)
    groups.offsets.topic_deleted("t")
    assert len(visited) == 1
    assert groups.offsets.of("g7").get("t", 0) is None
    assert groups.offsets.of("g8").get("u", 0) is not None


def test_remove_topic_and_producer_removes_group() -> None:
    index = OffsetIndex()
    index.add("g", "t", 1)
    index.add("h", "t")
    assert (index.with_offsets_of("t"), index.in_transaction_of(1)) == (["g", "h"], ["g"])
    index.remove_topic("g", "t")
    index.remove_producer("g", 1)
    assert (index.with_offsets_of("t"), index.in_transaction_of(1)) == (["h"], [])
    index.remove_topic("g", "t")


def step(groups: Groups, random: Random) -> None:
    group, topic, partition = random.choice(GROUPS), random.choice(TOPICS), random.randrange(2)
    producer = Producer(random.choice(PRODUCERS), 0)
    match random.randrange(6):
        case 0:
            groups.offsets.check_commit(group, "", None, -1)
            groups.offsets.commit(group, {(topic, partition): CommittedOffset(1, -1, "", 0)})
        case 1:
            groups.offsets.check_transactional_commit(group, "", None, -1, [])
            groups.offsets.commit_in_transaction(group, producer, {(topic, partition): CommittedOffset(1, -1, "", 0)})
        case 2:
            for waiting in groups.offsets.groups_in_transaction(producer.id):
                groups.offsets.end_transaction(waiting, producer.id, committed=random.random() < 0.5)
        case 3 if groups.get(group) is not None:
            groups.offsets.delete(group, topic, partition)
        case 4:
            groups.delete(group)
        case 5:
            groups.offsets.topic_deleted(topic)


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[OffsetIndex]]:
    """Collects the indexes that the test creates."""
    made: list[OffsetIndex] = []
    begin = OffsetIndex.__init__

    def note(self: OffsetIndex, *args: Any) -> None:
        begin(self, *args)
        made.append(self)

    monkeypatch.setattr(OffsetIndex, "__init__", note)
    yield made


@pytest.mark.parametrize("seed", range(30))
def test_index_after_arbitrary_steps_matches_offsets(seed: int, index: list[OffsetIndex]) -> None:
    groups, random = World(1).cluster.groups, Random(seed)
    for _ in range(60):
        step(groups, random)
        for topic in TOPICS:
            assert sorted(index[-1].with_offsets_of(topic)) == [group for group in GROUPS if groups.offsets.of(group).concerns(topic)]
        for producer in PRODUCERS:
            assert sorted(groups.offsets.groups_in_transaction(producer)) == [
                group for group in GROUPS if producer in groups.offsets.of(group).pending
            ]
