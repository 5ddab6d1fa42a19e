"""The file of --ready-file: it is written at once, removed at the end, and never takes the place of something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.broker.commands.ready_file import ReadyFile
from odradek.broker.settings.properties import InvalidConfig
from tests.protocol.device_nodes import device


def test_ready_file_exists_until_it_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "ready"
    ready = ReadyFile(str(path))
    ready.write("bootstrap.servers=127.0.0.1:9092\n")
    assert path.read_text() == "bootstrap.servers=127.0.0.1:9092\n"
    ready.remove()
    assert list(tmp_path.iterdir()) == []


def test_file_that_was_not_written_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "ready"
    path.write_text("of another cluster")
    ReadyFile(str(path)).remove()
    assert path.exists()


def test_ready_file_does_not_replace_a_device(tmp_path: Path) -> None:
    path = device(tmp_path / "null")
    with pytest.raises(InvalidConfig, match=r"cannot write --ready-file .*: it is a device, not a regular file"):
        ReadyFile(str(path))
    assert path.is_char_device()
