"""The limit of the memory of logs whose files have the same batches: beyond it, the oldest batches are served from mapped files.

The limit is that of --memory-limit. A cluster with a data directory may therefore be larger than memory. Appended batches are in memory
first; when the logs exceed the limit, batches are mapped in the order of their timestamps until an eighth of the limit is free. A mapped
file takes memory only as the page cache does, which the system takes back when it needs it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from heapq import heapify, heappop, heappush

from ...storage.directories.names import DamagedFile
from ...storage.memory import LogMemory
from ...storage.shadowed_log import ShadowedLog
from ..scheduling.waiting import NEXT_TURN, Background

log = logging.getLogger("kafka.log.LogManager")

FREED_PART = 8
"""The part of the limit that is free after each time the limit was exceeded."""
SLICE_PART = 64
"""The part of the limit that is mapped in one turn."""
MIN_BYTES = 1024 * 1024
"""At least so many bytes are mapped each time and in each turn, because each mapping replaces that of the same file."""


class LogCache:
    """The logs of a cluster that have batches in memory.

    `map_oldest` is called with a log and a number of bytes. It writes what is missing in the files of the log, and maps so many of its
    oldest bytes, none of a log without files. It raises OSError or DamagedFile.
    """

    def __init__(self, limit_bytes: int, memory: LogMemory, map_oldest: Callable[[ShadowedLog, int], None]) -> None:
        self._limit_bytes, self._memory, self._map_oldest = limit_bytes, memory, map_oldest
        self._logs: dict[ShadowedLog, None] = {}
        self._due_bytes = limit_bytes
        self._freed_bytes = max(limit_bytes // FREED_PART, MIN_BYTES)
        self._slice_bytes = max(limit_bytes // SLICE_PART, MIN_BYTES)
        self._is_shrinking = False

    def add(self, changed: ShadowedLog) -> None:
        """Notes a log that may have batches in memory."""
        self._logs[changed] = None

    @property
    def is_due(self) -> bool:
        """Whether `shrink` has work to do."""
        return self._memory.used_bytes > self._due_bytes and not self._is_shrinking

    def shrink(self) -> Background:
        """Maps the oldest batches, a part of them in each step, until memory is free.

        Bytes of snapshots stay in memory. If these take more than the limit, this is due again when the logs have grown.
        """
        self._is_shrinking = True
        try:
            yield from self._shrink_to(self._limit_bytes - self._freed_bytes)
        except (OSError, DamagedFile) as error:
            log.warning("records beyond --memory-limit stay in memory, because a file cannot be mapped: %s", error)
        finally:
            self._is_shrinking = False
            self._due_bytes = max(self._limit_bytes, self._memory.used_bytes + self._freed_bytes)

    def _shrink_to(self, size: int) -> Background:
        oldest = [(segment.max_timestamp, id(each), each) for each in self._logs if (segment := each.oldest_in_memory) is not None]
        heapify(oldest)
        self._logs = {each: None for _, _, each in oldest}
        while oldest and self._memory.used_bytes > size:
            changed = heappop(oldest)[2]
            before = changed.oldest_in_memory
            self._map_oldest(changed, self._slice_bytes)
            if (segment := changed.oldest_in_memory) is not None and segment is not before:
                heappush(oldest, (segment.max_timestamp, id(changed), changed))
            yield NEXT_TURN
