"""Files that users name: devices, pipes and folders are neither read nor written, and remain."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from odradek.protocol import regular_files
from odradek.protocol.regular_files import check_regular, open_to_read, open_to_write, read_bounded, read_regular, replacing

from .device_nodes import device


def named_pipe(path: Path) -> Path:
    os.mkfifo(path)
    return path


def folder(path: Path) -> Path:
    path.mkdir()
    return path


OTHERS = {"it is a device": device, "it is a named pipe": named_pipe, "it is a folder": folder}


def replace(path: Path) -> None:
    with replacing(path) as file:
        file.write(b"new")


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("use", [check_regular, open_to_write, replace, open_to_read, lambda path: read_regular(path, 10)])
def test_anything_but_a_regular_file_is_refused(use: Callable[[Path], object], kind: str, tmp_path: Path) -> None:
    path = OTHERS[kind](tmp_path / "other")
    before = path.lstat().st_mode
    link = tmp_path / "link"
    link.symlink_to(path)
    for each in (path, link):
        with pytest.raises(OSError, match=f"{kind}, not a regular file") as refused:
            use(each)
        assert refused.value.filename == str(each)
    assert path.lstat().st_mode == before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link", "other"]


def test_path_with_a_null_character_is_refused() -> None:
    with pytest.raises(OSError, match="contains a null character"):
        check_regular("a\0b")


def test_missing_file_can_be_written_and_not_read(tmp_path: Path) -> None:
    check_regular(tmp_path / "none")
    with pytest.raises(FileNotFoundError):
        open_to_read(tmp_path / "none")
    with pytest.raises(FileNotFoundError):
        replace(tmp_path / "none" / "file")


def test_replacing_follows_a_link_and_sets_the_permissions(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")
    with replacing(tmp_path / "link", 0o600) as file:
        file.write(b"new")
        assert (tmp_path / "file").read_text() == "old"
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600


def test_replacing_that_fails_leaves_the_existing_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    with pytest.raises(ArithmeticError), replacing(tmp_path / "file") as file:
        file.write(b"new")
        raise ArithmeticError
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {"file": "old"}


def test_opening_to_write_empties_the_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    os.close(open_to_write(tmp_path / "file"))
    assert (tmp_path / "file").read_bytes() == b""


@pytest.mark.parametrize("read", [read_regular, read_bounded])
def test_reading_more_than_the_limit_is_refused(read: Callable[[Path, int], bytes], tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(10))
    assert read(tmp_path / "file", 10) == bytes(10)
    with pytest.raises(OSError, match="more than 9 bytes"):
        read(tmp_path / "file", 9)


def test_reading_a_device_without_end_is_bounded(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="more than 1000 bytes"):
        read_bounded(device(tmp_path / "zero", 5), 1000)


@pytest.mark.parametrize("opened", [regular_files.open_to_write, regular_files.open_to_read])
def test_file_replaced_before_it_is_opened_is_refused(opened: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x")
    monkeypatch.setattr(regular_files, "check_regular", lambda path: None)
    monkeypatch.setattr(regular_files, "_check_existing", lambda path: None)

    def refuse(mode: int, path: object) -> None:
        raise OSError("not regular")

    monkeypatch.setattr(regular_files, "_check", refuse)
    with pytest.raises(OSError, match="not regular"):
        opened(path)
    assert path.read_bytes() == b"x"
