from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from odradek.broker.durability import disk_room
from odradek.broker.durability.disk_room import KEPT_FREE_BYTES, DiskRoom


def test_room_ends_before_the_disk_and_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    free = [KEPT_FREE_BYTES + 150]
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=free[0], f_frsize=1))
    room = DiskRoom(tmp_path, None)
    assert room.has_room(100)
    free[0] -= 100
    assert not room.has_room(100)
    assert not room.has_room(100)
    assert caplog.text.count("is full: Produce is refused with KAFKA_STORAGE_ERROR") == 1
    free[0] += 1000
    assert room.has_room(100)
    assert "has room again" in caplog.text


def test_room_is_limited_by_memory_too(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    room = DiskRoom(tmp_path, 1000)
    room.used_bytes = 950
    assert room.has_room(50)
    assert not room.has_room(51)
    assert "--max-memory" in caplog.text


def test_disk_that_is_gone_has_no_room(tmp_path: Path) -> None:
    assert not disk_room.DiskRoom(tmp_path / "gone", None).has_room(1)
