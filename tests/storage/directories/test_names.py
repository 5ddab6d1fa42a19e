from __future__ import annotations

from pathlib import Path

import pytest

from odradek.storage.directories import names
from odradek.storage.directories.names import PartitionName, SnapshotId


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("orders-0", PartitionName("orders", 0)),
        ("a-1-2", PartitionName("a-1", 2)),
        ("orders", None),
        ("orders-01", None),
        ("orders-0-stray", None),
        ("orders-0.8fe-delete", None),
        ("x" * 250 + "-0", None),
    ],
)
def test_folder_names_are_partitions(folder: str, expected: PartitionName | None) -> None:
    assert PartitionName.parse(folder) == expected
    assert expected is None or str(expected) == folder


def test_offsets_are_those_in_names_of_one_suffix(tmp_path: Path) -> None:
    for name in ("00000000000000000007.log", "00000000000000000003.log", "00000000000000000003.index", "7.log", "99999999999999999999.log"):
        (tmp_path / name).touch()

    assert names.offsets_in(tmp_path, names.LOG) == [3, 7]
    assert names.offset_name(7, names.LOG) == "00000000000000000007.log"


def test_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")

    assert names.read_file(tmp_path / "file", 5) == b"12345"
    with pytest.raises(names.DamagedFile, match="it has 5 bytes; Kafka writes at most 4"):
        names.read_file(tmp_path / "file", 4)


def test_snapshot_names_have_offset_and_epoch() -> None:
    assert SnapshotId.parse("00000000000000000042-0000000003.checkpoint") == SnapshotId(42, 3)
    assert SnapshotId.parse("bootstrap.checkpoint") is None


def test_ids_are_written_and_read() -> None:
    identifier = bytes(range(16))

    assert names.id_bytes(names.id_text(identifier)) == identifier
    assert len(names.id_text(identifier)) == 22


@pytest.mark.parametrize("text", ["", "AAAA", "ä" * 22, "A" * 43])
def test_other_texts_are_no_ids(text: str) -> None:
    with pytest.raises(ValueError):
        names.id_bytes(text)
