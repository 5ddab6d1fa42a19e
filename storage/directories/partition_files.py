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
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ..segments import EXTENT, NO_TIMESTAMP, max_timestamp_of
from ..shadowed_log import ShadowedLog
from ..transaction_index import EndedTransaction
from . import names
from .index_files import read_transaction_index, transaction_index_bytes
from .names import replace_file, sync
from .open_files import OpenFiles
from .producer_snapshot import ProducerEntry, producer_snapshot_bytes
from .segment_files import map_file
from .segment_replacement import GrowingIndex, IndexBytes, SegmentReplacement
from .text_files import EpochStart, epochs_text, topic_id_text

KEPT_SNAPSHOTS = 2
MAX_PARTS = 512
"""The number of buffers in one system call, below the limit of the system (IOV_MAX)."""


class Recovered(NamedTuple):
    """The contents of a folder at a start: base offsets of the segments, of which there is one at least, and the size of the last one.

    `checkpointed_end` is the offset before which indexes and snapshots are complete.
    """

    bases: list[int]
    size: int
    start_offset: int
    end_offset: int
    checkpointed_end: int


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
        self._index = GrowingIndex(self.bases[-1] if self.bases else 0)
        self.compacted_before = 0
        """The offset before which the log has other batches than the files, 0 if it has none. `write_compacted` changes the files."""
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
        self._begin_segment(base_offset)

    def _begin_segment(self, base_offset: int) -> None:
        if self.bases:
            self._open_files.close(self._log_file(self.bases[-1]))
        descriptor = self._open_files.descriptor(self._log_file(base_offset))
        os.ftruncate(descriptor, 0)  # a former attempt may have failed
        if base_offset not in self.bases[-1:]:  # a truncation may have left an empty segment
            self.bases.append(base_offset)
        self.size, self.end_offset = 0, base_offset
        self._index = GrowingIndex(base_offset)

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

        The files must contain all batches of the log. Batches that compaction has changed stay in memory until the files have them.
        """
        oldest = log.oldest_in_memory
        if oldest is None:
            return
        position = bisect_right(self.bases, oldest.base_offset) - 1
        base, is_last = self.bases[position], position == len(self.bases) - 1
        if base < self.compacted_before:
            return
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
            self._write_last_again(log, offset)
            self._write_aborted([], offset)
        else:
            self.size = 0
        self.end_offset = offset
        self.compacted_before = min(self.compacted_before, offset)
        self.flushed_end = min(self.flushed_end, offset)
        self.checkpointed_end = min(self.checkpointed_end, offset)

    def delete_before(self, offset: int) -> None:
        """Deletes the segments that end at or before `offset`. Raises OSError."""
        while len(self.bases) > 1 and self.bases[1] <= offset:
            self._delete_segment(self.bases[0])
            del self.bases[0]
        self.start_offset = offset

    def note_compaction(self, offset: int, aborted: Sequence[EndedTransaction]) -> None:
        """Notes that the log has other batches before `offset` than the files, until `write_compacted` is complete. Raises OSError.

        If the last segment is one of those that change, another one is begun, because the last one is appended to.
        """
        self.compacted_before = max(self.compacted_before, offset)
        if self.bases and self.bases[-1] < offset:
            self._write_aborted(aborted, self.end_offset)
            self._delete_indexes(self.bases[-1])  # they lack entries, which cannot follow from the batches in memory any more
            self._begin_segment(self.end_offset)

    def write_compacted(self, log: ShadowedLog) -> Iterator[None]:
        """Replaces the segments that compaction has changed by the batches that the log now has, a slice in each step. Raises OSError.

        The order is that of the log: a record must not be gone before those that it has replaced. If the log is compacted or truncated
        meanwhile, the work begins again.
        """
        base = -1
        while (base := next((each for each in self.bases[:-1] if base < each < self.compacted_before), -1)) >= 0:
            end = self.bases[bisect_right(self.bases, base)]
            if end <= log.start_offset or not self._differs(base, end, log):
                continue
            replacement = SegmentReplacement(self._path(base, names.LOG), base)
            try:
                yield from replacement.write(log, end)
                if replacement.is_outdated(log):
                    base = -1
                else:
                    self._take(replacement, base)
            finally:
                replacement.discard()
        self.compacted_before = 0

    def _differs(self, base: int, end: int, log: ShadowedLog) -> bool:
        kept = log.available(max(base, log.start_offset), end)
        return base < log.start_offset or kept != self._path(base, names.LOG).stat().st_size

    def _take(self, replacement: SegmentReplacement, base: int) -> None:
        self._delete_indexes(base)
        self._open_files.close(self._log_file(base))
        self._open_files.delete(replacement.take_place())
        self._write_entries(base, replacement.index, "wb")

    def _write_last_again(self, log: ShadowedLog, end: int) -> None:
        """Replaces the last segment by the batches of the log that begin before the offset `end`."""
        base = self.bases[-1]
        start = max(base, log.start_offset)
        slices = log.read(start, sys.maxsize, end, at_least_one=False) if start < end else []
        self._delete_indexes(base)
        self._open_files.close(self._log_file(base))
        replace_file(self._path(base, names.LOG), *slices, synced=True)
        self.size, self._index = sum(map(len, slices)), GrowingIndex(base)
        self.first_timestamp = max_timestamp_of(slices[0]) if slices else NO_TIMESTAMP

    def delete(self) -> None:
        """Gives the folder a name that recovery ignores, as Kafka does with deleted partitions, and deletes it soon. Raises OSError."""
        for base in self.bases:
            self._open_files.close(self._log_file(base))
        doomed = self.folder.with_name(names.folder_set_aside(self.folder.name, self._topic_id, names.DELETED))
        with suppress(FileNotFoundError):  # it was deleted by hand
            self.folder.rename(doomed)
        self._open_files.delete(doomed)

    def _delete_segment(self, base: int) -> None:
        self._delete_indexes(base)
        self._open_files.close(self._log_file(base))
        doomed = self._path(base, names.LOG + names.DELETED_FILE)
        with suppress(FileNotFoundError):  # after an attempt that has failed in between
            self._path(base, names.LOG).rename(doomed)
        self._open_files.delete(doomed)
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
        index, end = self._index, self.end_offset
        start = max(index.end, log.start_offset)
        batches = log.indexed(start, end) if start < end else ()
        self._write_entries(index.base_offset, index.add(batches, self.size - log.position_of(end)), "ab" if index.written else "wb")
        index.end, index.written = end, True
        self._write_aborted(aborted, end)

    def _write_entries(self, base: int, entries: IndexBytes, mode: str) -> None:
        for suffix, content in zip((names.INDEX, names.TIME_INDEX), entries, strict=True):
            path = self._path(base, suffix)
            self._unsynced[path] = None
            with path.open(mode) as file:
                file.write(content)

    def _write_aborted(self, aborted: Sequence[EndedTransaction], end: int) -> None:
        """Adds the aborted transactions of the last segment to its index, and removes those that end behind the offset `end`.

        Transactions that compaction has removed from memory stay, because their records may still be in the file.
        """
        base = self.bases[-1]
        path = self._path(base, names.TRANSACTION_INDEX)
        stored = read_transaction_index(path) if path.exists() else []
        known = {each.last_offset: each for each in (*stored, *aborted) if base <= each.last_offset < end}
        if known or stored:
            self._replace(path, transaction_index_bytes(known[last_offset] for last_offset in sorted(known)))

    def _replace(self, path: Path, content: bytes) -> None:
        self._unsynced[path] = None
        replace_file(path, content)

    def _log_file(self, base: int) -> str:
        """Returns the path of a segment as a text, which is made faster than a Path."""
        return f"{self._folder_text}/{names.offset_name(base, names.LOG)}"

    def _path(self, offset: int, suffix: str) -> Path:
        return self.folder / names.offset_name(offset, suffix)


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
