"""The files of a data directory that a cluster writes to, and the thread that deletes those that it needs no more."""

from __future__ import annotations

import logging
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

log = logging.getLogger("kafka.log.LogManager")


class OpenFiles:
    """The descriptors of the segments that are appended to. At most `limit` are open, because a process has a limit of its own.

    Files are deleted in a thread, because the system takes up to 0.2 s for 1 GiB.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open: dict[str, int] = {}
        self._thread: ThreadPoolExecutor | None = None

    def descriptor(self, path: str) -> int:
        """Returns the descriptor of a segment. Raises OSError."""
        descriptor = self._open.pop(path, None)
        if descriptor is None:
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._open[path] = descriptor
        if len(self._open) > self._limit:
            self.close(next(iter(self._open)))
        return descriptor

    def close(self, path: str) -> None:
        """Closes a segment if it is open."""
        descriptor = self._open.pop(path, None)
        if descriptor is not None:
            os.close(descriptor)

    def close_all(self) -> None:
        """Closes all segments, and waits until everything is deleted."""
        for path in list(self._open):
            self.close(path)
        if self._thread is not None:
            self._thread.shutdown()
            self._thread = None

    def delete(self, path: Path) -> None:
        """Deletes a file, or a folder that contains only files, soon."""
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "deletion")
        self._thread.submit(_delete, path)


def _delete(path: Path) -> None:
    try:
        if path.is_dir():
            delete_folder(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        log.warning("cannot delete %s: %s; the next start tries it again", path, error)


def delete_folder(folder: Path) -> None:
    """Deletes a folder that contains only files. Raises OSError."""
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
