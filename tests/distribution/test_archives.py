"""Archives of a release are equal if their files are, whatever their times and the order in which they were written."""

from __future__ import annotations

import os
import tarfile
import zipfile
from pathlib import Path

from distribution.archives import contents, write_tar, write_zip

EPOCH_S = 1_800_000_000


def folder_of(path: Path, names: list[str], time_s: int) -> Path:
    for name in names:
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
        file.chmod(0o700 if name == "program" else 0o660)
        os.utime(file, (time_s, time_s))
    (path / "link").symlink_to("program")
    return path


def test_tar_of_equal_folders_has_equal_bytes(tmp_path: Path) -> None:
    write_tar(tmp_path / "1.tar.gz", folder_of(tmp_path / "one", ["program", "part/file"], 1), "odradek", EPOCH_S)
    write_tar(tmp_path / "2.tar.gz", folder_of(tmp_path / "two", ["part/file", "program"], 2), "odradek", EPOCH_S)
    assert (tmp_path / "1.tar.gz").read_bytes() == (tmp_path / "2.tar.gz").read_bytes()
    with tarfile.open(tmp_path / "1.tar.gz") as archive:
        found = {each.name: (each.mode, each.mtime, each.linkname) for each in archive}
    files = {"odradek/part/file": (0o644, EPOCH_S, ""), "odradek/program": (0o755, EPOCH_S, "")}
    assert found == files | {"odradek/link": (0o755, EPOCH_S, "program")}


def test_zip_of_equal_files_has_equal_bytes_and_runs(tmp_path: Path) -> None:
    write_zip(tmp_path / "1.pyz", {"b": b"2", "a": b"1"}, EPOCH_S, head=b"#!/usr/bin/env python3\n")
    write_zip(tmp_path / "2.pyz", {"a": b"1", "b": b"2"}, EPOCH_S, head=b"#!/usr/bin/env python3\n")
    assert (tmp_path / "1.pyz").read_bytes() == (tmp_path / "2.pyz").read_bytes()
    assert contents(tmp_path / "1.pyz") == {"a": b"1", "b": b"2"} and zipfile.is_zipfile(tmp_path / "1.pyz")
    assert os.access(tmp_path / "1.pyz", os.X_OK)
