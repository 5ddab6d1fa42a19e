"""The file that takes the place of a segment after compaction, and the indexes of a segment file that grows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ..segments import NO_TIMESTAMP, end_offset_of
from ..shadowed_log import IndexedBatch, ShadowedLog
from . import names
from .index_files import new_offset_index, new_time_index, offset_index_bytes, time_index_bytes

SLICE_BYTES = 1 << 20
"""The bytes that are written in one step, which are on the disk at its end, so that no step waits for those of the others."""


class IndexBytes(NamedTuple):
    """Entries of the indexes of offsets and timestamps, as they are in the files."""

    offsets: bytes
    times: bytes


class GrowingIndex:
    """The indexes of one segment file. Entries are complete for the batches before `end`."""

    def __init__(self, base_offset: int) -> None:
        self.base_offset = self.end = base_offset
        self.written = False
        self._last_offset, self._last_time = base_offset, NO_TIMESTAMP
        self._last_position = 0
        self._newest = NO_TIMESTAMP

    def add(self, batches: Iterable[IndexedBatch], to_file: int) -> IndexBytes:
        """Returns the entries of further batches. `to_file` added to the position of a batch in the log is its position in the file."""
        offsets, times = new_offset_index(), new_time_index()
        for offset, log_position, newest, is_newest in batches:
            position = log_position + to_file
            if position <= self._last_position or offset <= self._last_offset:
                self._newest = max(self._newest, newest)
                continue
            before = self._newest
            self._newest = max(before, newest)
            if self._newest > self._last_time:
                times.timestamps.append(self._newest)
                times.offsets.append(offset if is_newest and newest > before else self._last_offset + 1)
                self._last_time = self._newest
            offsets.offsets.append(offset)
            offsets.positions.append(position)
            self._last_offset, self._last_position = offset, position
        return IndexBytes(offset_index_bytes(offsets, self.base_offset), time_index_bytes(times, self.base_offset))


class SegmentReplacement:
    """The file that takes the place of the segment at `path`. `index` has the entries of its batches when `write` is complete."""

    def __init__(self, path: Path, base_offset: int) -> None:
        self._path, self._temporary = path, path.with_name(path.name + names.CLEANED)
        self._entries = GrowingIndex(base_offset)
        self._parts: list[IndexBytes] = []
        self._revision = -1
        self._file = self._temporary.open("wb")

    def write(self, log: ShadowedLog, end: int) -> Iterator[None]:
        """Writes the batches of a log before the offset `end`, SLICE_BYTES in each step. Ends early if they change. Raises OSError."""
        self._revision, size = log.revision, 0
        start = max(self._entries.base_offset, log.start_offset)
        while not self.is_outdated(log) and (slices := log.read(start, SLICE_BYTES, end, at_least_one=True)):
            following = end_offset_of(slices[-1])
            self._parts.append(self._entries.add(log.indexed(start, following), size - log.position_of(start)))
            self._file.writelines(slices)
            self._file.flush()
            os.fdatasync(self._file.fileno())
            start, size = following, size + sum(map(len, slices))
            yield

    def is_outdated(self, log: ShadowedLog) -> bool:
        """Whether the log has other batches than when `write` has begun, except for appended ones."""
        return log.revision != self._revision

    @property
    def index(self) -> IndexBytes:
        """The entries of the batches that were written."""
        return IndexBytes(*(b"".join(parts) for parts in zip(*self._parts, strict=True))) if self._parts else IndexBytes(b"", b"")

    def take_place(self) -> Path:
        """Replaces the segment. Returns the name that the former file has now, to be deleted. Raises OSError, and replaces nothing then.

        Without that name, its bytes would be released here, which takes long.
        """
        former = self._path.with_name(self._path.name + names.DELETED_FILE)
        with suppress(OSError):  # not every file system has links
            os.link(self._path, former)
        try:
            self._temporary.replace(self._path)
        except OSError:
            former.unlink(missing_ok=True)
            raise
        return former

    def discard(self) -> None:
        """Closes the file, and deletes it if it has not taken the place of the segment."""
        self._file.close()
        with suppress(OSError):
            self._temporary.unlink()
