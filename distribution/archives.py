"""Archives whose bytes follow from the files in them: sorted names, one time, no owners."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from time import gmtime

EXECUTABLE, READABLE = 0o755, 0o644


def write_zip(path: Path, files: Mapping[str, bytes], epoch_s: int, *, head: bytes = b"") -> None:
    """Writes a zip archive behind `head`, a line that names the program which runs it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            info = zipfile.ZipInfo(name, gmtime(epoch_s)[:6])
            info.external_attr = READABLE << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    path.write_bytes(head + out.getvalue())
    path.chmod(EXECUTABLE if head else READABLE)


def write_tar(path: Path, folder: Path, name: str, epoch_s: int) -> None:
    """Writes a tar.gz archive of the files in a folder, which has another name in the archive. Empty folders are left out."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for file in sorted(each for each in folder.rglob("*") if each.is_symlink() or each.is_file()):
            info = archive.gettarinfo(file, f"{name}/{file.relative_to(folder).as_posix()}")
            info.mtime, info.uid, info.gid, info.uname, info.gname = epoch_s, 0, 0, "", ""
            info.mode = EXECUTABLE if info.mode & 0o100 else READABLE
            if info.isfile():
                with file.open("rb") as content:
                    archive.addfile(info, content)
            else:
                archive.addfile(info)
    path.write_bytes(gzip.compress(out.getvalue(), mtime=0))


def contents(archive: Path) -> dict[str, bytes]:
    """Returns the files of a zip archive by their names."""
    with zipfile.ZipFile(archive) as opened:
        return {name: opened.read(name) for name in opened.namelist()}
