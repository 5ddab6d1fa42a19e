"""Memory that is taken when it is written to, not before."""

from __future__ import annotations

import mmap
from collections.abc import Callable

_ANONYMOUS = getattr(mmap, "MAP_PRIVATE", 0) | getattr(mmap, "MAP_ANONYMOUS", 0)


def untouched(size: int) -> memoryview:
    """`size` writable bytes that cost nothing until they are written. Raises MemoryError.

    A bytearray is zeroed by hand, which makes the system provide every page: twice the work for bytes that are about to be
    received, and real memory for a length that a peer merely claims. Private, as shared anonymous memory is slower to touch.
    """
    if _ANONYMOUS:
        try:
            return memoryview(mmap.mmap(-1, size, flags=_ANONYMOUS))
        except OSError as error:
            raise MemoryError(f"cannot map {size} bytes: {error.strerror}") from error
    return memoryview(bytearray(size))


class LogMemory:
    """The memory that all logs of a cluster may take together. Bytes count as long as the memory that they lie in is kept.

    `on_full` is called when an append is refused for the first time since memory was last freed.
    """

    __slots__ = ("_is_told", "_on_full", "limit_bytes", "used_bytes")

    def __init__(self, limit_bytes: int, on_full: Callable[[], None]) -> None:
        self.limit_bytes = limit_bytes
        self.used_bytes = 0
        self._on_full = on_full
        self._is_told = False

    def has_room(self, size: int) -> bool:
        """Whether `size` more bytes may be appended."""
        if self.used_bytes + size <= self.limit_bytes:
            return True
        if not self._is_told:
            self._is_told = True
            self._on_full()
        return False

    def free(self, size: int) -> None:
        """Takes note that `size` bytes are no longer kept."""
        self.used_bytes -= size
        self._is_told = False
