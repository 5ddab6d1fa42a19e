"""What a broker checks in the records of a batch before it appends them (Kafka's DefaultRecord and LogValidator).

Every record is looked into, on one of four paths that agree. Records of one shape that follow one another are a *run*: their lengths
stand at equal distances, so each byte of structure is compared for all of them at once, by a slice with a stride. Many records that
make no runs are read in columns, where numpy is installed. A record that is alone in its batch is compared with the structure of the
first one of its size that was seen. What is short, or does not pass there, is read record by record, and only that path says what is
wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

from .errors import ErrorCode
from .records import TIMESTAMP_TYPE_BIT, BatchError, BatchHeader, Buffer, InvalidRecords, signed, varint_rest

NO_TIMESTAMP = -1
MIN_LONG, MAX_LONG = -(1 << 63), (1 << 63) - 1
SHORTEST_RUN = 10
"""With fewer records the slices of a run cost more than reading them one by one."""
FEWEST_IN_COLUMNS = 256
MOST_LONE, LONGEST_STRUCTURE = 4096, 64
"""Sizes of single records whose structure is remembered, and the bytes of one."""
COPIED_BELOW = 512
"""Up to this many bytes per record a copy of them all, which slices fast, is cheaper than slices of a view."""

_HIGH = bytes(range(128, 256))
_UP_TO = [bytes(range(value + 1)) for value in range(256)]
_EVERY_64 = bytes(128 + 2 * n for n in range(64))


class Demands(NamedTuple):
    """What a topic demands: keys, timestamps within bounds (ms), or that no producer sets the bit of LogAppendTime."""

    keys: bool = False
    earliest: int = MIN_LONG
    latest: int = MAX_LONG
    create_time: bool = True

    def complaint(self, key_missing: bool, timestamp: int, append_time_bit: bool) -> tuple[ErrorCode, str] | None:
        """What is wrong with a record (LogValidator.validateRecord)."""
        if key_missing and self.keys:
            return ErrorCode.INVALID_RECORD, "a compacted topic takes no record without a key"
        if self.create_time and timestamp != NO_TIMESTAMP:
            if not self.earliest <= timestamp <= self.latest:
                return ErrorCode.INVALID_TIMESTAMP, f"the timestamp {timestamp} is not from {self.earliest} to {self.latest}"
        elif append_time_bit:
            return ErrorCode.INVALID_TIMESTAMP, "a producer may not set the timestamp type to LogAppendTime"
        return None


RecordError: TypeAlias = tuple[int, ErrorCode, str]
"""The number of a record in its batch, and what is wrong with it."""


class RejectedRecords(BatchError):
    """Records that are whole, but not what the topic demands. `record_errors`: (number in the batch, text) of each."""

    def __init__(self, errors: list[RecordError]) -> None:
        super().__init__("some records of the batch were rejected, so none was appended")
        timed = any(code == ErrorCode.INVALID_TIMESTAMP for _, code, _ in errors)
        self.error_code = ErrorCode.INVALID_TIMESTAMP if timed else ErrorCode.INVALID_RECORD
        self.record_errors = [(number, text) for number, _, text in errors]


class UnreadableRecords(BatchError):
    """Bytes for which Apache Kafka has no better answer than UNKNOWN_SERVER_ERROR."""


def check_records(data: Buffer, header: BatchHeader, demands: Demands, start: int = 0, lenient: bool = False) -> tuple[int, bool]:
    """Reads all records of an uncompressed payload, which fills `data` from `start` on.

    (Their latest timestamp, -1 without any; whether their offsets are 0, 1, 2 …, which is exact only with `lenient`.) That is how Kafka
    reads the records of a compressed batch that it stores as it came: it steps over fields and compares no record's size with what they
    take. Raises InvalidRecords, RejectedRecords, UnreadableRecords.
    """
    count = header.records_count
    if count == 1 and _is_like_a_known_one(data, header, demands, start):
        return header.base_timestamp, True
    if count >= SHORTEST_RUN and not header.attributes & TIMESTAMP_TYPE_BIT:
        if len(data) < COPIED_BELOW * count:
            data = bytes(data)
        reading = _Reading(data, header, demands, lenient, start)
        reading.in_runs()
        found = _done(data, reading.position, reading.latest, reading.consecutive, reading.errors)
        if not reading.unsure or reading.latest == header.max_timestamp:
            return found
    errors: list[RecordError] = []
    return _done(data, *_one_by_one(data, header, demands, lenient, 0, count, start, NO_TIMESTAMP, errors), errors)


def _done(data: Buffer, position: int, latest: int, consecutive: bool, errors: list[RecordError]) -> tuple[int, bool]:
    if position != len(data):
        raise InvalidRecords(f"{len(data) - position} bytes after the last record")
    if errors:
        raise RejectedRecords(errors)
    return latest, consecutive


class _Lone(NamedTuple):
    """What the bytes of a single record's structure are, and what reads them."""

    read: Callable[[Any], tuple[int, ...]]
    structure: tuple[int, ...]
    key_missing: bool


_lone: dict[tuple[int, int], _Lone | None] = {}
"""By the payload's start and end; None where the first record was no example."""


def _is_like_a_known_one(data: Buffer, header: BatchHeader, demands: Demands, start: int) -> bool:
    """Whether the only record has the structure of one that was right, with offset 0 and the base timestamp."""
    place = start, len(data)
    if place not in _lone:
        if len(_lone) == MOST_LONE:
            _lone.clear()
        _lone[place] = _example(data, start)
    lone = _lone[place]
    return (
        lone is not None
        and lone.read(data) == lone.structure
        and max(demands.earliest, 0) <= header.base_timestamp <= demands.latest
        and not header.attributes & TIMESTAMP_TYPE_BIT
        and not (demands.keys and lone.key_missing)
    )


def _example(data: Buffer, start: int) -> _Lone | None:
    try:
        shape = _shape(data, start)
    except (IndexError, InvalidRecords):
        return None
    numbers = (*shape.timestamp, *shape.offset)
    if shape.end != len(data) or [data[at] for at in numbers] != [0, 0] or len(shape.lengths) > LONGEST_STRUCTURE:
        return None
    read = itemgetter(*shape.size, *numbers, *shape.lengths)
    return _Lone(read, read(data), shape.key_missing)


def _one_by_one(
    data: Buffer,
    header: BatchHeader,
    demands: Demands,
    lenient: bool,
    number: int,
    until: int,
    position: int,
    latest: int,
    errors: list[RecordError],
) -> tuple[int, int, bool]:
    """Reads the records from `number`, at `position`, up to `until`: (position after them, latest timestamp, whether offsets count on)."""
    keys, earliest, upper, _ = demands
    end, base, append_bit, consecutive = len(data), header.base_timestamp, header.attributes & TIMESTAMP_TYPE_BIT, True
    known = -1  # a timestamp delta that there is nothing to be said about
    try:
        for n in range(number, until):
            size, position = data[position], position + 1
            if size > 127:
                size, position = _size(data, size, position, lenient)
            stop = position + (size >> 1)
            delta, position = data[position + 1], position + 2  # the byte before it: attributes that mean nothing yet
            if delta > 127:
                delta, position = varint_rest(data, delta, position, 64)
            offset, position = data[position], position + 1
            if offset > 127:
                offset, position = varint_rest(data, offset, position)
            if offset != n << 1:
                consecutive = False
            key, position = data[position], position + 1
            if key > 127:
                key, position = varint_rest(data, key, position)
            if not key & 1:
                position += key >> 1
            value, position = data[position], position + 1
            if value > 127:
                second = data[position]
                if second < 128:
                    value, position = value & 127 | second << 7, position + 1
                else:
                    value, position = varint_rest(data, value, position)
            if not value & 1:
                position += value >> 1
            headers, position = data[position], position + 1
            if headers:
                position = _skip_headers(data, headers, position, end)
            if position > end or (not lenient and (position != stop or size & 1)):
                raise InvalidRecords(f"record {n} does not take the {signed(size)} bytes it says")
            if delta != known or (keys and key & 1):
                timestamp = header.max_timestamp if append_bit else _wrapped(base + (delta >> 1 ^ -(delta & 1)))
                if timestamp > latest:
                    latest = timestamp
                if earliest <= timestamp <= upper and not append_bit and not (keys and key & 1):
                    known = delta
                elif complaint := demands.complaint(bool(key & 1), timestamp, bool(append_bit)):
                    errors.append((n, *complaint))
    except IndexError:
        raise InvalidRecords(f"the batch ends before its {header.records_count} records do") from None
    return position, latest, consecutive


class _Reading:
    """One pass over the records of a batch; `number` and `position` say how far it is."""

    __slots__ = ("consecutive", "data", "demands", "errors", "header", "latest", "lenient", "number", "position", "unsure")

    def __init__(self, data: Buffer, header: BatchHeader, demands: Demands, lenient: bool, start: int) -> None:
        self.data, self.header, self.demands, self.lenient = data, header, demands, lenient
        self.number, self.position = 0, start
        self.errors: list[RecordError] = []
        self.consecutive = True
        self.latest = NO_TIMESTAMP
        self.unsure = False
        """Whether `latest` may be too low. No timestamp is above the header's, so it is right when it is that."""

    def one_by_one(self, until: int) -> None:
        """Reads on to record number `until`."""
        self.position, self.latest, consecutive = _one_by_one(
            self.data, self.header, self.demands, self.lenient, self.number, until, self.position, self.latest, self.errors
        )
        self.number = until
        self.consecutive = self.consecutive and consecutive

    def in_runs(self) -> None:
        """Reads to the end: runs at once, and what is between them one by one, the more of it the fewer runs there are."""
        count, between = self.header.records_count, SHORTEST_RUN
        while count - self.number >= SHORTEST_RUN:
            if self.run():
                between = SHORTEST_RUN
            elif between > SHORTEST_RUN and count - self.number >= FEWEST_IN_COLUMNS and self.in_columns():
                return
            else:
                self.one_by_one(min(count, self.number + between))
                between *= 2
        self.one_by_one(count)

    def in_columns(self) -> bool:
        """Reads to the end; False without numpy, or if there is anything to be said about a record."""
        try:
            from .record_columns import Irregular, read_columns
        except ImportError:
            return False
        number, count, base, demands = self.number, self.header.records_count, self.header.base_timestamp, self.demands
        try:
            earliest, latest, consecutive, key_missing = read_columns(self.data, self.position, number, count - number)
        except Irregular:
            return False
        if (key_missing and demands.keys) or base + earliest < demands.earliest or base + latest > demands.latest:
            return False
        self.latest = max(self.latest, base + latest)
        self.consecutive = self.consecutive and consecutive
        self.number, self.position = count, len(self.data)
        return True

    def run(self) -> bool:
        """Reads a run; False if there is none here, or one that must be read more closely."""
        data, number = self.data, self.number
        try:
            shape = _shape(data, self.position)
        except (IndexError, InvalidRecords):
            return False
        size = shape.end - self.position
        count = min(self.header.records_count - number, (len(data) - self.position) // size)
        for at in shape.size:
            column = self.column(at, size, count)
            count -= len(column.lstrip(column[:1]))
        if count < SHORTEST_RUN or (self.demands.keys and shape.key_missing):
            return False
        for at in shape.lengths:
            column = self.column(at, size, count)
            if column.count(column[0]) != count:
                return False
        timestamps = [self.column(at, size, count) for at in shape.timestamp]
        offsets = [self.column(at, size, count) for at in shape.offset]
        if not (_are_varints(timestamps) and _are_varints(offsets) and self.in_time(timestamps)):
            return False
        self.consecutive = self.consecutive and (not self.lenient or offsets == _counting(len(offsets), number, count))
        self.number, self.position = number + count, self.position + count * size
        return True

    def column(self, at: int, size: int, count: int) -> bytes:
        """One byte of `count` records of `size` bytes."""
        return bytes(self.data[at : at + (count - 1) * size + 1 : size])

    def in_time(self, columns: list[bytes]) -> bool:
        """Whether all timestamps of a run are allowed, and none is after the header's."""
        base, demands, expected = self.header.base_timestamp, self.demands, self.header.max_timestamp - self.header.base_timestamp
        low, high, reached = _bounds(columns, expected)
        if high > expected or base + low < demands.earliest or base + high > demands.latest:
            return False
        if reached:
            self.latest = max(self.latest, base + high)
        else:
            self.unsure = True
        return True


def _size(data: Buffer, first: int, position: int, lenient: bool) -> tuple[int, int]:
    """A record's size. Kafka does not expect that this one, in an uncompressed batch, may be no varint."""
    second = data[position]
    if second < 128:
        return first & 127 | second << 7, position + 1
    try:
        return varint_rest(data, first, position)
    except InvalidRecords as error:
        raise error if lenient else UnreadableRecords(str(error)) from None


def _skip_headers(data: Buffer, count: int, position: int, end: int) -> int:
    """The position after the headers. Raises InvalidRecords, IndexError."""
    if count > 127:
        count, position = varint_rest(data, count, position)
    if count & 1 or count >> 1 > end - position:
        raise InvalidRecords(f"{signed(count)} headers in {end - position} bytes")
    for _ in range(count >> 1):
        name, position = _read(data, position)
        if name & 1:
            raise InvalidRecords("a header without a name")
        value, position = _read(data, position + (name >> 1))
        if not value & 1:
            position += value >> 1
    return position


def _read(data: Buffer, position: int, bits: int = 32) -> tuple[int, int]:
    """(a varint before zigzag, the position after it). Raises InvalidRecords, IndexError."""
    first = data[position]
    return (first, position + 1) if first < 128 else varint_rest(data, first, position + 1, bits)


def _wrapped(value: int) -> int:
    """A sum as Java's long has it."""
    return value if MIN_LONG <= value <= MAX_LONG else (value - MIN_LONG & (1 << 64) - 1) + MIN_LONG


class _Shape(NamedTuple):
    """Where the bytes of a record's structure are: `size`, the `lengths` of its fields and their counts, and two numbers that vary."""

    end: int
    size: Sequence[int]
    lengths: Sequence[int]
    timestamp: Sequence[int]
    offset: Sequence[int]
    key_missing: bool


def _shape(data: Buffer, position: int) -> _Shape:
    """Of one record, which is well formed. Raises InvalidRecords, IndexError."""
    size, start = _read(data, position)
    _, offset_at = _read(data, start + 1, 64)
    _, at = _read(data, offset_at)
    offset = range(offset_at, at)
    lengths: list[int] = []
    key, at = _field(data, at, lengths)
    _, at = _field(data, at, lengths)
    headers, after = _read(data, at)
    lengths += range(at, after)
    at = after
    if headers & 1 or headers >> 1 > len(data) - at:
        raise InvalidRecords("a number of headers that cannot be")
    for _ in range(headers >> 1):
        name, at = _field(data, at, lengths)
        if name & 1:
            raise InvalidRecords("a header without a name")
        _, at = _field(data, at, lengths)
    if size & 1 or not at == start + (size >> 1) <= len(data):
        raise InvalidRecords("a record of another size than it says")
    return _Shape(at, range(position, start), lengths, range(start + 1, offset_at), offset, bool(key & 1))


def _field(data: Buffer, at: int, lengths: list[int]) -> tuple[int, int]:
    """(length before zigzag, position after the field); where the length stands is noted."""
    length, after = _read(data, at)
    lengths += range(at, after)
    return length, after if length & 1 else after + (length >> 1)


# Columns: one byte of every record of a run.


def _are_varints(columns: list[bytes]) -> bool:
    """Whether every varint has its last byte in the last column."""
    return columns[-1].isascii() and not any(column.translate(None, _HIGH) for column in columns[:-1])


def _counting(width: int, number: int, count: int) -> list[bytes]:
    """The columns of `count` varints of `width` bytes: `number`, `number` + 1 and so on."""
    if width == 1:
        return [bytes(range(2 * number, min(2 * (number + count), 128), 2))]
    blocks = range(number >> 6, (number + count >> 6) + 1)
    columns = [_EVERY_64 * len(blocks)]
    for place in range(1, width):
        high = 128 if place < width - 1 else 0
        columns.append(b"".join(bytes([block >> 7 * (place - 1) & 127 | high]) * 64 for block in blocks))
    return [column[number & 63 :][:count] for column in columns]


def _bounds(columns: list[bytes], expected: int) -> tuple[int, int, bool]:
    """(a lower bound, an upper bound, whether the upper one is reached) of a run's numbers; `expected` is what may be the highest.

    Numbers of one and two bytes are compared with `expected` without looking at each, if they rise; others one by one.
    """
    limit = 1 << 7 * len(columns) - 1
    if len(columns) <= 2:
        if expected >= limit:
            return -limit, limit - 1, False
        if expected >= 0 and (reached := _reached(columns, expected)) is not None:
            return -limit, expected, reached
    values = [signed(_read(bytes(varint), 0, 64)[0]) for varint in set(zip(*columns, strict=True))]
    return min(values), max(values), True


def _reached(columns: list[bytes], expected: int) -> bool | None:
    """Whether a number is `expected` and none above it; None when that is not so simple."""
    top, largest = columns[-1], expected << 1 >> 7 * (len(columns) - 1)
    if top.translate(None, _UP_TO[largest]):
        return None
    if len(columns) == 1:
        return largest in top
    first, last = top.find(largest), top.rfind(largest) + 1
    if first < 0:
        return False
    lowest, tail = expected << 1 & 127 | 128, columns[0][first:last]
    if top.count(largest, first, last) < last - first or tail.translate(None, _UP_TO[lowest]):
        return None
    return lowest in tail
