"""The sequential path: reads the records of a batch one by one, as Kafka's DefaultRecord does, and reports errors."""

from __future__ import annotations

from ..records import COMPRESSION_MASK, TIMESTAMP_TYPE_BIT, BatchHeader, Buffer, InvalidRecords, RecordsEndEarly, from_zigzag, varint_rest
from .rules import MAX_LONG, MIN_LONG, NO_TIMESTAMP, RecordError, RecordRules, UnreadableRecords


class RecordScan:
    """The state of one pass over the uncompressed records of a batch, which all paths advance.

    `index` counts the records read so far, and `position` is the byte at which the next one begins.
    `latest` is the largest timestamp found (ms, -1 if there is none). `latest_is_exact` is False if a path has only compared
    timestamps with an upper bound, so that `latest` may be too low.
    `consecutive` says whether the offset deltas are 0, 1, 2 and so on.
    """

    __slots__ = ("consecutive", "data", "errors", "header", "index", "latest", "latest_is_exact", "lenient", "position", "rules")

    def __init__(self, data: Buffer, header: BatchHeader, rules: RecordRules, lenient: bool, position: int) -> None:
        self.data, self.header, self.rules, self.lenient = data, header, rules, lenient
        self.index, self.position = 0, position
        self.latest = NO_TIMESTAMP
        self.latest_is_exact = self.consecutive = True
        self.errors: list[RecordError] = []

    def read_one_by_one(self, until: int) -> None:
        """Reads the records before index `until`. Raises InvalidRecords, RecordsEndEarly, UnreadableRecords.

        The varints are read inline, because calls would double the time per record; nearly all of them take one byte.
        """
        data, end, position, lenient, latest = self.data, len(self.data), self.position, self.lenient, self.latest
        keys, earliest, upper, _ = self.rules
        base, append_bit = self.header.base_timestamp, self.header.attributes & TIMESTAMP_TYPE_BIT
        accepted = -1  # a timestamp delta that is known to be within the rules; -1 is not a zigzag code
        try:
            for n in range(self.index, until):
                stop = end + 1
                size, position = data[position], position + 1
                if size > 127:
                    size, position = self._record_size(size, position)
                stop = position + (size >> 1)
                delta, position = data[position + 1], position + 2  # the byte before it holds attributes, which have no meaning yet
                if delta > 127:
                    delta, position = varint_rest(data, delta, position, 64)
                offset, position = data[position], position + 1
                if offset > 127:
                    offset, position = varint_rest(data, offset, position)
                if offset != n << 1:
                    self.consecutive = False
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
                    position = _skip_headers(data, headers, position, MAX_LONG if lenient else end)
                # Kafka compares the record's size with the sizes of its fields, but not in compressed batches that it stores unchanged.
                if position > end or (not lenient and (position != stop or size & 1)):
                    raise IndexError
                if delta != accepted or (keys and key & 1):
                    timestamp = self.header.max_timestamp if append_bit else _wrap(base + (delta >> 1 ^ -(delta & 1)))
                    if timestamp > latest:
                        latest = timestamp
                    if earliest <= timestamp <= upper and not append_bit and not (keys and key & 1):
                        accepted = delta
                    elif violation := self.rules.violation(bool(key & 1), timestamp, bool(append_bit)):
                        self.errors.append((n, *violation))
        except (IndexError, InvalidRecords) as error:
            ends_early = isinstance(error, IndexError) if lenient else stop > end
            kind = RecordsEndEarly if ends_early else InvalidRecords
            raise kind(f"record {n} of {self.header.records_count} is truncated or differs from its declared size: {error}") from None
        self.index, self.position, self.latest = until, position, latest

    def _record_size(self, first: int, position: int) -> tuple[int, int]:
        """Returns (a record's size before zigzag, the position after it) for a size of two bytes or more.

        Kafka's DefaultRecord does not handle an endless varint in this place of an uncompressed batch, and answers UNKNOWN_SERVER_ERROR.
        """
        second = self.data[position]
        if second < 128:
            return first & 127 | second << 7, position + 1
        try:
            return varint_rest(self.data, first, position)
        except InvalidRecords as error:
            raise error if self.header.attributes & COMPRESSION_MASK else UnreadableRecords(str(error)) from None


def read_varint(data: Buffer, position: int, bits: int = 32) -> tuple[int, int]:
    """Returns (a varint before zigzag, the position after it). Raises InvalidRecords, IndexError."""
    first = data[position]
    return (first, position + 1) if first < 128 else varint_rest(data, first, position + 1, bits)


def _skip_headers(data: Buffer, count: int, position: int, end: int) -> int:
    """Returns the position after the headers, each of which takes at least one byte before `end`. Raises InvalidRecords, IndexError."""
    if count > 127:
        count, position = varint_rest(data, count, position)
    if count & 1:
        raise InvalidRecords(f"{from_zigzag(count)} headers")
    if count >> 1 > end - position:
        raise IndexError
    for _ in range(count >> 1):
        name, position = read_varint(data, position)
        if name & 1:
            raise InvalidRecords("a header without a name")
        value, position = read_varint(data, position + (name >> 1))
        if not value & 1:
            position += value >> 1
    return position


def _wrap(value: int) -> int:
    """Returns a sum as Java's long arithmetic wraps it."""
    return value if MIN_LONG <= value <= MAX_LONG else (value - MIN_LONG & (1 << 64) - 1) + MIN_LONG
