from __future__ import annotations

from odradek.broker.groups.offsets import CommittedOffset, CommittedOffsets


def committed(offset: int) -> CommittedOffset:
    return CommittedOffset(offset, -1, "", 0)


def test_the_last_commit_counts() -> None:
    offsets = CommittedOffsets()
    offsets.commit("t", 0, committed(9))
    offsets.commit("t", 0, committed(3))
    assert offsets.get("t", 0) == committed(3)
    assert offsets.get("t", 1) is None
    assert offsets.get("u", 0) is None
    assert len(offsets) == 1


def test_topics_in_the_order_of_first_commits() -> None:
    offsets = CommittedOffsets()
    for topic, partition in [("b", 1), ("a", 0), ("b", 0)]:
        offsets.commit(topic, partition, committed(partition))
    assert [(topic, list(partitions)) for topic, partitions in offsets] == [("b", [1, 0]), ("a", [0])]


def test_deleting() -> None:
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


def test_expiring() -> None:
    offsets = CommittedOffsets()
    for partition in range(4):
        offsets.commit("t", partition, committed(partition))
    assert offsets.expired(lambda topic, commit: commit.offset % 2 == 0) == [("t", 0), ("t", 2)]
