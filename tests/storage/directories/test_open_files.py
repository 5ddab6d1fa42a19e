from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from odradek.storage.directories.open_files import OpenFiles


def test_files_that_were_not_used_for_longest_are_closed(tmp_path: Path) -> None:
    files = OpenFiles(2)
    paths = [str(tmp_path / name) for name in "abc"]
    first, second = map(files.descriptor, paths[:2])
    assert files.descriptor(paths[0]) == first
    files.descriptor(paths[2])
    with pytest.raises(OSError):
        os.fstat(second)
    os.fstat(first)
    files.close(paths[1])  # has no effect
    files.close_all()
    with pytest.raises(OSError):
        os.fstat(first)


def test_files_and_folders_are_deleted_before_the_end(tmp_path: Path) -> None:
    files = OpenFiles(2)
    folder, file = tmp_path / "folder", tmp_path / "file"
    folder.mkdir()
    for path in (folder / "a", folder / "b", file):
        path.write_bytes(b"x")
    for path in (folder, file, tmp_path / "missing"):
        files.delete(path)
    files.close_all()
    assert list(tmp_path.iterdir()) == []
    file.write_bytes(b"x")
    files.delete(file)  # also after the end, as when a cluster starts again
    files.close_all()
    assert not file.exists()


def test_file_that_cannot_be_deleted_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "unlink", fail)
    files = OpenFiles(2)
    files.delete(tmp_path / "file")
    files.close_all()
    assert "Permission denied; the next start tries it again" in caplog.text
