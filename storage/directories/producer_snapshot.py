"""The producers of a partition at an offset, the file `OFFSET.snapshot` (Kafka's ProducerStateManager, message ProducerSnapshot)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from ...protocol.batches import records
from ..producer_state import MAX_SEQUENCE
from .names import DamagedFile, read_file

MAX_SNAPSHOT_BYTES = 2**31 - 1
VERSION = 1
NO_OFFSET = -1
_HEAD = Struct(">hIi")  # version, CRC of the bytes after it, number of entries
_CRC_END = 6
_ENTRY = Struct(">qhiqiqiq")


class ProducerEntry(NamedTuple):
    """A producer with its last batch. Offsets and sequences are -1 if the producer has written only markers.

    `offset_delta` is the number of the batch's records minus one, and `open_since` the first offset of the open transaction, -1 if none is
    open.
    """

    producer_id: int
    epoch: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int
    coordinator_epoch: int
    open_since: int

    @property
    def base_sequence(self) -> int:
        """The sequence of the first record of the last batch. Sequences begin at 0 again after the largest one."""
        return (self.last_sequence - self.offset_delta) % (MAX_SEQUENCE + 1)


def read_producer_snapshot(path: Path) -> list[ProducerEntry]:
    """Returns the producers in a snapshot. Raises DamagedFile, OSError."""
    content = read_file(path, MAX_SNAPSHOT_BYTES)
    if len(content) < _HEAD.size:
        raise DamagedFile(path, f"{len(content)} bytes are too few for a snapshot of producers")
    version, crc, count = _HEAD.unpack_from(content)
    if version != VERSION:
        raise DamagedFile(path, f"it has version {version} instead of {VERSION}")
    if records.crc32c(memoryview(content)[_CRC_END:]) != crc:
        raise DamagedFile(path, "its CRC is wrong")
    if len(content) != _HEAD.size + count * _ENTRY.size:
        raise DamagedFile(path, f"{len(content)} bytes are not a snapshot of {count} producers")
    return [ProducerEntry._make(fields) for fields in _ENTRY.iter_unpack(memoryview(content)[_HEAD.size :])]


def producer_snapshot_bytes(entries: Iterable[ProducerEntry]) -> bytes:
    """Returns the contents of a snapshot."""
    packed = [_ENTRY.pack(*entry) for entry in entries]
    body = len(packed).to_bytes(4, "big") + b"".join(packed)
    return VERSION.to_bytes(2, "big") + records.crc32c(body).to_bytes(4, "big") + body
