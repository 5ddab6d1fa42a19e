from __future__ import annotations

from pathlib import Path

import pytest

from odradek.storage.directories import names
from odradek.storage.directories.names import DamagedFile
from odradek.storage.directories.producer_snapshot import ProducerEntry, producer_snapshot_bytes, read_producer_snapshot
from tests.storage.directories.recorded_directories import unpack

ENTRIES = [ProducerEntry(7, 1, 20, 120, 4, 1000, -1, 90), ProducerEntry(8, 0, -1, -1, 0, 1000, 3, -1)]


def test_entries_are_read_as_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(producer_snapshot_bytes(ENTRIES))

    assert read_producer_snapshot(tmp_path / "file") == ENTRIES


def test_snapshots_of_kafka_are_written_byte_for_byte(tmp_path: Path) -> None:
    paths = [path for name in ("kafka-4.3.1", "kafka-2.8.2") for path in unpack(name, tmp_path).rglob("*" + names.PRODUCERS)]

    assert len(paths) > 4
    assert any(read_producer_snapshot(path) for path in paths)
    for path in paths:
        assert producer_snapshot_bytes(read_producer_snapshot(path)) == path.read_bytes()


def test_base_sequence_precedes_the_last_one_and_wraps() -> None:
    assert ENTRIES[0].base_sequence == 16
    assert ENTRIES[0]._replace(last_sequence=1).base_sequence == 2**31 - 3


@pytest.mark.parametrize("damage", [lambda c: c[:5], lambda c: b"\0\2" + c[2:], lambda c: c[:-1], lambda c: c[:20] + b"\xff" + c[21:]])
def test_damaged_snapshots_are_refused(damage: object, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(damage(producer_snapshot_bytes(ENTRIES)))  # type: ignore[operator]

    with pytest.raises(DamagedFile):
        read_producer_snapshot(tmp_path / "file")


def test_count_that_does_not_match_the_size_is_refused(tmp_path: Path) -> None:
    from odradek.protocol.batches import records

    body = (5).to_bytes(4, "big")
    (tmp_path / "file").write_bytes(b"\0\1" + records.crc32c(body).to_bytes(4, "big") + body)

    with pytest.raises(DamagedFile, match="5 producers"):
        read_producer_snapshot(tmp_path / "file")
