from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from odradek import Cluster
from odradek.broker.durability.data_directory import DataDirectory
from odradek.broker.settings.properties import InvalidConfig
from odradek.storage.directories.log_directory import LogDirectory
from tests.storage.directories.recorded_directories import unpack

from .kept_cluster import KeptCluster, values


def stored_at(path: Path) -> KeptCluster:
    stored = KeptCluster(path)
    if "t" not in stored.cluster.topics:
        stored.cluster.topics.create("t", 1, 1)
    stored.append("a")
    stored.shadow.sync()
    return stored


def test_directory_in_use_is_refused_until_it_is_free(tmp_path: Path) -> None:
    stored = stored_at(tmp_path / "data")
    with pytest.raises(InvalidConfig, match=r"another process uses the data directory .*/data; stop it, or give another folder"):
        DataDirectory(tmp_path / "data").open()
    assert not DataDirectory(tmp_path / "data").is_in_use
    stored.stop()
    KeptCluster(tmp_path / "data").stop()


def test_other_process_sees_that_the_directory_is_in_use(tmp_path: Path) -> None:
    stored = stored_at(tmp_path / "data")
    program = "import sys; from pathlib import Path; from odradek.storage.directories.log_directory import LogDirectory\n"
    program += "print(LogDirectory(Path(sys.argv[1])).is_in_use)"
    shown = subprocess.run([sys.executable, "-c", program, str(tmp_path / "data")], capture_output=True, text=True, check=True)
    assert shown.stdout == "True\n"
    stored.stop()
    assert not LogDirectory(tmp_path / "data").is_in_use


def test_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(InvalidConfig, match=r"is not empty and no log directory: it has no meta.properties; give a new or an empty folder"):
        DataDirectory(tmp_path)


def test_foreign_cluster_id_is_refused(tmp_path: Path) -> None:
    stored_at(tmp_path / "data").stop()
    with pytest.raises(InvalidConfig, match=r"belongs to the cluster c, not to other; give another folder"):
        DataDirectory(tmp_path / "data", "other")
    assert DataDirectory(tmp_path / "data", "c").meta is not None


def test_directory_of_another_node_is_refused(tmp_path: Path) -> None:
    stored_at(tmp_path / "data").stop()
    with pytest.raises(InvalidConfig, match="belongs to node 1, and the first node of this cluster is 7"):
        KeptCluster(tmp_path / "data", settings={"node.id": "7"})


@pytest.mark.parametrize("text", ["version=2\nnode.id=1\ncluster.id=c\n", "version=1\nnode.id=1\n"])
def test_unknown_identity_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "meta.properties").write_text(text)
    with pytest.raises(InvalidConfig, match=r"cannot use the data directory: .*/meta.properties: "):
        DataDirectory(tmp_path)


def test_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InvalidConfig, match=r"cannot use the data directory .*/file/data: Not a directory"):
        DataDirectory(tmp_path / "file" / "data")


def test_folder_without_permission_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may do everything
    with pytest.raises(InvalidConfig, match="no permission to read and write it"):
        DataDirectory(tmp_path)


def test_strange_folders_are_set_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    data = tmp_path / "data"
    stored_at(data).stop()
    shutil.copytree(data / "t-0", data / "t-1")
    shutil.copytree(data / "t-0", data / "unknown-0")
    (data / "unknown-0" / "partition.metadata").unlink()
    (data / "gone-0.00-delete").mkdir()
    (data / "gone-0.00-delete" / "file").touch()
    again = KeptCluster(data)
    assert values(again.partition()) == [(0, "a")]
    folders = sorted(path.name.split(".")[0] for path in data.iterdir() if path.is_dir())
    assert folders == ["__cluster_metadata-0", "t-0", "t-1", "unknown-0"]
    assert len(list(data.glob("*-stray"))) == 2
    assert "belongs to no topic" in caplog.text


def test_damage_in_the_middle_drops_the_segments_behind_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    stored = stored_at(tmp_path / "data")
    for _ in range(4):
        stored.partition().virtual_segments._starts.append(stored.partition().log.end_offset)
        stored.append("." * 10)
        stored.shadow.sync()
    stored.kill()
    log = tmp_path / "data" / "t-0" / f"{0:020d}.log"
    log.write_bytes(log.read_bytes()[:-1])
    again = KeptCluster(tmp_path / "data")
    assert "Found invalid messages in log segment" in caplog.text
    assert again.partition().log.end_offset < 5


def test_cluster_in_python_keeps_its_data(tmp_path: Path) -> None:
    cluster = Cluster(nodes=2, topics={"t": 2}, data_dir=tmp_path / "data")
    for number in range(2):
        with cluster:
            cluster.produce("t", [f"v{number}"], partition=1)
            if number:
                assert [record.value for record in cluster.records("t")] == [b"v0", b"v1"]
                cluster.reset()
                assert [record.value for record in cluster.records("t")] == [b"v0"]
    with cluster:
        assert [record.value for record in cluster.records("t")] == [b"v0"]
    with pytest.raises(ValueError, match="data_dir cannot be combined"):
        Cluster(data_dir=tmp_path, as_version="3.9")
    with pytest.raises(ValueError, match="memory_limit has no effect without data_dir"):
        Cluster(memory_limit=1)
    with pytest.raises(ValueError, match="memory_limit must be at least 1 byte, not 0"):
        Cluster(memory_limit=0, data_dir=tmp_path / "data")


def test_seed_data_is_loaded_once(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"value": "seed"}\n')
    for _ in range(2):
        with Cluster(data=tmp_path / "t.jsonl", data_dir=tmp_path / "data") as cluster:
            assert [record.value for record in cluster.records("t")] == [b"seed"]


def test_timeout_of_a_transaction_counts_from_its_start(tmp_path: Path) -> None:
    stored = KeptCluster(unpack("kafka-4.3.1-killed", tmp_path))

    assert dict(stored.turns.timers.remaining())["transaction", "unfinished"] == 0
    stored.kill()
