"""Reads and writes files whose paths a user or a setting gives: only regular files, and only as many bytes as fit.

To replace a device node destroys it, a pipe without a peer is never opened, and a device such as /dev/zero has no end. Each function raises
OSError with a text that says what is at the path; `strerror` and `filename` are set.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

Place = str | os.PathLike[str]

_KINDS = {
    stat.S_IFDIR: "it is a folder",
    stat.S_IFCHR: "it is a device",
    stat.S_IFBLK: "it is a device",
    stat.S_IFIFO: "it is a named pipe",
    stat.S_IFSOCK: "it is a socket",
}
_FLAGS = sum(getattr(os, name, 0) for name in ("O_BINARY", "O_CLOEXEC", "O_NOCTTY", "O_NONBLOCK"))
"""With O_NONBLOCK, opening a pipe that has replaced the file meanwhile does not wait."""


def check_regular(path: Place) -> None:
    """Raises OSError if there is something at the path that is not a regular file, or if no file can have this name."""
    with suppress(FileNotFoundError):
        _check_existing(path)


def _check_existing(path: Place) -> None:
    try:
        mode = Path(path).stat().st_mode
    except ValueError:
        raise OSError(errno.EINVAL, "the path contains a null character", os.fspath(path)) from None
    _check(mode, path)


def _check(mode: int, path: Place) -> None:
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "it is something else")
        raise OSError(errno.EINVAL, f"{kind}, not a regular file", os.fspath(path))


def open_to_write(path: Place, permissions: int = 0o666) -> int:
    """Returns the descriptor of an empty file, which is created if necessary."""
    check_regular(path)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | _FLAGS, permissions)
    try:
        _check(os.fstat(descriptor).st_mode, path)
        os.ftruncate(descriptor, 0)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def replacing(path: Place, permissions: int = 0o666) -> Iterator[BinaryIO]:
    """Provides a new file, which gets the path when the body of the `with` is complete, in place of an existing file.

    Until then it is a hidden file in the same folder. A link is followed.
    """
    check_regular(path)
    target = Path(os.path.realpath(path))
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, permissions)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        check_regular(target)
        unfinished.replace(target)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise


def open_to_read(path: Place) -> BinaryIO:
    """Returns a regular file that is open for reading."""
    _check_existing(path)
    file = os.fdopen(os.open(path, os.O_RDONLY | _FLAGS), "rb")
    try:
        _check(os.fstat(file.fileno()).st_mode, path)
    except BaseException:
        file.close()
        raise
    return file


def read_regular(path: Place, most_bytes: int) -> bytes:
    """Returns the content of a regular file of at most so many bytes."""
    with open_to_read(path) as file:
        return _read(file, path, most_bytes)


def read_bounded(path: Place, most_bytes: int) -> bytes:
    """Returns at most so many bytes of a file that may also be a pipe, such as <(command) in a shell."""
    with Path(path).open("rb") as file:
        return _read(file, path, most_bytes)


def _read(file: BinaryIO, path: Place, most_bytes: int) -> bytes:
    content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise OSError(errno.EFBIG, f"it has more than {most_bytes} bytes", os.fspath(path))
    return content
