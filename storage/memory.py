"""Memory that is taken when it is written to, not before."""

from __future__ import annotations

import mmap

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
