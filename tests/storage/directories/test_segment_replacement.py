from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record
from odradek.storage.directories import segment_replacement
from odradek.storage.directories.segment_replacement import SegmentReplacement
from odradek.storage.shadowed_log import LogChanges, ShadowedLog

SIZE = 5000


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> ShadowedLog:
    """A log of ten batches, of which two fit into a slice."""
    monkeypatch.setattr(segment_replacement, "SLICE_BYTES", 2 * SIZE + 500)
    found = ShadowedLog(LogChanges())
    for number in range(10):
        found.append(memoryview(build_batch([Record(0, 1000 + number, None, bytes(SIZE), [])])), 0, owned=False)
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "0.log"
    file.write_bytes(b"former")
    return file


def test_batches_are_written_in_slices(log: ShadowedLog, path: Path) -> None:
    replacement = SegmentReplacement(path, 0)
    assert len(list(replacement.write(log, 7))) == 4
    assert not replacement.is_outdated(log)
    assert path.read_bytes() == b"former"
    former = replacement.take_place()
    replacement.discard()
    assert former.read_bytes() == b"former"
    assert path.read_bytes() == b"".join(log.batches(0, 7))
    entry = len(next(log.batches(0, 1)))
    assert replacement.index.offsets == b"".join(n.to_bytes(4) + (n * entry).to_bytes(4) for n in range(1, 7))
    assert replacement.index.times == b"".join((1000 + n).to_bytes(8) + n.to_bytes(4) for n in range(1, 7))
    assert sorted(each.name for each in path.parent.iterdir()) == ["0.log", "0.log.deleted"]


def test_segment_without_batches_becomes_empty(log: ShadowedLog, path: Path) -> None:
    log.replace_before(5, [])
    replacement = SegmentReplacement(path, 0)
    assert list(replacement.write(log, 5)) == []
    assert replacement.index == (b"", b"")
    replacement.take_place()
    replacement.discard()
    assert path.read_bytes() == b""


def test_other_batches_end_the_work(log: ShadowedLog, path: Path) -> None:
    replacement = SegmentReplacement(path, 0)
    steps = replacement.write(log, 10)
    next(steps)
    log.truncate_to(1)
    assert list(steps) == []
    assert replacement.is_outdated(log)
    replacement.discard()
    assert [each.name for each in path.parent.iterdir()] == ["0.log"]


def test_failed_replacement_leaves_one_name(log: ShadowedLog, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    replacement = SegmentReplacement(path, 0)
    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError):
        replacement.take_place()
    replacement.discard()
    assert [each.name for each in path.parent.iterdir()] == ["0.log"]
    assert path.read_bytes() == b"former"


def test_file_system_without_links_serves_too(log: ShadowedLog, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", fail)
    replacement = SegmentReplacement(path, 0)
    list(replacement.write(log, 1))
    assert not replacement.take_place().exists()
    replacement.discard()
    assert path.read_bytes() == b"".join(log.batches(0, 1))
