"""Splits the bytes of one direction into frames, with the times of their first and last bytes.

If bytes are missing, or if the capture began in the middle of a connection, the next segment that may begin with a frame is looked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ....protocol.frame import LENGTH
from ..exchange import HEAD_BYTES, Frame

ENDLESS = 1 << 31
"""Stands for the size of a frame whose length is negative, which no broker reads."""
MAX_KEPT_BYTES = 128 * 1024 * 1024
"""A larger frame is kept up to HEAD_BYTES. Kafka's own limit is 100 MiB by default."""


class TimedFrame(NamedTuple):
    """A frame, the times of its first and last bytes, and the comments on its last packet."""

    frame: Frame
    began_ns: int
    ended_ns: int
    comments: tuple[str, ...]


class Framing:
    """The frames of a direction. `may_begin` returns whether bytes look like the beginning of one, without its length, and their size."""

    def __init__(self, may_begin: Callable[[bytes, int], bool]) -> None:
        self._may_begin = may_begin
        self._data = bytearray()
        self._size: int | None = None
        self._left = 0
        self._began_ns = 0
        self._comments: tuple[str, ...] = ()
        self._lost = True
        """Whether the position of the next frame is not known."""

    @property
    def held_bytes(self) -> int:
        """The bytes of the frame that is not complete."""
        return len(self._data)

    def begin(self) -> None:
        """Called if the next byte is the first one of the connection."""
        self._lost = False

    def lose(self) -> None:
        """Forgets the incomplete frame, because bytes are missing."""
        self._data.clear()
        self._size, self._lost = None, True

    @property
    def incomplete(self) -> Frame | None:
        """The frame whose first bytes have come, None if not even its length is known."""
        return None if self._size is None else Frame(bytes(self._data[LENGTH.size :]), self._size)

    def add(self, data: bytes, time_ns: int, comments: tuple[str, ...]) -> list[TimedFrame]:
        """Returns the frames that are complete with these bytes. Comments belong to the last frame of their packet."""
        if self._lost and not self._finds_frame(data):
            return []
        self._comments += comments
        frames = []
        view = memoryview(data)
        while view:
            if not self._data:
                self._began_ns = time_ns
            view = view[self._take(view) :]
            if self._size is not None and not self._left:
                frames.append(self._complete(self._size, time_ns))
        if frames:
            frames[-1] = frames[-1]._replace(comments=self._comments)
            self._comments = ()
        return frames

    def _finds_frame(self, data: bytes) -> bool:
        size = int.from_bytes(data[: LENGTH.size], "big", signed=True)
        self._lost = len(data) < LENGTH.size or not self._may_begin(data[LENGTH.size :], size)
        return not self._lost

    def _take(self, view: memoryview) -> int:
        """Adds bytes to the length or to the frame, and returns their number."""
        if self._size is None:
            taken = min(LENGTH.size - len(self._data), len(view))
            self._data += view[:taken]
            if len(self._data) == LENGTH.size:
                (size,) = LENGTH.unpack(self._data)
                self._size = self._left = size if size >= 0 else ENDLESS
            return taken
        taken = min(self._left, len(view))
        limit = self._size if self._size <= MAX_KEPT_BYTES else HEAD_BYTES
        self._data += view[: max(min(taken, LENGTH.size + limit - len(self._data)), 0)]
        self._left -= taken
        return taken

    def _complete(self, size: int, time_ns: int) -> TimedFrame:
        frame = Frame(bytes(self._data[LENGTH.size :]), size)
        self._data.clear()
        self._size = None
        return TimedFrame(frame, self._began_ns, time_ns, ())
