from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from odradek.broker.cli import main
from odradek.broker.directories.inspection import inspect_directory, inspect_file, inspect_partition
from odradek.storage.directories.log_directory import LogDirectory
from odradek.storage.directories.names import DamagedFile
from tests.storage.directories.recorded_directories import NAMES, seen_by_clients, unpack


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("deep", [False, True])
def test_recorded_directory_is_shown_without_damage(name: str, deep: bool, tmp_path: Path) -> None:
    rows, problems = inspect_directory(unpack(name, tmp_path), deep=deep)

    ends = {(row["topic"], row["partition"]): row["end_offset"] for row in rows}
    for topic, facts in seen_by_clients(name)["topics"].items():
        assert [ends[topic, row[0]] for row in facts["all"] if len(row) == 3] == [row[2] for row in facts["all"] if len(row) == 3]
    assert problems == []
    assert sum(row["damage"] for row in rows) == 0


@pytest.mark.parametrize("name", NAMES)
def test_every_file_of_a_recorded_directory_is_shown(name: str, tmp_path: Path) -> None:
    unknown = set()
    for path in unpack(name, tmp_path).rglob("*"):
        if path.is_file():
            try:
                rows = list(inspect_file(path))
            except ValueError:
                unknown.add(path.name)
            else:
                assert all(rows)
    assert unknown <= {".kafka_cleanshutdown", "quorum-state"}


def test_damage_in_the_middle_is_found_by_a_deep_look_only(tmp_path: Path) -> None:
    path = unpack("kafka-4.3.1", tmp_path)
    segment = path / "orders-0" / "00000000000000000000.log"
    content = bytearray(segment.read_bytes())
    content[70] ^= 1
    segment.write_bytes(content)

    _, problems = inspect_directory(path, deep=True)
    assert [problem.split(":")[0] for problem in problems] == [f"{segment} is invalid at byte offset 0"]
    _, problems = inspect_partition(path / "orders-0", deep=True)
    assert len(problems) == 1


def test_indexes_of_another_segment_are_damage(tmp_path: Path) -> None:
    path = unpack("kafka-4.3.1", tmp_path) / "orders-0"
    (path / "00000000000000000000.index").write_bytes((3).to_bytes(4, "big") + (77).to_bytes(4, "big"))
    (path / "00000000000000000000.timeindex").write_bytes((2**60).to_bytes(8, "big") + (3).to_bytes(4, "big"))

    _, problems = inspect_partition(path, deep=True)

    assert [problem.split(": ")[1].split(" ")[0:2] for problem in problems] == [["no", "batch"], ["a", "timestamp"]]


def test_directory_in_use_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LogDirectory, "is_in_use", True)

    _, problems = inspect_directory(unpack("kafka-4.3.1", tmp_path), deep=False)

    assert "a running broker uses the directory" in problems[0]


def test_torn_segment_ends_with_its_damage(tmp_path: Path) -> None:
    segment = unpack("kafka-4.3.1", tmp_path) / "orders-0" / "00000000000000000000.log"
    segment.write_bytes(segment.read_bytes()[:-1])

    rows = list(inspect_file(segment))

    assert rows[0]["value"] == b"none 0"
    assert "damage" in rows[-1]
    assert main(["inspect", str(segment)]) == 1


def test_transactions_and_markers_are_shown(tmp_path: Path) -> None:
    segments = sorted((unpack("kafka-4.3.1", tmp_path) / "transfers-0").glob("*.log"))
    rows = [row for segment in segments for row in inspect_file(segment)]

    assert [row["control"] for row in rows if "control" in row] == ["COMMIT", "ABORT", "COMMIT"]
    assert rows[0]["transactional"] is True


def test_metadata_is_shown_with_types_and_ids(tmp_path: Path) -> None:
    rows = list(inspect_file(unpack("kafka-4.3.1", tmp_path) / "__cluster_metadata-0" / "00000000000000000000.log"))

    topics = {row["name"]: row["topic_id"] for row in rows if row["type"] == "Topic"}
    assert set(topics) >= {"orders", "payments", "transfers"}
    assert all(len(topic_id) == 22 for topic_id in topics.values())


def test_unreadable_batch_is_damage(tmp_path: Path) -> None:
    from odradek.protocol.batches.record_builder import build_batch
    from odradek.protocol.batches.records import Record, write_crc

    batch = build_batch([Record(0, 1, None, b"v", [])])
    batch[60] = 9  # a count of records that are not there
    write_crc(batch)
    (tmp_path / "00000000000000000000.log").write_bytes(batch)

    assert "damage" in list(inspect_file(tmp_path / "00000000000000000000.log"))[-1]


def test_damaged_checkpoint_is_refused(tmp_path: Path) -> None:
    (tmp_path / "leader-epoch-checkpoint").write_text("x")

    with pytest.raises(DamagedFile):
        list(inspect_file(tmp_path / "leader-epoch-checkpoint"))


def test_command_prints_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = unpack("kafka-4.3.1", tmp_path)

    assert main(["inspect", str(path)]) == 0
    heading, *lines = capsys.readouterr().out.splitlines()
    assert heading.split() == ["TOPIC", "PARTITION", "START_OFFSET", "END_OFFSET", "HIGH_WATERMARK", "SEGMENTS", "BYTES", "DAMAGE"]
    assert any(line.split()[:5] == ["orders", "0", "0", "20", "20"] for line in lines)


def test_command_prints_json_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = unpack("kafka-4.3.1", tmp_path)

    assert main(["inspect", str(path / "orders-0" / "00000000000000000000.log"), "--json"]) == 0
    first = json.loads(capsys.readouterr().out.splitlines()[0])
    assert (first["offset"], first["key"], first["value"]) == (0, "key-0", "none 0")
    assert main(["inspect", str(path / "orders-0"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["segment"] == 0
    assert main(["inspect", str(path / "meta.properties")]) == 0
    assert "node_id=1" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["missing"], ["file.txt"], ["meta.properties", "--deep"], ["meta.properties"]])
def test_paths_that_cannot_be_shown_exit_with_2(arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file.txt").touch()
    (tmp_path / "meta.properties").touch()

    assert main(["inspect", str(tmp_path / arguments[0]), *arguments[1:]]) == 2
    assert capsys.readouterr().err


def test_missing_segments_leave_an_empty_partition(tmp_path: Path) -> None:
    path = unpack("kafka-4.3.1", tmp_path)
    shutil.rmtree(path / "orders-0")
    (path / "orders-0").mkdir()

    rows, _ = inspect_directory(path, deep=True)

    assert next(row for row in rows if (row["topic"], row["partition"]) == ("orders", 0))["segments"] == 0
