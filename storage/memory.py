"""The limit of the memory of all logs of a cluster."""

from __future__ import annotations

from collections.abc import Callable


class LogMemory:
    """The memory that all logs of a cluster and their snapshots take together. Bytes count until no segment contains them any more.

    With `limit_bytes`, appends are refused beyond it. `on_full` is called when an append is refused for the first time since memory was
    last freed.
    """

    __slots__ = ("_is_reported", "_on_full", "limit_bytes", "used_bytes")

    def __init__(self, limit_bytes: int | None, on_full: Callable[[], None]) -> None:
        self.limit_bytes = limit_bytes
        self.used_bytes = 0
        self._on_full = on_full
        self._is_reported = False

    def has_room(self, size: int) -> bool:
        """Returns whether `size` more bytes may be appended."""
        if self.limit_bytes is None or self.used_bytes + size <= self.limit_bytes:
            return True
        if not self._is_reported:
            self._is_reported = True
            self._on_full()
        return False

    @property
    def kept_limit_bytes(self) -> int | None:
        """The limit of the logs together with the blocks that are kept for reuse, None if there is none."""
        return self.limit_bytes

    @property
    def is_full(self) -> bool:
        """Whether the limit is reached."""
        return self.limit_bytes is not None and self.used_bytes >= self.limit_bytes

    def free(self, size: int) -> None:
        """Subtracts `size` bytes that are no longer kept."""
        self.used_bytes -= size
        self._is_reported = False


class KeptBytes:
    """The bytes of one segment. A log and its snapshots may share it; when the last of them drops it, `memory` is told."""

    __slots__ = ("_memory", "_size")

    def __init__(self, memory: LogMemory, size: int = 0) -> None:
        self._memory = memory
        self._size = 0
        self.add(size)

    def add(self, size: int) -> None:
        """Counts `size` more bytes."""
        self._size += size
        self._memory.used_bytes += size

    def __del__(self) -> None:
        self._memory.free(self._size)
