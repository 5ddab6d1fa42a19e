"""Reads the batches of a range of offsets from the segment files of a partition, a part at a time.

The files are not mapped, because a reader then needs little memory, and survives that a broker truncates a file meanwhile. The index of a
segment leads to the first batch. An entry that does not fit to the segment is not used: a missing or damaged index costs time only.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from ...protocol.regular_files import open_to_read
from ..segments import EXTENT, HEADER_BYTES, PREFIX_BYTES
from . import names
from .index_files import read_index_entry
from .names import DamagedFile
from .old_messages import converted_segment
from .segment_files import BATCHES, SMALLEST_LENGTH

_HEAD = Struct(">qi4xb")  # offset, length, magic


class OffsetsNotStored(LookupError):
    """The files of a partition do not contain an offset, or no longer. `following` is where the next segment begins, None without one."""

    def __init__(self, folder: Path, offset: int) -> None:
        super().__init__(f"{folder} has no offset {offset}")
        self.following = min((base for base in names.offsets_in(folder, names.LOG) if base > offset), default=None)


class _Part(NamedTuple):
    """The whole batches at the start of some bytes: their size, and the offset after the last one, -1 if there are none.

    `following` is the number of bytes that are needed for the batch behind them.
    """

    size: int
    next_offset: int
    has_old_messages: bool
    following: int


def read_batches(folder: Path, start: int, end: int, part_bytes: int) -> Iterator[memoryview]:
    """Yields the batches with offsets from `start` to `end` (exclusive), in parts of at most `part_bytes` or one batch.

    Batches are whole, so that the first and the last part may have other offsets, too. Messages of the formats 0 and 1 are converted.
    Raises OffsetsNotStored if the log begins behind `start` or ends before `end`, DamagedFile for bytes that are no batch, and OSError.
    """
    bases = names.offsets_in(folder, names.LOG)
    if not bases or bases[0] > start:
        raise OffsetsNotStored(folder, start)
    next_offset = start
    for base in bases[bisect_right(bases, start) - 1 :]:
        if base >= end:
            return  # compaction may have removed the records before it
        segment = _SegmentFile(folder, base)
        for view, following in segment.parts(next_offset, end, part_bytes):
            yield view
            next_offset = following
    if next_offset < end:
        raise OffsetsNotStored(folder, next_offset)


class _SegmentFile:
    """The `.log` of a segment."""

    def __init__(self, folder: Path, base_offset: int) -> None:
        self._folder, self._base_offset = folder, base_offset
        self._path = folder / names.offset_name(base_offset, names.LOG)

    def parts(self, start: int, end: int, part_bytes: int) -> Iterator[tuple[memoryview, int]]:
        """Yields (batches, the offset after the last of them), until that is `end` or the file has no other whole batch."""
        try:
            file = open_to_read(self._path)
        except FileNotFoundError:  # a broker has deleted it meanwhile
            raise OffsetsNotStored(self._folder, start) from None
        with file:
            descriptor = file.fileno()
            left = os.fstat(descriptor).st_size
            position = self._first_position(descriptor, start)
            size = part_bytes
            while (size := min(size, left - position)) > 0:
                view = memoryview(os.pread(descriptor, size, position))
                part = self._whole_batches(view, position, end)
                if part.size:
                    yield self._converted(view[: part.size], position) if part.has_old_messages else view[: part.size], part.next_offset
                elif len(view) < size or position + size == left:
                    return  # the last batch is incomplete
                if part.next_offset >= end:
                    return
                position, size = position + part.size, max(part_bytes, part.following)

    def _first_position(self, descriptor: int, offset: int) -> int:
        """Returns the position of a batch that begins at or before an offset."""
        with suppress(OSError, DamagedFile):
            path = self._folder / names.offset_name(self._base_offset, names.INDEX)
            entry = read_index_entry(path, self._base_offset, offset)
            if entry is not None and _last_offset(os.pread(descriptor, EXTENT.size, entry.position)) == entry.last_offset:
                return entry.position
        return 0

    def _whole_batches(self, view: memoryview, at: int, end: int) -> _Part:
        """Returns the batches in a part of the file, up to the one that contains the last offset before `end`."""
        position, next_offset, has_old_messages = 0, -1, False
        while position + _HEAD.size <= len(view) and next_offset < end:
            _, length, magic = _HEAD.unpack_from(view, position)
            size = length + PREFIX_BYTES
            if length < SMALLEST_LENGTH or not 0 <= magic <= BATCHES or (magic == BATCHES and size < HEADER_BYTES):
                raise DamagedFile(self._path, f"at byte {at + position}: a batch of {size} bytes with magic {magic}")
            if position + size > len(view):
                return _Part(position, next_offset, has_old_messages, size)
            next_offset = _last_offset(view[position : position + EXTENT.size]) + 1
            has_old_messages |= magic != BATCHES
            position += size
        return _Part(position, next_offset, has_old_messages, _HEAD.size)

    def _converted(self, view: memoryview, at: int) -> memoryview:
        segment, damage = converted_segment(view, self._base_offset)
        if damage is not None:
            raise DamagedFile(self._path, f"at byte {at + damage.position}: {damage.reason}")
        return segment.view


def _last_offset(head: bytes | memoryview) -> int:
    """Returns the last offset of a batch or message, of which these are the first bytes; -1 for less than a batch can have."""
    if len(head) < _HEAD.size:
        return -1
    offset: int
    offset, _, magic = _HEAD.unpack_from(head)
    if magic != BATCHES:
        return offset
    return -1 if len(head) < EXTENT.size else offset + int(EXTENT.unpack_from(head)[2])
