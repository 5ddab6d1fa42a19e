"""A segment's `.log`: its batches, with the checks that Kafka makes when it recovers a segment (LogSegment.recover).

A file contains record batches of format 2, in directories of older brokers also messages of the formats 0 and 1, one after another. After a
crash, the last one may be incomplete. Kafka truncates a segment at the first batch that is not valid.
"""

from __future__ import annotations

import mmap
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path
from struct import Struct
from typing import NamedTuple
from zlib import crc32

from ...protocol.batches import records
from ...protocol.regular_files import open_to_read
from ..segments import HEADER_BYTES, INDEX_INTERVAL_BYTES, NO_TIMESTAMP, PREFIX_BYTES, Segment
from .index_files import OffsetIndex, TimeIndex, new_offset_index, new_time_index
from .names import MAX_OFFSET, DamagedFile

MAX_SEGMENT_BYTES = 2**31 - 1
MAGIC_POSITION, CRC_START, SMALLEST_LENGTH = records.MAGIC_POSITION, records.CRC_START, records.SMALLEST_LENGTH
BATCHES = 2
_MESSAGE_CRC_START = 16  # the CRC-32 of a message of format 0 or 1 covers the bytes from its magic on
_PREFIX = Struct(">qi")
_HEADER = Struct(">qiibIhiqq")  # up to the max timestamp
_CRC = Struct(">I")
_TIMESTAMP = Struct(">q")


class Entry(NamedTuple):
    """A batch in a segment file. Of a message of format 0 or 1, or a wrapper, only the last offset is known without decompression."""

    position: int
    size: int
    magic: int
    base_offset: int
    last_offset: int
    leader_epoch: int
    max_timestamp: int


def map_file(path: Path) -> memoryview:
    """Returns a file as memory that is read on first use. Raises DamagedFile for more than 2 GiB, and OSError."""
    with open_to_read(path) as file:
        size = file.seek(0, 2)
        if size > MAX_SEGMENT_BYTES:
            raise DamagedFile(path, f"a segment of {size} bytes; Kafka writes at most {MAX_SEGMENT_BYTES}")
        if not size:
            return memoryview(b"")
        return memoryview(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ))


class Damage(NamedTuple):
    """The first bytes of a segment that are no valid batch. Kafka truncates the segment at `position`."""

    position: int
    reason: str


class Scan:
    """Iterates over the batches of a segment from a position on. Afterwards, `damage` says why the iteration ended before the end."""

    def __init__(self, view: memoryview, base_offset: int, position: int = 0) -> None:
        self._view, self._base_offset, self._position = view, base_offset, position
        self.damage: Damage | None = None

    def __iter__(self) -> Iterator[Entry]:
        view, position, next_offset = self._view, self._position, self._base_offset
        while position < len(view):
            entry = read_entry(view, position)
            if isinstance(entry, str):
                self.damage = Damage(position, entry)
                return
            if entry.last_offset < next_offset or entry.last_offset - self._base_offset > MAX_SEGMENT_BYTES:
                self.damage = Damage(position, f"offset {entry.last_offset} after offset {next_offset - 1}")
                return
            yield entry
            position, next_offset = position + entry.size, entry.last_offset + 1


def read_entry(view: memoryview, position: int) -> Entry | str:
    """Returns the valid batch at a position of a segment, or the reason why there is none."""
    left = len(view) - position
    if left <= MAGIC_POSITION:
        return f"{left} bytes are too few for a batch"
    offset, length = _PREFIX.unpack_from(view, position)
    size, magic = length + PREFIX_BYTES, view[position + MAGIC_POSITION]
    if length < SMALLEST_LENGTH or magic > BATCHES or (magic == BATCHES and size < HEADER_BYTES):
        return f"a batch of {size} bytes with magic {magic}"
    if size > left:
        return f"a batch of {size} bytes, of which {left} are there"
    batch = view[position : position + size]
    return _batch(position, batch) if magic == BATCHES else _message(position, offset, magic, batch)


def _batch(position: int, batch: memoryview) -> Entry | str:
    base, _, epoch, _, crc, _, delta, _, max_timestamp = _HEADER.unpack_from(batch)
    if records.crc32c(batch[CRC_START:]) != crc:
        return "a batch with a wrong CRC"
    if delta < 0 or not 0 <= base <= MAX_OFFSET - delta - 1:
        return f"a batch with offset {base} and last offset delta {delta}"
    return Entry(position, len(batch), BATCHES, base, base + delta, epoch, max_timestamp)


def _message(position: int, offset: int, magic: int, message: memoryview) -> Entry | str:
    if crc32(message[_MESSAGE_CRC_START:]) != _CRC.unpack_from(message, PREFIX_BYTES)[0] or (magic and len(message) < 26):
        return "a message with a wrong CRC"
    if not 0 <= offset < MAX_OFFSET:
        return f"a message with offset {offset}"
    timestamp = _TIMESTAMP.unpack_from(message, 18)[0] if magic else NO_TIMESTAMP
    return Entry(position, len(message), magic, offset, offset, -1, timestamp)


class IndexBuilder:
    """The indexes that Kafka writes beside a segment, of batches that are added in order (LogSegment.append)."""

    def __init__(self) -> None:
        self.offsets, self.times = new_offset_index(), new_time_index()
        self.size = 0
        """The size of the added batches, in bytes."""
        self._newest, self._newest_offset = NO_TIMESTAMP, -1
        self._since_entry = 0

    def add(self, entry: Entry) -> None:
        """Adds a batch. An index entry follows more than 4096 bytes after the one before (index.interval.bytes)."""
        if entry.max_timestamp > self._newest:
            self._newest, self._newest_offset = entry.max_timestamp, entry.last_offset
        if self._since_entry > INDEX_INTERVAL_BYTES:
            self.offsets.offsets.append(entry.last_offset)
            self.offsets.positions.append(self.size)
            self.finish()
            self._since_entry = 0
        self._since_entry += entry.size
        self.size += entry.size

    def finish(self) -> None:
        """Adds the largest timestamp of the whole segment (LogSegment.onBecomeInactiveSegment)."""
        if self._newest >= 0 and (not self.times.timestamps or self._newest > self.times.timestamps[-1]):
            self.times.timestamps.append(self._newest)
            self.times.offsets.append(self._newest_offset)


class OldMessages(Exception):
    """A segment contains messages of the formats 0 and 1, which have to be converted."""


class MappedSegment(NamedTuple):
    """A segment of a log in a mapped file, and the damage behind it."""

    segment: Segment
    damage: Damage | None


def map_segment(view: memoryview, base_offset: int, offsets: OffsetIndex, times: TimeIndex) -> MappedSegment:
    """Returns a segment of which only the batches from the last entry of its trusted indexes on are read. Raises OldMessages.

    Its index consists of the entries of Kafka's. Their offsets are the last ones of batches, and their timestamps include those of the
    batch, so that a search may begin earlier than necessary, but never too late.
    """
    segment = Segment(view, 0, base_offset, 0)
    if offsets.offsets and _match(view, offsets, times):
        segment.add_index(offsets.offsets, offsets.positions, _timestamps(offsets, times))
    scan = Scan(view, base_offset, segment.end)
    for entry in scan:
        if entry.magic != BATCHES:
            raise OldMessages
        segment.end_offset = entry.base_offset  # the offsets before it may have been removed
        segment.add(entry.size, entry.last_offset - entry.base_offset, entry.max_timestamp)
    segment.origin = segment.end  # no bytes are kept in memory
    return MappedSegment(segment, scan.damage)


def _match(view: memoryview, offsets: OffsetIndex, times: TimeIndex) -> bool:
    """Returns whether indexes are those of a segment: the batches at the first and the last entry have their offsets and timestamps."""
    newest = times.timestamps[-1] if times.timestamps else NO_TIMESTAMP
    for which in (0, -1):
        entry = read_entry(view, offsets.positions[which]) if offsets.positions[which] < len(view) else "behind the end"
        if isinstance(entry, str) or entry.base_offset > offsets.offsets[which] or entry.max_timestamp > newest:
            return False
    return True


def _timestamps(offsets: OffsetIndex, times: TimeIndex) -> array[int]:
    """Returns the largest timestamp up to each entry."""
    found = array("q")
    for timestamp, offset in zip(*times, strict=True):
        first = bisect_left(offsets.offsets, offset)
        found.extend([found[-1] if found else NO_TIMESTAMP] * (first - len(found)))
        if first < len(offsets.offsets):
            found.append(timestamp)
    found.extend([found[-1] if found else NO_TIMESTAMP] * (len(offsets.offsets) - len(found)))
    return found
