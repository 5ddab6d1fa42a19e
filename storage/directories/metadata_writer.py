"""Writes the metadata log `__cluster_metadata-0` while a cluster runs, and begins it again with a snapshot."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from ...protocol.schema import Message
from ...protocol.stored.metadata_records import BeginTransactionRecord, EndTransactionRecord
from . import names
from .metadata_log import RECORDS_PER_BATCH, record_batches, snapshot_bytes
from .names import SnapshotId, replace_file, sync
from .segment_files import Scan, map_file

FIRST_EPOCH = 1


class MetadataWriter:
    """The end of the metadata log. Every record is on the disk when `append` returns, as those of Kafka's controller are."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.end_offset, self._epoch = _end_of(folder) if folder.exists() else (0, FIRST_EPOCH)
        self.size = 0
        """The size of the segment that is appended to, in bytes."""
        self._descriptor = -1

    def begin(self, state: Iterable[Message], now_ms: int) -> None:
        """Writes the whole state: as a snapshot that replaces the log, or as the first records of an empty one. Raises OSError."""
        self._folder.mkdir(names.ONLY_OWNER, parents=True, exist_ok=True)
        if not self.end_offset:
            self._open_segment()
            self.append(list(state), now_ms)
            return
        self.close()
        snapshot = SnapshotId(self.end_offset, self._epoch)
        content = snapshot_bytes(state, now_ms)
        replace_file(self._folder / snapshot.file_name, content, synced=True)
        self._open_segment()
        for path in self._folder.iterdir():
            known = SnapshotId.parse(path.name)
            base = next((found for suffix in _SEGMENT_FILES if (found := names.offset_of(path.name, suffix)) is not None), None)
            if (known is not None and known < snapshot) or (base is not None and base < snapshot.offset):
                path.unlink()

    def append(self, messages: Sequence[Message], now_ms: int) -> None:
        """Appends records, which take effect together. Raises OSError, and appends nothing then."""
        if len(messages) > RECORDS_PER_BATCH:
            messages = [BeginTransactionRecord(name=None), *messages, EndTransactionRecord()]
        content = b"".join(record_batches(messages, self.end_offset, self._epoch, now_ms))
        try:
            if os.write(self._descriptor, content) < len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._folder))
            os.fdatasync(self._descriptor)
        except OSError:
            os.ftruncate(self._descriptor, self.size)
            raise
        self.end_offset += len(messages)
        self.size += len(content)

    def close(self) -> None:
        """Closes the segment."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _open_segment(self) -> None:
        path = self._folder / names.offset_name(self.end_offset, names.LOG)
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        self.size = 0
        sync(self._folder)


_SEGMENT_FILES = (names.LOG, names.INDEX, names.TIME_INDEX, names.PRODUCERS)


def _end_of(folder: Path) -> tuple[int, int]:
    """Returns the end offset and the last epoch of a metadata log. Raises DamagedFile, OSError."""
    end_offset, epoch = 0, FIRST_EPOCH
    for path in folder.iterdir():
        if (snapshot := SnapshotId.parse(path.name)) is not None:
            end_offset, epoch = max((end_offset, epoch), snapshot)
    for base in names.offsets_in(folder, names.LOG):
        for entry in Scan(map_file(folder / names.offset_name(base, names.LOG)), base):
            end_offset, epoch = max(end_offset, entry.last_offset + 1), max(epoch, entry.leader_epoch)
    return end_offset, epoch
