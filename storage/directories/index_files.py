"""The indexes of a segment: of offsets, timestamps and aborted transactions (Kafka's OffsetIndex, TimeIndex, TransactionIndex).

While a segment is active, Kafka preallocates its indexes of offsets and timestamps with zeros. A reader stops at the first entry that does
not follow the one before it, so these zeros are ignored. After a crash indexes are not to be trusted, because they may lag behind the log.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import compress, count
from operator import ge
from pathlib import Path
from struct import Struct, unpack
from typing import NamedTuple

from ..transaction_index import EndedTransaction
from .names import MAX_OFFSET, DamagedFile, read_file

MAX_INDEX_BYTES = 2**31 - 1
_OFFSET_ENTRY = Struct(">ii")
_TIME_ENTRY = Struct(">qi")
_TRANSACTION_ENTRY = Struct(">hqqqq")
_TRANSACTION_VERSION = 0


class OffsetIndex(NamedTuple):
    """The entries of an `.index`: the last offset of a batch, and the position of the batch in the segment, both ascending."""

    offsets: array[int]
    positions: array[int]

    def before(self, offset: int) -> OffsetIndex:
        """Returns the entries before an offset."""
        kept = bisect_left(self.offsets, offset)
        return OffsetIndex(self.offsets[:kept], self.positions[:kept])


class TimeIndex(NamedTuple):
    """The entries of a `.timeindex`: the largest timestamp (ms) of the segment so far, and the offset of a record that has it."""

    timestamps: array[int]
    offsets: array[int]

    def before(self, offset: int) -> TimeIndex:
        """Returns the entries before an offset."""
        kept = bisect_left(self.offsets, offset)
        return TimeIndex(self.timestamps[:kept], self.offsets[:kept])


def new_offset_index() -> OffsetIndex:
    """Returns an index without entries."""
    return OffsetIndex(array("q"), array("I"))


def new_time_index() -> TimeIndex:
    """Returns an index without entries."""
    return TimeIndex(array("q"), array("q"))


def read_offset_index(path: Path, base_offset: int) -> OffsetIndex:
    """Returns the entries of an `.index`. Raises OSError."""
    content = _whole(read_file(path, MAX_INDEX_BYTES), _OFFSET_ENTRY)
    numbers = unpack(f">{len(content) // 4}i", content)
    relative, positions = numbers[::2], numbers[1::2]
    entries = min(_ascending(relative), _ascending(positions))
    return OffsetIndex(array("q", [base_offset + each for each in relative[:entries]]), array("I", positions[:entries]))


class IndexEntry(NamedTuple):
    """The last offset of a batch, and its position in the segment."""

    last_offset: int
    position: int


def read_index_entry(path: Path, base_offset: int, offset: int) -> IndexEntry | None:
    """Returns the last entry of an `.index` at or before `offset`, None if there is none. Raises OSError.

    Unlike `read_offset_index`, it looks at a few entries only, and takes the zeros of an active segment for entries behind all others.
    """
    content = _whole(read_file(path, MAX_INDEX_BYTES), _OFFSET_ENTRY)

    def relative_offset(number: int) -> int:
        found: int = _OFFSET_ENTRY.unpack_from(content, number * _OFFSET_ENTRY.size)[0]
        return found if found > 0 else MAX_OFFSET

    following = bisect_right(range(len(content) // _OFFSET_ENTRY.size), offset - base_offset, key=relative_offset)
    if not following:
        return None
    relative, position = _OFFSET_ENTRY.unpack_from(content, (following - 1) * _OFFSET_ENTRY.size)
    return IndexEntry(base_offset + relative, position)


def offset_index_bytes(index: OffsetIndex, base_offset: int) -> bytes:
    """Returns the contents of an `.index`."""
    return b"".join(_OFFSET_ENTRY.pack(offset - base_offset, position) for offset, position in zip(*index, strict=True))


def read_time_index(path: Path, base_offset: int) -> TimeIndex:
    """Returns the entries of a `.timeindex`. Raises OSError."""
    entries = list(_TIME_ENTRY.iter_unpack(_whole(read_file(path, MAX_INDEX_BYTES), _TIME_ENTRY)))
    timestamps, relative = array("q", [timestamp for timestamp, _ in entries]), array("i", [offset for _, offset in entries])
    if relative and not relative[0]:  # the first record has the largest timestamp
        valid = min(_ascending(timestamps), 1 + _ascending(relative[1:]))
    else:
        valid = min(_ascending(timestamps), _ascending(relative))
    return TimeIndex(timestamps[:valid], array("q", [base_offset + each for each in relative[:valid]]))


def time_index_bytes(index: TimeIndex, base_offset: int) -> bytes:
    """Returns the contents of a `.timeindex`."""
    return b"".join(_TIME_ENTRY.pack(timestamp, offset - base_offset) for timestamp, offset in zip(*index, strict=True))


def _whole(content: bytes, form: Struct) -> bytes:
    """Returns the whole entries at the start of an index."""
    return content[: len(content) // form.size * form.size]


def _ascending(numbers: Sequence[int]) -> int:
    """Returns how many numbers at the start are positive and ascending."""
    if not numbers or numbers[0] <= 0:
        return 0
    return next(compress(count(1), map(ge, numbers, numbers[1:])), len(numbers))


def read_transaction_index(path: Path) -> list[EndedTransaction]:
    """Returns the aborted transactions of a `.txnindex`. Raises DamagedFile, OSError."""
    content = read_file(path, MAX_INDEX_BYTES)
    if len(content) % _TRANSACTION_ENTRY.size:
        raise DamagedFile(path, f"its {len(content)} bytes are not whole entries of {_TRANSACTION_ENTRY.size} bytes")
    aborted: list[EndedTransaction] = []
    for version, producer_id, first, last, stable in _TRANSACTION_ENTRY.iter_unpack(content):
        if (
            version != _TRANSACTION_VERSION
            or not 0 <= first <= last < MAX_OFFSET
            or stable < 0
            or (aborted and last <= aborted[-1].last_offset)
        ):
            raise DamagedFile(path, f"no aborted transaction of offsets {first} to {last} can be entry {len(aborted)}")
        aborted.append(EndedTransaction(producer_id, first, last, stable, committed=False))
    return aborted


def transaction_index_bytes(aborted: Iterable[EndedTransaction]) -> bytes:
    """Returns the contents of a `.txnindex`."""
    return b"".join(
        _TRANSACTION_ENTRY.pack(_TRANSACTION_VERSION, each.producer_id, each.first_offset, each.last_offset, each.last_stable_offset)
        for each in aborted
    )
