from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.storage.directories.names import DamagedFile, PartitionName
from odradek.storage.directories.text_files import (
    EpochStart,
    MetaProperties,
    epochs_text,
    meta_properties_text,
    offsets_text,
    read_epochs,
    read_meta_properties,
    read_offsets,
    read_topic_id,
    topic_id_text,
)

OFFSETS = st.dictionaries(st.builds(PartitionName, st.sampled_from(["orders", "a.b-c"]), st.integers(0, 99)), st.integers(0, 2**63 - 1))


@given(offsets=OFFSETS)
def test_offsets_are_read_as_written(offsets: dict[PartitionName, int], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("checkpoint") / "checkpoint"
    path.write_text(offsets_text(offsets))

    assert read_offsets(path) == offsets


def test_missing_and_empty_checkpoints_have_no_entries(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    assert read_offsets(path) == {}

    path.touch()
    assert read_offsets(path) == {}
    assert read_epochs(path) == []


@pytest.mark.parametrize("text", ["1\n0\n", "0", "0\n2\norders 0 5\n", "0\n1\norders 0\n", "0\n1\norders 0 -5\n", "0\n1\norders 0 x\n"])
def test_damaged_offsets_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "checkpoint").write_text(text)

    with pytest.raises(DamagedFile, match="checkpoint: "):
        read_offsets(tmp_path / "checkpoint")


def test_epochs_are_read_as_written(tmp_path: Path) -> None:
    epochs = [EpochStart(0, 0), EpochStart(3, 10)]
    (tmp_path / "epochs").write_text(epochs_text(epochs))

    assert read_epochs(tmp_path / "epochs") == epochs


@pytest.mark.parametrize("line", ["0 5", "4 -1", "4 1", "4", "x 20", f"{2**31} 20"])
def test_epochs_that_do_not_ascend_are_refused(line: str, tmp_path: Path) -> None:
    (tmp_path / "epochs").write_text(f"0\n2\n3 10\n{line}\n")

    with pytest.raises(DamagedFile):
        read_epochs(tmp_path / "epochs")


@pytest.mark.parametrize("directory_id", [None, bytes(range(16))])
def test_meta_properties_are_read_as_written(directory_id: bytes | None, tmp_path: Path) -> None:
    meta = MetaProperties(3, "5L6g3nShT-eMCtK--X86sw", directory_id)
    (tmp_path / "meta.properties").write_text(meta_properties_text(meta))

    assert read_meta_properties(tmp_path / "meta.properties") == meta


@pytest.mark.parametrize("text", ["", "node.id=1\n", "node.id=x\ncluster.id=c\n", "node.id=1\ncluster.id=c\ndirectory.id=AA\n"])
def test_incomplete_meta_properties_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "meta.properties").write_text(text)

    with pytest.raises(DamagedFile):
        read_meta_properties(tmp_path / "meta.properties")


def test_topic_id_is_read_as_written(tmp_path: Path) -> None:
    (tmp_path / "partition.metadata").write_text(topic_id_text(bytes(range(16))))

    assert read_topic_id(tmp_path / "partition.metadata") == bytes(range(16))


@pytest.mark.parametrize("content", [b"", b"version: 1\ntopic_id: AA\n", b"version: 0\ntopic_id: AA\n", b"\xff\xfe"])
def test_other_partition_metadata_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "partition.metadata").write_bytes(content)

    with pytest.raises(DamagedFile):
        read_topic_id(tmp_path / "partition.metadata")
