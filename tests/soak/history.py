"""Compares the acknowledgements of producers with the records that consumers have read.

Each record contains its writer and number, by which it is identified. These guarantees of Apache Kafka are checked:

* Acknowledged records are read, at the acknowledged offset.
* Records of an idempotent producer are read once and in order.
* A consumer of committed records reads all or no records of a transaction.
* An offset does not contain two records.
* A consumer does not skip records.
* Every record reaches each group.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

PADDING = b"." * 900


class Place(NamedTuple):
    """The position of a record."""

    topic: str
    partition: int
    offset: int


class Label(NamedTuple):
    """The identity of a record."""

    writer: str
    number: int

    def value(self) -> bytes:
        """Returns the value of the record."""
        return b"%s %d %s" % (self.writer.encode(), self.number, PADDING)

    @classmethod
    def of(cls, value: bytes) -> Label:
        """Returns the label of a record value."""
        writer, number, _ = value.split(b" ", 2)
        return cls(writer.decode(), int(number))


@dataclass
class Writing:
    """The records of one producer.

    `transaction_of` contains the transaction of each transactional record, and `committed` the outcome of each transaction (None while it
    is unknown).
    """

    writer: str
    idempotent: bool
    acknowledged: dict[int, Place] = field(default_factory=dict)
    transaction_of: dict[int, int] = field(default_factory=dict)
    committed: dict[int, bool | None] = field(default_factory=dict)

    def is_committed(self, number: int) -> bool | None:
        """Returns whether a record may be read; None if the outcome of its transaction is unknown."""
        transaction = self.transaction_of.get(number)
        return True if transaction is None else self.committed[transaction]


@dataclass
class Reading:
    """The records of one consumer in the order of its polls. None marks a new assignment of partitions."""

    reader: str
    rows: list[tuple[Place, Label] | None] = field(default_factory=list)
    only_committed: bool = False


Log = dict[tuple[str, int], dict[int, Label]]
"""The records of each partition by offset."""


@dataclass
class History:
    """All records written and read. `readers` have read everything from the beginning; `groups` contains the readings of group members."""

    writings: list[Writing] = field(default_factory=list)
    readers: list[Reading] = field(default_factory=list)
    groups: dict[str, list[Reading]] = field(default_factory=dict)

    def violations(self) -> list[str]:
        """Returns the violated guarantees, at most a few of each kind."""
        members = [reading for group in self.groups.values() for reading in group]
        found: list[str] = []
        log: Log = defaultdict(dict)
        for reading in (*self.readers, *members):
            found += _first(_inconsistent(reading, log))
        places = {label: Place(*partition, offset) for partition, rows in log.items() for offset, label in rows.items()}
        for writing in self.writings:
            found += _first(_lost_or_misplaced(writing, log, places))
            if writing.idempotent:
                found += _first(_doubled_or_out_of_order(writing, log))
        writing_of = {writing.writer: writing for writing in self.writings}
        for reading in (*self.readers, *members):
            found += _first(_skipped(reading, log, writing_of))
            if reading.only_committed:
                found += _first(_uncommitted(reading, writing_of))
        for reading in self.readers:
            found += _first(_torn(reading, writing_of))
            found += _first(_unseen(f"reader {reading.reader}", [reading], log, writing_of))
        for name, readings in self.groups.items():
            found += _first(_unseen(f"group {name}", readings, log, writing_of))
        return found


MAX_OF_A_KIND = 5


def _first(found: Iterable[str]) -> list[str]:
    return [text for text, _ in zip(found, range(MAX_OF_A_KIND), strict=False)]


def _rows(reading: Reading) -> Iterator[tuple[Place, Label]]:
    return (row for row in reading.rows if row is not None)


def _inconsistent(reading: Reading, log: Log) -> Iterator[str]:
    """Adds records to the log and yields offsets that contain two different records."""
    for place, label in _rows(reading):
        known = log[place.topic, place.partition].setdefault(place.offset, label)
        if known != label:
            yield f"{place} is {label} to {reading.reader}, and was {known} before"


def _lost_or_misplaced(writing: Writing, log: Log, places: dict[Label, Place]) -> Iterator[str]:
    for number, place in writing.acknowledged.items():
        label = Label(writing.writer, number)
        if label not in places:
            yield f"lost: {label}, acknowledged at {place}"
        elif log[place.topic, place.partition].get(place.offset) != label:
            yield f"misplaced: {label}, acknowledged at {place}, is at {places[label]}"


def _doubled_or_out_of_order(writing: Writing, log: Log) -> Iterator[str]:
    seen: set[int] = set()
    for partition, rows in log.items():
        last = -1
        for offset in sorted(rows):
            writer, number = rows[offset]
            if writer != writing.writer:
                continue
            if number in seen:
                yield f"doubled: {rows[offset]}, again at {partition} {offset}"
            elif number < last:
                yield f"out of order: {rows[offset]} at {partition} {offset} comes after number {last}"
            seen.add(number)
            last = max(last, number)


def _skipped(reading: Reading, log: Log, writing_of: dict[str, Writing]) -> Iterator[str]:
    """Yields records that were skipped or read again between two polls of a partition."""
    next_offsets: dict[tuple[str, int], int] = {}
    for row in reading.rows:
        if row is None:
            next_offsets.clear()
            continue
        (topic, partition, offset), _ = row
        expected = next_offsets.get((topic, partition), offset)
        if offset < expected:
            yield f"{reading.reader} went back to {row[0]} from {expected}"
        rows = log[topic, partition]
        for between in range(expected, offset):
            if between in rows and _must_be_read(reading, rows[between], writing_of):
                yield f"{reading.reader} skipped {rows[between]} at {topic} {partition} {between}"
        next_offsets[topic, partition] = offset + 1


def _must_be_read(reading: Reading, label: Label, writing_of: dict[str, Writing]) -> bool:
    return not reading.only_committed or writing_of[label.writer].is_committed(label.number) is True


def _uncommitted(reading: Reading, writing_of: dict[str, Writing]) -> Iterator[str]:
    for place, label in _rows(reading):
        if writing_of[label.writer].is_committed(label.number) is False:
            yield f"{reading.reader} read {label} at {place}, which was aborted"


def _torn(reading: Reading, writing_of: dict[str, Writing]) -> Iterator[str]:
    """Yields transactions with an unknown outcome of which only a part was read."""
    if not reading.only_committed:
        return
    read = {label for _, label in _rows(reading)}
    for writing in writing_of.values():
        seen: dict[int, set[bool]] = defaultdict(set)
        for number in writing.acknowledged:
            if writing.is_committed(number) is None:
                seen[writing.transaction_of[number]].add(Label(writing.writer, number) in read)
        yield from (f"torn: transaction {number} of {writing.writer}" for number, both in seen.items() if len(both) == 2)


def _unseen(consumer: str, readings: list[Reading], log: Log, writing_of: dict[str, Writing]) -> Iterator[str]:
    """Yields acknowledged records in the topics of the readings that none of the readings contains."""
    read = {label for reading in readings for _, label in _rows(reading)}
    topics = {place.topic for reading in readings for place, _ in _rows(reading)}
    for writing in writing_of.values():
        for number, place in writing.acknowledged.items():
            label = Label(writing.writer, number)
            if place.topic in topics and label not in read and _must_be_read(readings[0], label, writing_of):
                yield f"unseen: {label} at {place} was not read by {consumer}"
