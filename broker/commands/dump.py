"""`odradek dump`: writes the topics and records of a running cluster as seed data, which `odradek serve --data` reads."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TextIO

from .options import add_control_options, refuse

if TYPE_CHECKING:
    from ..controls.declaration import Control
    from ..process.terminal import ProgressBar

EXAMPLES = """\
examples:
  odradek dump --control 127.0.0.1:8080 > all.jsonl
  odradek dump --control 127.0.0.1:8080 orders payments --directory fixtures
  odradek dump --control 127.0.0.1:8080 orders --format csv
  odradek serve --data fixtures
"""
FAILED = 1
PAGE_RECORDS = 10_000
COLUMNS = ("partition", "timestamp", "key", "value", "headers", "transaction")


class Failed(Exception):
    """The cluster cannot be asked, or it has refused a request."""


class _Cluster:
    """A cluster behind its control listener."""

    def __init__(self, host: str, port: int, token: str | None) -> None:
        self._access = host, port, token

    def read(self, words: str, **arguments: object) -> Any:
        """Returns the result of a control that only reads, as plain values. Raises Failed."""
        from json import loads

        from .ctl_client import NoControlAnswer, send

        try:
            answer = send(*self._access, _find_control(words), [(name, str(value)) for name, value in arguments.items()], {})
        except NoControlAnswer as error:
            raise Failed(str(error)) from None
        if answer.status >= 400:
            raise Failed(answer.detail)
        return loads(answer.body)


def _find_control(words: str) -> Control:
    from ..controls import cluster_controls  # noqa: F401  (declares the controls)
    from ..controls.declaration import CONTROLS

    return CONTROLS[tuple(words.split())]


def run(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Writes the dump. Returns 0, 1 if the cluster cannot be read, and 2 for a mistake in the call."""
    from ..process.terminal import ProgressBar
    from .options import control_address

    if options.format == "csv" and options.directory is None and len(options.topics) != 1:
        return refuse("CSV has no column for the topic on standard output: name one topic, or give --directory")
    try:
        host, port = control_address(options.control, environ)
    except argparse.ArgumentTypeError as error:
        return refuse(str(error))
    cluster = _Cluster(host, port, options.control_token or environ.get("ODRADEK_CONTROL_TOKEN"))
    try:
        topics = _choose(cluster, options.topics)
        with ProgressBar("records", _count_offsets(topics), shown=options.directory is not None or not sys.stdout.isatty()) as progress:
            for topic in topics:
                _write(topic, _records(cluster, topic, progress), options)
    except Failed as error:
        print(f"odradek: {error}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        raise
    except OSError as error:
        return refuse(f"cannot write to {options.directory or 'standard output'}: {error.strerror or error}")
    return 0


def _choose(cluster: _Cluster, names: list[str]) -> list[dict[str, Any]]:
    """Returns the topics with these names, or all that are not internal. Raises Failed for a name that is unknown."""
    topics = {topic["name"]: topic for topic in cluster.read("topic list") if not topic["internal"] or topic["name"] in names}
    if unknown := [name for name in names if name not in topics]:
        raise Failed(f"there is no topic {unknown[0]!r}; the topics are {', '.join(sorted(topics)) or 'none'}")
    return [topics[name] for name in names] or list(topics.values())


def _count_offsets(topics: list[dict[str, Any]]) -> int:
    """Returns how many offsets the logs of topics span, at most one for each record."""
    return sum(each["end_offset"] - each["start_offset"] for topic in topics for each in topic["partitions"])


def _write(topic: dict[str, Any], records: Iterator[dict[str, Any]], options: argparse.Namespace) -> None:
    import os
    from pathlib import Path

    from ...protocol.regular_files import open_to_write

    if options.directory is None:
        _write_to(sys.stdout, topic, records, options.format)
        sys.stdout.flush()
        return
    directory = Path(options.directory)
    directory.mkdir(parents=True, exist_ok=True)
    descriptor = open_to_write(directory / f"{topic['name']}.{options.format}")
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
        _write_to(file, topic, records, options.format)


def _write_to(file: TextIO, topic: dict[str, Any], records: Iterator[dict[str, Any]], form: str) -> None:
    import csv
    from json import dumps

    if form == "jsonl":
        described = {"topic": topic["name"], "partitions": len(topic["partitions"]), "configs": topic["configs"]}
        file.write(dumps(described, ensure_ascii=False) + "\n")
        for record in records:
            file.write(dumps({"topic": topic["name"], **record}, ensure_ascii=False) + "\n")
        return
    rows = csv.writer(file)
    rows.writerow(COLUMNS)
    for record in records:
        cells = (_unambiguous(record.get(name)) for name in COLUMNS)
        rows.writerow(["" if cell is None else cell if isinstance(cell, str | int) else dumps(cell, ensure_ascii=False) for cell in cells])


def _unambiguous(cell: Any) -> Any:
    """Returns the contents of a cell. Text that would be read as null or as bytes is written as bytes."""
    from base64 import b64encode

    from ..seed_data.entries import BASE64

    if isinstance(cell, str) and (not cell or cell.startswith(BASE64)):
        return {"base64": b64encode(cell.encode()).decode()}
    return cell


def _records(cluster: _Cluster, topic: dict[str, Any], progress: ProgressBar) -> Iterator[dict[str, Any]]:
    """Yields the records of a topic as seed data has them, in the order of partitions and offsets. They are read in pages."""
    for partition in topic["partitions"]:
        offset, index = partition["start_offset"], partition["partition"]
        while page := cluster.read("record list", topic=topic["name"], partition=index, offset=offset, limit=PAGE_RECORDS):
            for record in page:
                fields = {name: record[name] for name in COLUMNS if record[name] is not None or name == "value"}
                yield fields if fields["headers"] else {name: each for name, each in fields.items() if name != "headers"}
            progress.advance(page[-1]["offset"] + 1 - offset)
            offset = page[-1]["offset"] + 1


def add_options(dump: argparse.ArgumentParser) -> None:
    dump.add_argument("topics", nargs="*", metavar="TOPIC", help="the topics to write (default: all but the internal ones)")
    add_control_options(dump)
    dump.add_argument("--format", choices=("jsonl", "csv"), default="jsonl", help="JSON Lines (default) or CSV")
    dump.add_argument("--directory", metavar="DIR", help="write a file for each topic into this folder (default: standard output)")
