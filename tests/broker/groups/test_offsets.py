"""Committed offsets of one group, and those of open transactions."""

from __future__ import annotations

from odradek.broker.groups.offsets import CommittedOffset, CommittedOffsets


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
    assert offsets.expired(lambda topic, commit: commit.offset % 2 == 0) == [("t", 0), ("t", 2)]


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


def test_pending_commit_of_later_transaction_wins() -> None:
    for first, second in ((PRODUCER, OTHER), (OTHER, PRODUCER)):
        offsets = CommittedOffsets()
        offsets.pending.add(PRODUCER, "t", 0, committed(5))
        offsets.pending.add(OTHER, "t", 0, committed(7))
        offsets.end_transaction(first, committed=True)
        offsets.end_transaction(second, committed=True)
        assert offsets.get("t", 0) == committed(7)
    offsets = CommittedOffsets()
    offsets.pending.add(PRODUCER, "t", 0, committed(5))
    offsets.pending.add(OTHER, "t", 0, committed(7))
    offsets.end_transaction(OTHER, committed=False)
    offsets.end_transaction(PRODUCER, committed=True)
    assert offsets.get("t", 0) == committed(5)


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
    assert offsets.expired(lambda topic, commit: True) == [("t", 0)]
    for partition in (0, 1):
        offsets.delete("t", partition)
    assert not offsets
