"""The limit of the memory of all logs where a disk keeps them: Produce is refused before the disk is full.

Kafka's brokers notice a full disk when a write fails, take the directory offline and answer KAFKA_STORAGE_ERROR until they are restarted.
Here the same error is given before that, so that no write fails, coordinators can go on, and the cluster heals when there is room again.
"""

from __future__ import annotations

import logging
import os
from functools import partial
from pathlib import Path

from ...storage.memory import LogMemory

log = logging.getLogger("kafka.log.LogManager")

KEPT_FREE_BYTES = 16 * 1024 * 1024
"""The room that is left to coordinators, indexes and checkpoints."""
ASKED_BYTES = 16 * 1024 * 1024
"""After so many bytes the system is asked again how much room there is."""
UNLIMITED = 2**63 - 1


class DiskRoom(LogMemory):
    """The memory and the disk that the logs may take. `path` is on that disk; `limit_bytes` is that of --max-memory, None without one."""

    __slots__ = ("_is_full", "_left", "_path")

    def __init__(self, path: Path, limit_bytes: int | None) -> None:
        limit = UNLIMITED if limit_bytes is None else limit_bytes
        super().__init__(limit, partial(_report_memory, limit))
        self._path = path
        self._left = 0
        self._is_full = False

    def has_room(self, size: int) -> bool:
        """Returns whether `size` more bytes may be appended."""
        if self._left < size:
            free = self._free_bytes()
            self._left = min(free, ASKED_BYTES + size)
            self._report(free, size)
        if self._left < size or not super().has_room(size):
            return False
        self._left -= size
        return True

    def _free_bytes(self) -> int:
        try:
            disk = os.statvfs(self._path)
        except OSError:
            return 0
        return disk.f_bavail * disk.f_frsize - KEPT_FREE_BYTES

    def _report(self, free: int, size: int) -> None:
        if free < size and not self._is_full:
            log.error("the disk of %s is full: Produce is refused with KAFKA_STORAGE_ERROR until there is room", self._path)
        elif free >= size and self._is_full:
            log.info("the disk of %s has room again", self._path)
        self._is_full = free < size


def _report_memory(limit_bytes: int) -> None:
    log.error("the logs have reached the limit of %d bytes (--max-memory): Produce is refused until records are deleted", limit_bytes)
