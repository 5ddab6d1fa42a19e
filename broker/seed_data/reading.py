"""Reads seed data: files of JSON Lines (.jsonl) and of CSV (.csv), a folder with such files, or a pattern such as fixtures/*.jsonl.

An entry that names no topic belongs to the topic with the name of the file. The columns of CSV are the fields of a record, named in the
first line; an empty cell is null, `headers` are a JSON object or list, and a cell such as {"base64": "/w=="} holds bytes.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import TextIOWrapper
from json import JSONDecodeError, loads
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from ...protocol.regular_files import open_to_read
from ..plurals import counted
from ..settings.properties import InvalidConfig
from .entries import BASE64, RECORD_FIELDS, InvalidSeedData, SeedRecord, SeedTopic, entry_of

SUFFIXES = (".jsonl", ".csv")
INTEGERS = ("partition", "timestamp")
MAX_CELL_CHARACTERS = 1 << 30

Place = str | PathLike[str]


def files_of(places: Place | Sequence[Place]) -> list[Path]:
    """Returns the files of one or several files, folders or patterns, in the order of their names.

    Raises InvalidConfig for a place without any.
    """
    found: list[Path] = []
    for place in [places] if isinstance(places, str | PathLike) else places:
        path = Path(place)
        files = [each for each in path.iterdir() if each.suffix in SUFFIXES] if path.is_dir() else _matching(path)
        if not files:
            kinds = "a file, a folder with .jsonl or .csv files, or a pattern such as data/*.jsonl"
            raise InvalidConfig(f"no seed data at {place}: give {kinds}")
        found += sorted(files)
    return found


def _matching(pattern: Path) -> list[Path]:
    """Returns the files that match a pattern, which may be absolute."""
    return list(Path(pattern.anchor).glob(str(pattern.relative_to(pattern.anchor))))


def read_entries(files: Iterable[Path], on_bytes: Callable[[int], object] | None = None) -> Iterator[tuple[str, SeedTopic | SeedRecord]]:
    """Yields the entries of files, each with its place such as orders.jsonl:3, for messages about it.

    `on_bytes` is called with the number of bytes that have been read since the call before.
    Raises InvalidConfig for a line that is not an entry, and for a file that cannot be read or is of another kind.
    """
    for file in files:
        if file.suffix not in SUFFIXES:
            raise InvalidConfig(f"{file}: seed data is read from .jsonl and .csv files")
        try:
            with open_to_read(file) as stream, TextIOWrapper(stream, "utf-8", newline="") as lines:
                counted = lines if on_bytes is None else _report_bytes(lines, stream, on_bytes)
                yield from entries_of(str(file), file.stem, numbered_objects(file.suffix, counted))
        except OSError as error:
            raise InvalidConfig(f"cannot read {file}: {error.strerror or error}") from None


def _report_bytes(lines: Iterable[str], stream: BinaryIO, on_bytes: Callable[[int], object]) -> Iterator[str]:
    """Yields lines, and tells how far their stream has been read, which is ahead of the lines."""
    before = 0
    for line in lines:
        yield line
        if (position := stream.tell()) != before:
            on_bytes(position - before)
            before = position


def entries_of(source: str, default_topic: str, objects: Iterator[tuple[int, Any]]) -> Iterator[tuple[str, SeedTopic | SeedRecord]]:
    """Yields the entries that numbered objects describe, each with its place in the source. Raises InvalidConfig."""
    number = 0
    try:
        for number, line in objects:
            if not isinstance(line, dict):
                raise InvalidSeedData(f"must be a JSON object, not {line!r}"[:200])
            yield f"{source}:{number}", entry_of(line, default_topic)
    except InvalidSeedData as error:
        raise InvalidConfig(f"{source}:{number}: {error}") from None
    except (JSONDecodeError, csv.Error, UnicodeDecodeError) as error:
        raise InvalidConfig(f"{source}: after line {number}: {error}") from None


def numbered_objects(suffix: str, lines: Iterable[str]) -> Iterator[tuple[int, Any]]:
    """Yields the objects in the lines of a file with one of SUFFIXES, each with the number of its line."""
    return _json_lines(lines) if suffix == ".jsonl" else _csv_lines(lines)


def _json_lines(lines: Iterable[str]) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield number, loads(line)


def _csv_lines(lines: Iterable[str]) -> Iterator[tuple[int, Any]]:
    csv.field_size_limit(MAX_CELL_CHARACTERS)
    rows = csv.DictReader(lines, strict=True)
    if unknown := [name for name in rows.fieldnames or () if name not in RECORD_FIELDS]:
        raise InvalidSeedData(f"unknown column {unknown[0]!r}; the columns are {', '.join(RECORD_FIELDS)}")
    for row in rows:
        if None in row or None in row.values():
            raise InvalidSeedData(f"line {rows.line_num} does not have {counted(len(rows.fieldnames or ()), 'cell')}")
        yield rows.line_num, {name: _cell(name, cell) for name, cell in row.items() if cell != ""}


def _cell(name: str, cell: str) -> Any:
    if name == "headers" or cell.startswith(BASE64):
        return loads(cell)
    return int(cell) if name in INTEGERS and cell.lstrip("-").isdecimal() else cell
