from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

from odradek.storage.directories.log_directory import LogDirectory
from odradek.storage.directories.names import PartitionName
from tests.storage.directories.recorded_directories import NAMES, records_in, seen_by_clients, unpack


@pytest.mark.parametrize("name", NAMES)
def test_recorded_directory_has_the_records_that_clients_saw(name: str, tmp_path: Path) -> None:
    directory, seen = LogDirectory(unpack(name, tmp_path)), seen_by_clients(name)

    for topic, facts in seen["topics"].items():
        assert _without_times(records_in(directory, topic)) == _without_times(facts["all"]), topic


def _without_times(rows: list[list[object]]) -> list[list[object]]:
    """Returns rows without the timestamps of format 0, which clients see as -1, and which the ends of partitions do not have."""
    return [[*row[:2], *row[3:]] if len(row) > 3 else row for row in rows]


@pytest.mark.parametrize(("name", "in_order"), [("kafka-4.3.1", True), ("kafka-4.3.1-killed", False)])
def test_shutdown_is_known(name: str, in_order: bool, tmp_path: Path) -> None:
    directory = LogDirectory(unpack(name, tmp_path))

    assert directory.was_stopped_in_order is in_order
    assert directory.meta is not None
    assert directory.meta.node_id == 1
    assert directory.metadata_folder is not None


def test_directory_of_zookeeper_has_no_metadata_folder(tmp_path: Path) -> None:
    directory = LogDirectory(unpack("kafka-2.8.2", tmp_path))

    assert directory.metadata_folder is None
    assert directory.meta is not None
    assert directory.meta.directory_id is None


def test_folder_without_identity_has_no_meta(tmp_path: Path) -> None:
    assert LogDirectory(tmp_path).meta is None


def test_partitions_leave_out_deleted_stray_and_metadata_folders(tmp_path: Path) -> None:
    for name in ("orders-1", "orders-0", "a.b-c-12", "orders-0.0f-delete", "orders-1-stray", "__cluster_metadata-0", "-3"):
        (tmp_path / name).mkdir()
    (tmp_path / "file-0").touch()

    names = list(LogDirectory(tmp_path).partitions)

    assert names == [PartitionName("a.b-c", 12), PartitionName("orders", 0), PartitionName("orders", 1)]


def test_lock_of_another_process_is_seen(tmp_path: Path) -> None:
    directory = LogDirectory(tmp_path)
    assert not directory.is_in_use

    (tmp_path / ".lock").touch()
    assert not directory.is_in_use


def test_refused_lock_means_that_the_directory_is_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_descriptor: int, _operation: int) -> None:
        raise BlockingIOError

    (tmp_path / ".lock").touch()
    monkeypatch.setattr(fcntl, "lockf", refuse)

    assert LogDirectory(tmp_path).is_in_use


def test_high_watermarks_are_those_of_the_checkpoint(tmp_path: Path) -> None:
    directory = LogDirectory(unpack("kafka-4.3.1", tmp_path))

    assert directory.high_watermarks[PartitionName("orders", 0)] == 20
