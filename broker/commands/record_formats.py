"""The forms in which `odradek consume` prints records: a format with placeholders, or JSON Lines with the fields of seed data."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from json import dumps

from ...protocol.batches.records import Record
from ...protocol.client.connection import TopicPartition
from ..process.terminal import CYAN, DIM, paint
from ..seed_data.entries import plain

ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\\": "\\"}
NULL = b"null"
Field = Callable[[TopicPartition, Record], bytes]


def _headers(record: Record) -> bytes:
    return b",".join(name.encode() + b"=" + (NULL if value is None else value) for name, value in record.headers)


FIELDS: Mapping[str, Field] = {
    "t": lambda place, _: place.topic.encode(),
    "p": lambda place, _: b"%d" % place.partition,
    "o": lambda _, record: b"%d" % record.offset,
    "T": lambda _, record: b"%d" % record.timestamp,
    "k": lambda _, record: NULL if record.key is None else record.key,
    "v": lambda _, record: NULL if record.value is None else record.value,
    "h": lambda _, record: _headers(record),
}
COLOURS = {"k": CYAN, "t": DIM, "p": DIM, "o": DIM, "T": DIM, "h": DIM}


def parse_format(text: str) -> list[str | Field]:
    r"""Returns the parts of a format: texts, and functions for placeholders such as %k. Raises ValueError.

    \n, \t, \r, \0 and \\ are characters, and %% is a percent sign.
    """
    return [part if isinstance(part, str) else FIELDS[part[0]] for part in _parts(text)]


def _parts(text: str) -> list[str | tuple[str]]:
    """Returns the texts of a format, and its placeholders as tuples of a letter."""
    parts: list[str | tuple[str]] = []
    for literal, escape, placeholder in re.findall(r"([^%\\]+)|\\(.?)|%(.?)", text, re.DOTALL):
        if literal:
            parts.append(literal)
        elif placeholder == "%":
            parts.append("%")
        elif placeholder in FIELDS:
            parts.append((placeholder,))
        elif escape in ESCAPES:
            parts.append(ESCAPES[escape])
        else:
            known = ", ".join(f"%{name}" for name in FIELDS)
            raise ValueError(f"invalid format '{text}': use {known}, %% and \\n, \\t, \\r, \\0, \\\\")
    return parts


def as_text(text: str) -> Callable[[TopicPartition, Record], bytes]:
    """Returns the function that writes a record as a format says, with keys and values as they are. Raises ValueError."""
    parts = [part.encode() if isinstance(part, str) else part for part in parse_format(text)]
    return lambda place, record: b"".join(part if isinstance(part, bytes) else part(place, record) for part in parts)


def for_terminal(text: str, *, colours: bool) -> Callable[[TopicPartition, Record], bytes]:
    """Returns the function that writes a record for a person: control characters of records are escaped. Raises ValueError."""
    parts = _parts(text)

    def show(part: str | tuple[str], place: TopicPartition, record: Record) -> str:
        if isinstance(part, str):
            return part
        found = FIELDS[part[0]](place, record).decode(errors="backslashreplace")
        found = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in found)
        return paint(COLOURS[part[0]], found) if colours and part[0] in COLOURS else found

    return lambda place, record: "".join(show(part, place, record) for part in parts).encode()


def as_json(place: TopicPartition, record: Record) -> bytes:
    """Returns a record as a line of JSON with the fields of seed data and its offset."""
    fields = {
        "topic": place.topic,
        "partition": place.partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": plain(record.key),
        "value": plain(record.value),
    }
    headers = {"headers": [[name, plain(value)] for name, value in record.headers]} if record.headers else {}
    return dumps(fields | headers, ensure_ascii=False).encode() + b"\n"
