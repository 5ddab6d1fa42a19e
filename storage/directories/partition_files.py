"""The files of a partition that follow a log in memory: batches are appended, segments rolled, deleted and written again.

The caller appends at the end of each turn and calls `checkpoint` from time to time, which completes the indexes and writes the producers;
everything before `checkpointed_end` need not be read after a crash. Each method may be repeated after an OSError, and a crash within it
leaves files that Kafka's recovery accepts: contents are replaced by renaming, and an index is deleted before the batches that it describes
change.
"""

from __future__ import annotations

import os
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ..segments import EXTENT, NO_TIMESTAMP, max_timestamp_of
from ..shadowed_log import IndexedBatch, ShadowedLog
from ..transaction_index import EndedTransaction
from . import names
from .index_files import (
    OffsetIndex,
    TimeIndex,
    new_offset_index,
    new_time_index,
    offset_index_bytes,
    time_index_bytes,
    transaction_index_bytes,
)
from .names import replace_file, sync
from .producer_snapshot import ProducerEntry, producer_snapshot_bytes
from .segment_files import map_file
from .text_files import EpochStart, epochs_text, topic_id_text

KEPT_SNAPSHOTS = 2
MAX_PARTS = 512
"""The number of buffers in one system call, below the limit of the system (IOV_MAX)."""


class OpenFiles:
    """The descriptors of the segments that are appended to. At most `limit` are open, because a process has a limit of its own."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open: dict[str, int] = {}

    def descriptor(self, path: str) -> int:
        """Returns the descriptor of a segment. Raises OSError."""
        descriptor = self._open.pop(path, None)
        if descriptor is None:
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._open[path] = descriptor
        if len(self._open) > self._limit:
            self.close(next(iter(self._open)))
        return descriptor

    def close(self, path: str) -> None:
        """Closes a segment if it is open."""
        descriptor = self._open.pop(path, None)
        if descriptor is not None:
            os.close(descriptor)

    def close_all(self) -> None:
        """Closes all segments."""
        for path in list(self._open):
            self.close(path)


class Recovered(NamedTuple):
    """The contents of a folder at a start: base offsets of the segments, of which there is one at least, and the size of the last one.

    `checkpointed_end` is the offset before which indexes and snapshots are complete.
    """

    bases: list[int]
    size: int
    start_offset: int
    end_offset: int
    checkpointed_end: int


class _GrowingIndex:
    """The indexes of one segment file. Entries are complete for the batches before `end`."""

    def __init__(self, base_offset: int) -> None:
        self.base_offset = self.end = base_offset
        self.written = False
        self._last_offset, self._last_time = base_offset, NO_TIMESTAMP
        self._last_position = 0
        self._newest = NO_TIMESTAMP

    def add(self, batches: Iterable[IndexedBatch], to_file: int) -> tuple[OffsetIndex, TimeIndex]:
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
        return offsets, times


class PartitionFiles:
    """The folder of one partition. `bases` are the base offsets of its segments; the last one is appended to."""

    def __init__(self, folder: Path, topic_id: bytes, open_files: OpenFiles, found: Recovered | None = None) -> None:
        self.folder, self._folder_text = folder, str(folder)
        self._topic_id, self._open_files = topic_id, open_files
        self.bases = [] if found is None else found.bases
        self.size = 0 if found is None else found.size
        """The size of the last segment in bytes."""
        self.end_offset = 0 if found is None else found.end_offset
        """The end of the batches in the files."""
        self.checkpointed_end = 0 if found is None else found.checkpointed_end
        """The offset before which nothing has to be read after a crash."""
        self.start_offset = 0 if found is None else found.start_offset
        self.flushed_end = self.end_offset
        """The end of the batches that `flush` has waited for."""
        self._flushed_base = -1 if found is None else self.bases[-1]
        self.first_timestamp = NO_TIMESTAMP
        self._index = _GrowingIndex(self.bases[-1] if self.bases else 0)
        self._unsynced: dict[Path, None] = {}
        """The files other than segments that may not be on the disk yet."""

    # Appending

    def create(self) -> None:
        """Creates the folder. Raises OSError."""
        self.folder.mkdir(names.ONLY_OWNER, parents=True, exist_ok=True)
        self._replace(self.folder / names.PARTITION_METADATA, topic_id_text(self._topic_id).encode())

    def append(self, slices: Sequence[memoryview], end_offset: int) -> None:
        """Appends batches that end at `end_offset`. Raises OSError, and appends nothing then."""
        descriptor = self._open_files.descriptor(self._log_file(self.bases[-1]))
        try:
            written = _write_all(descriptor, slices)
        except OSError:
            with suppress(OSError):
                os.ftruncate(descriptor, self.size)
            raise
        if not self.size:
            self.first_timestamp = max_timestamp_of(slices[0])
        self.size += written
        self.end_offset = end_offset

    def tear(self, slices: Sequence[memoryview], size: int) -> None:
        """Appends the first `size` bytes of batches, as a process leaves them that ends within the write. Raises OSError.

        The files take no more batches afterwards.
        """
        _write_all(self._open_files.descriptor(self._log_file(self.bases[-1])), [memoryview(b"".join(slices))[:size]])

    def roll(self, base_offset: int, log: ShadowedLog, aborted: Sequence[EndedTransaction]) -> None:
        """Begins a segment, after the indexes of the one before have been completed. Raises OSError."""
        if self.bases:
            self._extend_index(log, aborted)
            self._open_files.close(self._log_file(self.bases[-1]))
        descriptor = self._open_files.descriptor(self._log_file(base_offset))
        os.ftruncate(descriptor, 0)  # a former attempt may have failed
        if base_offset not in self.bases[-1:]:  # a truncation may have left an empty segment
            self.bases.append(base_offset)
        self.size, self.end_offset = 0, base_offset
        self._index = _GrowingIndex(base_offset)

    def flush(self) -> None:
        """Waits until the batches are on the disk, with the segments that were begun since. Raises OSError."""
        for base in self.bases[bisect_left(self.bases, self._flushed_base) :]:
            os.fdatasync(self._open_files.descriptor(self._log_file(base)))
        if self.bases and self.bases[-1] != self._flushed_base:
            sync(self.folder)
            sync(self.folder.parent)
            self._flushed_base = self.bases[-1]
        self.flushed_end = self.end_offset

    def flush_all(self) -> None:
        """Waits until all files of the folder are on the disk. Raises OSError."""
        self.flush()
        for path in self._unsynced:
            with suppress(FileNotFoundError):
                sync(path)
        sync(self.folder)
        sync(self.folder.parent)
        self._unsynced.clear()

    # Serving

    def map_oldest(self, log: ShadowedLog, size: int) -> None:
        """Lets a log serve about `size` bytes of its oldest batches in memory from the file that has them. Raises OSError, DamagedFile.

        The files must contain all batches of the log.
        """
        oldest = log.oldest_in_memory
        if oldest is None:
            return
        position = bisect_right(self.bases, oldest.base_offset) - 1
        base, is_last = self.bases[position], position == len(self.bases) - 1
        view = map_file(self._path(base, names.LOG))
        if is_last:
            log.map_batches(view[: self.size], base, self.end_offset, size)
        else:
            log.map_batches(view, base, self.bases[position + 1], size)

    # Removing and replacing

    def truncate_to(self, offset: int, log: ShadowedLog) -> None:
        """Removes the batches from `offset` on. Raises OSError."""
        for end in names.offsets_in(self.folder, names.PRODUCERS):
            if end > offset:
                self._path(end, names.PRODUCERS).unlink()
        while self.bases and (self.bases[-1] > offset or (self.bases[-1] == offset and len(self.bases) > 1)):
            self._delete_segment(self.bases[-1])
            self.bases.pop()
        if self.bases:
            self._write_again(len(self.bases) - 1, log, offset)
        else:
            self.size = 0
        self.end_offset = offset
        self.flushed_end = min(self.flushed_end, offset)
        self.checkpointed_end = min(self.checkpointed_end, offset)

    def delete_before(self, offset: int) -> None:
        """Deletes the segments that end at or before `offset`. Raises OSError."""
        while len(self.bases) > 1 and self.bases[1] <= offset:
            self._delete_segment(self.bases[0])
            del self.bases[0]
        self.start_offset = offset

    def write_again_before(self, offset: int, log: ShadowedLog) -> None:
        """Replaces the segments that begin before `offset` by the batches that the log now has, if these are others. Raises OSError."""
        for position, base in reversed(list(enumerate(self.bases))):
            end = self.bases[position + 1] if position + 1 < len(self.bases) else self.end_offset
            if base < offset and end > log.start_offset and self._differs(position, end, log):
                self._write_again(position, log, end)

    def _differs(self, position: int, end: int, log: ShadowedLog) -> bool:
        base = self.bases[position]
        kept = log.available(max(base, log.start_offset), end)
        return base < log.start_offset or kept != self._path(base, names.LOG).stat().st_size

    def _write_again(self, position: int, log: ShadowedLog, end: int) -> None:
        """Replaces a segment by the batches of the log that begin before the offset `end`."""
        base = self.bases[position]
        start = max(base, log.start_offset)
        slices = log.read(start, sys.maxsize, end, at_least_one=False) if start < end else []
        self._delete_indexes(base)
        self._open_files.close(self._log_file(base))
        replace_file(self._path(base, names.LOG), *slices, synced=True)
        size = sum(map(len, slices))
        index = _GrowingIndex(base)
        if position == len(self.bases) - 1:
            self.size, self._index = size, index
            self.first_timestamp = max_timestamp_of(slices[0]) if slices else NO_TIMESTAMP
        else:
            self._write_index(index, log, end, size)

    def delete(self) -> None:
        """Deletes the folder, after it got a name that recovery ignores, as Kafka's of deleted partitions. Raises OSError."""
        for base in self.bases:
            self._open_files.close(self._log_file(base))
        doomed = self.folder.with_name(names.folder_set_aside(self.folder.name, self._topic_id, names.DELETED))
        with suppress(FileNotFoundError):  # after an attempt that has failed in between
            self.folder.rename(doomed)
        delete_folder(doomed)

    def _delete_segment(self, base: int) -> None:
        self._delete_indexes(base)
        self._open_files.close(self._log_file(base))
        self._path(base, names.LOG).unlink(missing_ok=True)
        self._path(base, names.TRANSACTION_INDEX).unlink(missing_ok=True)

    def _delete_indexes(self, base: int) -> None:
        for suffix in (names.INDEX, names.TIME_INDEX):
            self._path(base, suffix).unlink(missing_ok=True)

    # Checkpoints

    def checkpoint(
        self, log: ShadowedLog, producers: Iterable[ProducerEntry], aborted: Sequence[EndedTransaction], epochs: Iterable[EpochStart]
    ) -> None:
        """Completes the indexes and writes producers, transactions and leader epochs. Raises OSError."""
        if not self.bases:
            return
        self._extend_index(log, aborted)
        self._replace(self._path(self.end_offset, names.PRODUCERS), producer_snapshot_bytes(producers))
        self._replace(self.folder / names.EPOCHS, epochs_text(epochs).encode())
        for end in names.offsets_in(self.folder, names.PRODUCERS)[:-KEPT_SNAPSHOTS]:
            self._path(end, names.PRODUCERS).unlink(missing_ok=True)
        self.checkpointed_end = self.end_offset

    def _extend_index(self, log: ShadowedLog, aborted: Sequence[EndedTransaction]) -> None:
        self._write_index(self._index, log, self.end_offset, self.size)
        base = self.bases[-1]
        own = [each for each in aborted if base <= each.last_offset < self.end_offset]
        if own:
            self._replace(self._path(base, names.TRANSACTION_INDEX), transaction_index_bytes(own))

    def _write_index(self, index: _GrowingIndex, log: ShadowedLog, end: int, size: int) -> None:
        """Appends the entries of the batches before the offset `end` to the indexes of a segment file of `size` bytes."""
        start = max(index.end, log.start_offset)
        batches = log.indexed(start, end) if start < end else ()
        offsets, times = index.add(batches, size - log.position_of(end))
        base = index.base_offset
        mode = "ab" if index.written else "wb"
        for suffix, content in ((names.INDEX, offset_index_bytes(offsets, base)), (names.TIME_INDEX, time_index_bytes(times, base))):
            path = self._path(base, suffix)
            self._unsynced[path] = None
            with path.open(mode) as file:
                file.write(content)
        index.end, index.written = end, True

    def _replace(self, path: Path, content: bytes) -> None:
        self._unsynced[path] = None
        replace_file(path, content)

    def _log_file(self, base: int) -> str:
        """Returns the path of a segment as a text, which is made faster than a Path."""
        return f"{self._folder_text}/{names.offset_name(base, names.LOG)}"

    def _path(self, offset: int, suffix: str) -> Path:
        return self.folder / names.offset_name(offset, suffix)


def delete_folder(folder: Path) -> None:
    """Deletes a folder that contains only files. Raises OSError."""
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()


def base_offset_of(batches: memoryview) -> int:
    """Returns the base offset of the first of several batches."""
    offset: int = EXTENT.unpack_from(batches)[0]
    return offset


def _write_all(descriptor: int, slices: Sequence[memoryview]) -> int:
    """Writes all slices and returns their size. Raises OSError, also after a part of them."""
    size = sum(map(len, slices))
    written = total = os.writev(descriptor, slices[:MAX_PARTS])
    while total < size:
        slices = _behind(slices, written)
        written = os.writev(descriptor, slices[:MAX_PARTS])
        total += written
    return size


def _behind(slices: Sequence[memoryview], position: int) -> list[memoryview]:
    """Returns what follows a position in slices, in bytes; there is something."""
    number = 0
    while position >= len(slices[number]):
        position -= len(slices[number])
        number += 1
    return [slices[number][position:], *slices[number + 1 :]]
