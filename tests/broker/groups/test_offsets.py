"""Committed offsets of one group, and those of open transactions."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from odradek.broker.groups.coordinator import Groups
from odradek.broker.groups.offsets import CommittedOffset, CommittedOffsetIndex, CommittedOffsets
from odradek.broker.transactions.transaction import Producer
from tests.broker.harness import World


def committed(offset: int) -> CommittedOffset:
    return CommittedOffset(offset, -1, "", 0)


def test_commit_replaces_older_commit() -> None:
    offsets = CommittedOffsets()
    offsets.commit("t", 0, committed(9))
    offsets.commit("t", 0, committed(3))
    assert offsets.get("t", 0) == committed(3)
    assert offsets.get("t", 1) is None
    assert offsets.get("u", 0) is None
    assert len(offsets) == 1


def test_topics_have_the_order_of_first_commits() -> None:
    offsets = CommittedOffsets()
    for topic, partition in [("b", 1), ("a", 0), ("b", 0)]:
        offsets.commit(topic, partition, committed(partition))
    assert [(topic, list(partitions)) for topic, partitions in offsets] == [("b", [1, 0]), ("a", [0])]


def test_delete_removes_one_partition() -> None:
    offsets = CommittedOffsets()
    offsets.commit("a", 0, committed(1))
    offsets.commit("a", 1, committed(2))
    offsets.commit("b", 0, committed(3))
    assert offsets.delete("a", 0)
    assert not offsets.delete("a", 0)
    assert not offsets.delete("c", 0)
    assert offsets.delete("a", 1)
    assert [topic for topic, _ in offsets] == ["b"]
    assert offsets.partitions("b") == [0] and offsets.partitions("a") == []
    assert offsets.delete("b", 0)
    assert len(offsets) == 0


def test_expired_returns_matching_partitions() -> None:
    offsets = CommittedOffsets()
    for partition in range(4):
        offsets.commit("t", partition, committed(partition))
    assert offsets.expired_partitions(lambda topic, commit: commit.offset % 2 == 0) == [("t", 0), ("t", 2)]


PRODUCER, OTHER = 1, 2


def test_pending_commit_takes_effect_at_end_of_transaction() -> None:
    offsets = CommittedOffsets()
    offsets.commit("t", 0, committed(1))
    offsets.pending.add(PRODUCER, "t", 0, committed(5))
    offsets.pending.add(PRODUCER, "t", 0, committed(6))
    assert PRODUCER in offsets.pending
    assert offsets.pending.on("t", 0)
    assert not offsets.pending.on("t", 1)
    assert offsets.get("t", 0) == committed(1)
    offsets.end_transaction(PRODUCER, committed=True)
    assert offsets.get("t", 0) == committed(6)
    assert not offsets.pending


def test_pending_commit_of_aborted_transaction_is_discarded() -> None:
    offsets = CommittedOffsets()
    offsets.commit("t", 0, committed(1))
    offsets.pending.add(PRODUCER, "t", 0, committed(5))
    offsets.pending.add(PRODUCER, "t", 1, committed(5))
    offsets.end_transaction(PRODUCER, committed=False)
    assert (offsets.get("t", 0), offsets.get("t", 1), len(offsets.pending)) == (committed(1), None, 0)


def test_later_commit_outlives_end_of_transaction() -> None:
    offsets = CommittedOffsets()
    offsets.pending.add(PRODUCER, "t", 0, committed(5))
    offsets.commit("t", 0, committed(3))
    assert offsets.pending.on("t", 0)  # undecided all the same, as in Kafka
    offsets.pending.add(OTHER, "t", 0, committed(7))
    offsets.end_transaction(PRODUCER, committed=True)
    assert offsets.get("t", 0) == committed(3)
    offsets.end_transaction(OTHER, committed=True)
    assert offsets.get("t", 0) == committed(7)


@pytest.mark.parametrize(
    ("ends", "offset"),
    [
        ({PRODUCER: True, OTHER: True}, 7),
        ({OTHER: True, PRODUCER: True}, 7),
        ({OTHER: False, PRODUCER: True}, 5),
    ],
)
def test_pending_commit_of_later_transaction_wins(ends: dict[int, bool], offset: int) -> None:
    offsets = CommittedOffsets()
    offsets.pending.add(PRODUCER, "t", 0, committed(5))
    offsets.pending.add(OTHER, "t", 0, committed(7))
    for producer, is_committed in ends.items():
        offsets.end_transaction(producer, committed=is_committed)
    assert offsets.get("t", 0) == committed(offset)


def test_delete_removes_pending_commits() -> None:
    offsets = CommittedOffsets()
    for partition in (0, 1):
        offsets.pending.add(PRODUCER, "t", partition, committed(5))
        offsets.pending.add(OTHER, "u", partition, committed(5))
    assert not offsets.delete("t", 0)
    assert [offsets.pending.on("t", partition) for partition in (0, 1)] == [False, True]
    offsets.pending.delete("t")
    assert PRODUCER not in offsets.pending
    assert OTHER in offsets.pending
    offsets.end_transaction(PRODUCER, committed=True)
    assert offsets.get("t", 1) is None


def test_expired_omits_partitions_with_pending_commits() -> None:
    offsets = CommittedOffsets()
    offsets.commit("t", 0, committed(1))
    offsets.commit("t", 1, committed(1))
    offsets.pending.add(PRODUCER, "t", 1, committed(5))
    assert offsets.expired_partitions(lambda topic, commit: True) == [("t", 0)]
    for partition in (0, 1):
        offsets.delete("t", partition)
    assert not offsets


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
    index = CommittedOffsetIndex()
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
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[CommittedOffsetIndex]]:
    """Collects the indexes that the test creates."""
    made: list[CommittedOffsetIndex] = []
    begin = CommittedOffsetIndex.__init__

    def note(self: CommittedOffsetIndex, *args: Any) -> None:
        begin(self, *args)
        made.append(self)

    monkeypatch.setattr(CommittedOffsetIndex, "__init__", note)
    yield made


@pytest.mark.parametrize("seed", range(30))
def test_index_after_arbitrary_steps_matches_offsets(seed: int, index: list[CommittedOffsetIndex]) -> None:
    groups, random = World(1).cluster.groups, Random(seed)
    for _ in range(60):
        step(groups, random)
        for topic in TOPICS:
            assert sorted(index[-1].with_offsets_of(topic)) == [group for group in GROUPS if groups.offsets.of(group).concerns(topic)]
        for producer in PRODUCERS:
            assert sorted(groups.offsets.groups_in_transaction(producer)) == [
                group for group in GROUPS if producer in groups.offsets.of(group).pending
            ]
