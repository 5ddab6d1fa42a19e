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


class DiskRoom(LogMemory):
    """The memory and the disk that the logs may take. `path` is on that disk.

    `limit_bytes` is that of --max-memory, and `cache_bytes` that of --memory-limit, beyond which records are served from the files
    (`log_cache.py`); each is None without one.
    """

    __slots__ = ("_is_full", "_left", "_path", "cache_bytes")

    def __init__(self, path: Path, limit_bytes: int | None, cache_bytes: int | None = None) -> None:
        super().__init__(limit_bytes, partial(_report_memory, limit_bytes))
        self.cache_bytes = cache_bytes
        self._path = path
        self._left = 0
        self._is_full = False

    def has_room(self, size: int) -> bool:
        """Returns whether `size` more bytes may be appended."""
        if self._left < size:
            free = self._free_bytes()
            self._left = min(free, ASKED_BYTES + size)
            self._report(free, size)
        if self._left < size or (self.limit_bytes is not None and not super().has_room(size)):
            return False
        self._left -= size
        return True

    @property
    def kept_limit_bytes(self) -> int | None:
        """The smaller of both limits of memory."""
        return min((limit for limit in (self.limit_bytes, self.cache_bytes) if limit is not None), default=None)

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


def _report_memory(limit_bytes: int | None) -> None:
    log.error("the logs have reached the limit of %d bytes (--max-memory): Produce is refused until records are deleted", limit_bytes)
