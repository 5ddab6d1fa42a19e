from __future__ import annotations

from pathlib import Path

import pytest

from odradek.protocol.stored.metadata_records import PartitionRecord
from odradek.storage.directories.names import PartitionName
from odradek.storage.directories.stored_cluster import StoredCluster, WrongDirectory, committed_end
from odradek.storage.directories.text_files import MetaProperties, meta_properties_text, offsets_text
from tests.storage.directories.recorded_directories import unpack

ORDERS = PartitionName("orders", 0)


def directory(folder: Path, node_id: int, *, cluster_id: str = "c", high_watermark: int | None = None, was_stopped: bool = False) -> Path:
    """Returns a log directory that has the partition orders-0."""
    path = folder / f"disk-of-{node_id}-{cluster_id}"
    (path / str(ORDERS)).mkdir(parents=True)
    (path / "meta.properties").write_text(meta_properties_text(MetaProperties(node_id, cluster_id)))
    if high_watermark is not None:
        (path / "replication-offset-checkpoint").write_text(offsets_text({ORDERS: high_watermark}))
    if was_stopped:
        (path / ".kafka_cleanshutdown").touch()
    return path


def record(leader: int, isr: list[int]) -> PartitionRecord:
    return PartitionRecord(topic_id=bytes(16), replicas=[1, 2, 3], isr=isr, removing_replicas=[], adding_replicas=[], leader=leader)


def test_metadata_is_that_of_the_first_directory_that_has_any(tmp_path: Path) -> None:
    recorded = unpack("kafka-4.3.1", tmp_path)
    stored = StoredCluster([recorded])

    assert stored.image is not None
    assert {topic.name for topic in stored.image.topics.values()} >= {"orders", "payments", "transfers"}
    assert list(stored.nodes) == [1]


def test_directories_of_zookeeper_have_no_metadata(tmp_path: Path) -> None:
    assert StoredCluster([unpack("kafka-2.8.2", tmp_path)]).image is None


def test_several_disks_belong_to_one_node(tmp_path: Path) -> None:
    one = directory(tmp_path / "a", 1)
    other = directory(tmp_path / "b", 1)

    stored = StoredCluster([one, other])

    assert [each.path for each in stored.nodes[1]] == [one, other]
    assert [copy.directory.path for copy in stored.copies[ORDERS]] == [one, other]


@pytest.mark.parametrize(("leader", "isr", "best"), [(3, [1, 3], 3), (9, [2, 3], 2), (-1, [], 1)])
def test_best_copy_is_the_leaders_or_in_sync(leader: int, isr: list[int], best: int, tmp_path: Path) -> None:
    stored = StoredCluster([directory(tmp_path, node_id) for node_id in (1, 2, 3)])

    copy = stored.best_copy(ORDERS, record(leader, isr))

    assert copy is not None
    assert copy.node_id == best


def test_best_copy_without_metadata_is_any(tmp_path: Path) -> None:
    stored = StoredCluster([directory(tmp_path, 4)])

    assert stored.best_copy(ORDERS, None) == stored.copies[ORDERS][0]
    assert stored.best_copy(PartitionName("orders", 1), None) is None


@pytest.mark.parametrize(
    ("leader", "high_watermark", "was_stopped", "end_offset"),
    [(2, 7, False, 7), (1, 7, False, None), (-1, 7, False, None), (2, 7, True, None), (2, None, False, None)],
)
def test_committed_end_of_a_running_follower(
    leader: int, high_watermark: int | None, was_stopped: bool, end_offset: int | None, tmp_path: Path
) -> None:
    stored = StoredCluster([directory(tmp_path, 1, high_watermark=high_watermark, was_stopped=was_stopped)])

    assert committed_end(stored.copies[ORDERS][0], ORDERS, record(leader, [1, 2])) == end_offset


def test_committed_end_without_metadata_is_that_of_the_copy(tmp_path: Path) -> None:
    stored = StoredCluster([directory(tmp_path, 1, high_watermark=7)])

    assert committed_end(stored.copies[ORDERS][0], ORDERS, None) is None


def test_folders_of_no_or_of_other_clusters_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongDirectory, match=r"missing is no folder; give one of the log.dirs"):
        StoredCluster([tmp_path / "missing"])
    with pytest.raises(WrongDirectory, match=r"has no meta.properties"):
        StoredCluster([tmp_path])
    with pytest.raises(WrongDirectory, match=r"belongs to the cluster other, not to c"):
        StoredCluster([directory(tmp_path, 1), directory(tmp_path, 2, cluster_id="other")])
