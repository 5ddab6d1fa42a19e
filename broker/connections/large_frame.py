"""A frame that is received into a memory block of its own, which the log may keep without a copy.

The pages of the block are provided as the bytes arrive (`storage/blocks.py`), so that a client which only announces a large frame costs
little memory.
"""

from __future__ import annotations

from ...storage.blocks import TOUCH_BYTES, Blocks, touch
from ..cluster.limits import RequestMemory

LARGE_FRAME_BYTES = 128 * 1024
MAX_TOUCHED_BYTES = 1024 * 1024


def begin_large_frame(begun: memoryview, size: int, step_bytes: int, memory: RequestMemory, blocks: Blocks) -> LargeFrame:
    """Returns a frame of `size` bytes, which `memory` has granted. If there is no block, gives them back and raises MemoryError."""
    try:
        frame = blocks.take(size)
    except MemoryError:
        memory.release(size)
        raise
    return LargeFrame(frame, begun, memory, blocks, step_bytes)


class LargeFrame:
    """A frame whose first bytes, `begun`, are known. `step_bytes` is how many bytes are provided at least for the next read."""

    __slots__ = ("_blocks", "_filled", "_memory", "_touched", "frame", "step_bytes")

    def __init__(self, frame: memoryview, begun: memoryview, memory: RequestMemory, blocks: Blocks, step_bytes: int = TOUCH_BYTES) -> None:
        self.frame = frame
        self._memory, self._blocks = memory, blocks
        self._filled = len(begun)
        frame[: self._filled] = begun
        self.step_bytes = step_bytes
        self._touch()

    @property
    def buffer(self) -> memoryview:
        """The memory for the next bytes."""
        return self.frame[self._filled : self._touched]

    def received(self, n: int) -> bool:
        """Counts `n` more bytes in `buffer`. Returns whether the frame is complete."""
        self._filled += n
        if self._filled == len(self.frame):
            return True
        if self._filled == self._touched:
            self._touch()
        return False

    def _touch(self) -> None:
        """Provides the pages for the next bytes: at most as many as the client has sent, or TOUCH_BYTES."""
        self.step_bytes = min(max(self.step_bytes, self._filled), MAX_TOUCHED_BYTES)
        self._touched = touch(self.frame, min(self._filled + self.step_bytes, len(self.frame)))

    def release(self) -> None:
        """Releases the memory of the request. The log may still use the block."""
        self._memory.release(len(self.frame))
        self._blocks.give_back([self.frame.obj])
