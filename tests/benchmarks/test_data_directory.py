"""The log directory with holes, which stands for 10 GiB."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import data_directory
from benchmarks.data_directory import write_sparse_segments
from odradek.storage.directories.stored_log import read_log


def test_sparse_segments_are_a_whole_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_directory, "GIB", 4 << 20)
    monkeypatch.setattr(data_directory, "IMPORTED", 12 << 20)
    folder = tmp_path / "large-0"
    folder.mkdir()
    write_sparse_segments(folder)
    stored = read_log(folder, None, recovery_point=None)
    assert (stored.file_starts, stored.end_offset, stored.damages) == ([0, 4, 8], 12, [])
    assert read_log(folder, None, recovery_point=0).damages == [], "every batch has the right CRC"
    assert sum(path.stat().st_blocks * 512 for path in folder.iterdir()) < 1 << 20
