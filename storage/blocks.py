"""Blocks of memory for record batches and for large requests, and their reuse.

The first write to a page of new memory takes longer than all other work on its bytes, because the system has to provide the page. Two
measures reduce this time:

* `touch` asks for many pages in one call, which takes little more than half of the time of one page fault for each page.
* `Blocks` keeps blocks that were given back, within limits, and hands them out again with the pages that they have.

A block serves again only if no view of it exists. The check is that `mmap.resize` succeeds, because it refuses to move memory that a
memoryview or a system call still uses. Therefore a block may be given back while its bytes are still being sent: if they have not been sent
when the block is wanted, it is forgotten, and freed together with its last view.

A block that serves again contains bytes of other requests and topics. Its users must hand out only the bytes that they have written.
"""

from __future__ import annotations

import mmap
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from typing import Any, cast

from .memory import LogMemory

KEPT_BYTES = 64 * 1024 * 1024
TOUCH_BYTES = 256 * 1024
FREED_BYTES = 4 * 1024 * 1024
"""Bytes whose pages the system takes back in about two milliseconds."""

_PRIVATE = getattr(mmap, "MAP_PRIVATE", 0) | getattr(mmap, "MAP_ANONYMOUS", 0)
_POPULATE_WRITE = 23  # MADV_POPULATE_WRITE of Linux 5.14, which Python's mmap does not name
_CLASSES_PER_DOUBLING = 8


class Block(mmap.mmap):
    """Anonymous memory whose first `touched` bytes have pages. `is_kept` says whether a `Blocks` keeps it."""

    __slots__ = ("is_kept", "touched")
    touched: int
    is_kept: bool

    @property
    def is_unused(self) -> bool:
        """Whether there is no view of it. False on systems that cannot tell."""
        try:
            self.resize(len(self))
        except (AttributeError, BufferError, OSError, SystemError, ValueError):
            return False
        return True


class Blocks:
    """The blocks of a cluster: hands them out, and keeps at most `kept_bytes` of those that were given back.

    With a `LogMemory`, the kept blocks and the logs together stay within its limit. `on_kept` is called whenever a block is kept.
    `in_background` gets the work of freeing a large block, which takes long and is done step by step; without it, blocks are freed at once.
    """

    def __init__(
        self,
        limit_bytes: int,
        memory: LogMemory | None = None,
        on_kept: Callable[[], None] = lambda: None,
        in_background: Callable[[Generator[Any, None, None]], None] | None = None,
    ) -> None:
        self._in_background = in_background
        self.kept_bytes = 0
        self._limit_bytes = limit_bytes
        self._memory = memory
        self._on_kept = on_kept
        self._kept: dict[int, list[Block]] = {}  # by length; the length that was given back last is the last key

    def take(self, size: int) -> memoryview:
        """Returns `size` writable bytes with any contents, at the start of a block. Raises MemoryError."""
        length = _length_for(size)
        while length in self._kept:
            block = self._remove(length)
            if block.is_unused:
                return memoryview(block)[:size]
        if self._memory is not None:
            self._shrink_to(self._allowed_bytes() - length)
        return memoryview(_new_block(length))[:size]

    def give_back(self, memory: Iterable[object]) -> None:
        """Keeps those blocks that are not needed any more, if there is room. Objects that are not blocks are ignored.

        `memory` contains what the attribute `obj` of views returns. Others may still use the blocks.
        """
        for block in memory:
            if isinstance(block, Block) and not block.is_kept:
                if len(block) <= self._allowed_bytes():
                    self._shrink_to(self._allowed_bytes() - len(block))
                    self._add(block)
                else:
                    self._free(block)

    def clear(self) -> None:
        """Frees all blocks that are kept."""
        self._shrink_to(0)

    def _allowed_bytes(self) -> int:
        if self._memory is None or self._memory.kept_limit_bytes is None:
            return self._limit_bytes
        return min(self._limit_bytes, self._memory.kept_limit_bytes - self._memory.used_bytes)

    def _add(self, block: Block) -> None:
        block.is_kept = True
        length = len(block)
        blocks = self._kept.pop(length, [])
        blocks.append(block)
        self._kept[length] = blocks
        self.kept_bytes += length
        self._on_kept()

    def _remove(self, length: int) -> Block:
        """Returns the block of this length that was kept last, and keeps it no longer. Raises KeyError if there is none."""
        blocks = self._kept[length]
        block = blocks.pop()
        if not blocks:
            del self._kept[length]
        block.is_kept = False
        self.kept_bytes -= length
        return block

    def _shrink_to(self, size: int) -> None:
        """Frees blocks of the length that was given back the longest time ago, until at most `size` bytes are kept."""
        while self._kept and self.kept_bytes > size:
            self._free(self._remove(next(iter(self._kept))))

    def _free(self, block: Block) -> None:
        if self._in_background is not None and block.touched > FREED_BYTES:
            self._in_background(_free_in_steps(block))


def _free_in_steps(block: Block) -> Generator[None, None, None]:
    """Gives the pages of a block back, FREED_BYTES in each step, unless it is still used after the first step."""
    yield
    if block.is_unused:
        for first in range(0, block.touched, FREED_BYTES):
            block.madvise(mmap.MADV_DONTNEED, first, min(FREED_BYTES, len(block) - first))
            yield


def touch(view: memoryview, end: int) -> int:
    """Provides the pages of the bytes before `end`, and returns the position up to which there are pages: `end` or later.

    `view` is a result of `Blocks.take`. Does nothing if the block has the pages already.
    """
    block = cast(Block, view.obj)
    if block.touched < end:
        first = block.touched // mmap.PAGESIZE * mmap.PAGESIZE
        block.touched = min(-(-end // mmap.PAGESIZE) * mmap.PAGESIZE, len(block))
        if sys.platform == "linux":
            with suppress(OSError):  # an older kernel, or a limit of memory: the pages are provided one by one when they are written
                block.madvise(_POPULATE_WRITE, first, block.touched - first)
    return min(block.touched, len(view))


def _length_for(size: int) -> int:
    """Returns the length of a block for `size` bytes: one of eight lengths between a power of two and the next."""
    step = max((1 << (size - 1).bit_length()) // (2 * _CLASSES_PER_DOUBLING), mmap.PAGESIZE)
    return -(-size // step) * step


def _new_block(length: int) -> Block:
    """Returns memory whose pages the system provides when they are first written. Raises MemoryError.

    A bytearray would be filled with zeros, which touches every page, even if a peer sends only the length of a frame. The mapping is
    private, because shared anonymous memory is slower to touch.
    """
    try:
        block = Block(-1, length, flags=_PRIVATE) if _PRIVATE else Block(-1, length)
    except OSError as error:
        raise MemoryError(f"cannot map {length} bytes: {error.strerror}") from error
    block.touched, block.is_kept = 0, False
    return block


KEEPS_NOTHING = Blocks(0)
"""For logs outside a cluster, which share no memory."""
