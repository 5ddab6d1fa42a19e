from __future__ import annotations

from pathlib import Path

import pytest

from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record
from odradek.protocol.schema import Message
from odradek.protocol.stored import metadata_records as stored
from odradek.storage.directories.metadata_log import RECORDS_PER_BATCH, read_metadata, read_records, snapshot_bytes
from odradek.storage.directories.names import DamagedFile
from tests.storage.directories.made_segments import message as old_message

TOPIC = stored.TopicRecord(name="orders", topic_id=bytes(16))
FEATURE = stored.FeatureLevelRecord(name="metadata.version", feature_level=30)


def log_bytes(*messages: Message, base_offset: int = 0) -> bytes:
    rows = [Record(base_offset + delta, 1, None, stored.write_metadata_record(each), []) for delta, each in enumerate(messages)]
    return bytes(build_batch(rows, base_offset=base_offset))


def test_snapshot_is_read_as_written(tmp_path: Path) -> None:
    messages = [FEATURE, *(stored.TopicRecord(name=f"t{number}", topic_id=bytes(16)) for number in range(RECORDS_PER_BATCH))]
    (tmp_path / "file").write_bytes(snapshot_bytes(messages, 1000))

    assert [record.message for record in read_records(tmp_path / "file")] == messages


def test_log_continues_the_newest_snapshot(tmp_path: Path) -> None:
    (tmp_path / "00000000000000000001-0000000001.checkpoint").write_bytes(snapshot_bytes([TOPIC], 1))
    (tmp_path / "00000000000000000002-0000000001.checkpoint").write_bytes(snapshot_bytes([FEATURE], 1))
    (tmp_path / "00000000000000000000.log").write_bytes(log_bytes(TOPIC, TOPIC, TOPIC, FEATURE))

    assert list(read_metadata(tmp_path)) == [FEATURE, TOPIC, FEATURE]


@pytest.mark.parametrize(
    ("end", "expected"), [(stored.EndTransactionRecord(), [FEATURE, TOPIC, FEATURE]), (stored.AbortTransactionRecord(), [FEATURE, FEATURE])]
)
def test_transactions_take_effect_at_their_end(end: Message, expected: list[Message], tmp_path: Path) -> None:
    content = log_bytes(FEATURE, stored.BeginTransactionRecord(), TOPIC, end, FEATURE, stored.BeginTransactionRecord(), TOPIC)
    (tmp_path / "00000000000000000000.log").write_bytes(content)

    assert list(read_metadata(tmp_path)) == expected


def test_end_without_begin_has_no_effect(tmp_path: Path) -> None:
    (tmp_path / "00000000000000000000.log").write_bytes(log_bytes(stored.EndTransactionRecord(), TOPIC))

    assert list(read_metadata(tmp_path)) == [TOPIC]


@pytest.mark.parametrize("value", [None, b"\2\2\0", b"\1\2\0\5ab"])
def test_unreadable_records_are_damage(value: bytes | None, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(build_batch([Record(0, 1, None, value, [])]))

    with pytest.raises(DamagedFile, match="the batch at offset 0"):
        list(read_records(tmp_path / "file"))


def test_records_of_unknown_types_are_skipped(tmp_path: Path) -> None:
    rows = [Record(0, 1, None, b"\1\x7f\0", []), Record(1, 1, None, stored.write_metadata_record(TOPIC), [])]
    (tmp_path / "00000000000000000000.log").write_bytes(build_batch(rows))

    assert list(read_metadata(tmp_path)) == [TOPIC]


def test_old_messages_are_no_metadata(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(old_message(0))

    with pytest.raises(DamagedFile, match="format 1"):
        list(read_records(tmp_path / "file"))
