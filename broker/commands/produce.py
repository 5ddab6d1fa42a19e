"""`odradek produce`: writes records that it reads from standard input or a file."""

from __future__ import annotations

import argparse
import itertools
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from itertools import chain
from pathlib import Path
from select import select
from typing import TYPE_CHECKING, BinaryIO

from ..plurals import counted
from .cluster_access import with_client
from .options import SCHEMA_FORMATS, add_cluster_options, add_registry_option, count, pair, refuse, registry_client

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from ..client.cluster_client import ClusterClient
    from ..client.writing import Writer, Written
    from ..seed_data.entries import SeedRecord, SeedTopic
    from .schema_formats import SchemaEncoder

EXAMPLES = """\
examples:
  echo hello | odradek produce orders
  odradek produce orders --key-separator :           lines such as alice:hello, until Ctrl-D
  odradek produce orders --file orders.jsonl         keys, headers, timestamps, partitions and tombstones
  odradek dump | odradek produce --format jsonl      topics and records of another cluster
  odradek produce orders --value-format avro --schema order.avsc   each line is JSON that is written with a schema
"""
LINES, JSONL, CSV = "lines", "jsonl", "csv"
FORMATS = (LINES, JSONL, CSV)
COMPRESSIONS = ("none", "gzip", "snappy", "lz4", "zstd")
CHUNK_BYTES = 1 << 20
NO_TRANSACTIONS = "odradek produce does not write transactions; load the file with odradek serve --data"


def run(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Writes records. Returns 1 if the cluster cannot be reached or refuses, and 2 for a mistake in the call or in the input."""
    options.format = options.format or _format_of(options.file)
    if problem := _contradiction(options):
        return refuse(problem)
    return with_client(options, environ, lambda client: _produce(client, options, _encoder(options, environ)))


def _encoder(options: argparse.Namespace, environ: Mapping[str, str]) -> SchemaEncoder | None:
    """Returns the encoder of values, for which it registers the schema of the options, or None. Raises InvalidConfig and ClientError."""
    if options.value_format is None:
        return None
    from ..settings.properties import InvalidConfig
    from .schema_formats import SchemaEncoder

    try:
        client = registry_client(options, environ)
    except ValueError as error:
        raise InvalidConfig(str(error)) from None
    with closing(client):
        return SchemaEncoder(client, options.subject or f"{options.topic}-value", options.value_format, options.schema)


def _format_of(file: str | None) -> str:
    suffix = "" if file is None else Path(file).suffix[1:]
    return suffix if suffix in FORMATS else LINES


def _contradiction(options: argparse.Namespace) -> str | None:
    """Returns the reason why options cannot be combined."""
    if (options.value_format is None) != (options.schema is None):
        return "--value-format and --schema go together: give the file of the schema with which values are written"
    if options.value_format and options.topic is None and options.subject is None:
        return "name the topic, or the subject of the schema with --subject"
    if options.format != LINES:
        fixed = {"--key": options.key, "--key-separator": options.key_separator, "--header": options.header or None}
        fixed["--partition"] = options.partition
        given = [name for name, value in fixed.items() if value is not None]
        return f"{given[0]} is for lines; in {options.format}, each record has its own fields" if given else None
    if options.topic is None:
        return "name the topic, or give the records as JSON Lines with the field topic"
    if options.key is not None and options.key_separator is not None:
        return "--key and --key-separator cannot be combined; give one of them"
    return None


def _produce(client: ClusterClient, options: argparse.Namespace, encoder: SchemaEncoder | None) -> None:
    from ...protocol.batches.compression import Compression
    from ..client.writing import Writer
    from ..process.terminal import MEGABYTES, ProgressBar
    from ..settings.properties import InvalidConfig

    report = _Report(options.output == "json")
    try:
        with _open(options.file) as stream, ProgressBar(MEGABYTES, _size(stream), shown=not _is_mixed(stream, options)) as progress:
            writer = Writer(client, Compression[options.compression.upper()], report.add)
            blocks = _blocks(stream, writer.flush, progress.advance)
            if options.format == LINES and options.key_separator is None:
                _write_values(writer, options, blocks if encoder is None else _encode_lines(blocks, encoder))
            else:
                _write_entries(writer, client, _entries(options, chain.from_iterable(blocks)), encoder)
            writer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InvalidConfig(f"cannot read {options.file or 'standard input'}: {error.strerror or error}") from None
    report.finish()


def _write_values(writer: Writer, options: argparse.Namespace, blocks: Iterable[Sequence[bytes]]) -> None:
    """Writes lines, which are the values of records with the same key and headers."""
    from ..client.writing import Common

    key = None if options.key is None else options.key.encode()
    common = Common(options.topic, options.partition, key, _headers(options))
    for lines in blocks:
        writer.write_values(lines, common)


def _encode_lines(blocks: Iterable[Sequence[bytes]], encoder: SchemaEncoder) -> Iterator[Sequence[bytes]]:
    numbers = itertools.count(1)
    for lines in blocks:
        yield [encoder.encode(line, f"line {next(numbers)}") for line in lines]


def _write_entries(
    writer: Writer, client: ClusterClient, entries: Iterable[tuple[str, SeedRecord | SeedTopic]], encoder: SchemaEncoder | None
) -> None:
    from ..seed_data.entries import SeedTopic
    from ..settings.properties import InvalidConfig

    for place, entry in entries:
        if isinstance(entry, SeedTopic):
            _create(client, entry)
        elif entry.transaction is not None:
            raise InvalidConfig(f"{place}: transaction: {NO_TRANSACTIONS}")
        elif encoder is None or entry.value is None:
            writer.write(entry)
        else:
            writer.write(entry._replace(value=encoder.encode(entry.value, place)))


def _is_mixed(stream: BinaryIO, options: argparse.Namespace) -> bool:
    """Returns whether the terminal that would show a bar shows the input or the output too."""
    return stream.isatty() or (options.output == "json" and sys.stdout.isatty())


class _Report:
    """Prints what has been written: a line of JSON for each batch, or one line of text at the end."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._records: dict[str, int] = {}

    def add(self, written: Written) -> None:
        if self._as_json:
            from json import dumps

            print(dumps(written._asdict()), flush=True)
        self._records[written.topic] = self._records.get(written.topic, 0) + written.records

    def finish(self) -> None:
        if not self._as_json:
            for topic, number in self._records.items():
                print(f"{counted(number, 'record')} written to {topic}")


def _create(client: ClusterClient, topic: SeedTopic) -> None:
    from ..client.topics import create_topics

    create_topics(client, [topic.name], topic.partitions, topic.replication_factor, topic.configs, may_exist=True)


def _open(file: str | None) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer) if file in (None, "-") else Path(str(file)).open("rb")


def _size(stream: BinaryIO) -> int | None:
    """Returns the number of bytes to read if the stream is a file."""
    try:
        status = os.fstat(stream.fileno())
    except OSError:  # a stream of a test has no file
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _blocks(stream: BinaryIO, before_wait: Callable[[], None], on_bytes: Callable[[int], None]) -> Iterator[list[bytes]]:
    """Yields lists of lines without their ends. `before_wait` is called before a read that has to wait for input."""
    rest = b""
    while chunk := stream.read1(CHUNK_BYTES):  # type: ignore[attr-defined]
        *lines, rest = (rest + chunk).split(b"\n")
        yield lines
        on_bytes(len(chunk))
        if not _has_input(stream):
            before_wait()
    if rest:
        yield [rest]


def _has_input(stream: BinaryIO) -> bool:
    """Returns whether a read does not have to wait."""
    try:
        return bool(select([stream], [], [], 0)[0])
    except OSError:  # a stream of a test has no file
        return False


def _entries(options: argparse.Namespace, lines: Iterator[bytes]) -> Iterator[tuple[str, SeedRecord | SeedTopic]]:
    from ..seed_data.reading import entries_of, numbered_objects

    if options.format == LINES:
        return _records(options, lines)
    objects = numbered_objects(f".{options.format}", (line.decode() + "\n" for line in lines))
    topic = options.topic or (Path(options.file).stem if options.file else "")
    return entries_of(options.file or "standard input", topic, ((number, _without_offset(each)) for number, each in objects))


def _without_offset(entry: object) -> object:
    """Returns an entry without the field `offset`, so that the output of odradek consume can be written again."""
    return {name: value for name, value in entry.items() if name != "offset"} if isinstance(entry, dict) else entry


def _headers(options: argparse.Namespace) -> tuple[tuple[str, bytes | None], ...]:
    return tuple((name, value.encode()) for name, value in options.header)


def _records(options: argparse.Namespace, lines: Iterable[bytes]) -> Iterator[tuple[str, SeedRecord]]:
    """Yields the records of lines that contain a key and a value."""
    from ..seed_data.entries import SeedRecord
    from ..settings.properties import InvalidConfig

    headers, separator = _headers(options), options.key_separator.encode()
    for number, line in enumerate(lines, 1):
        key, found, value = line.partition(separator)
        if not found:
            raise InvalidConfig(f"line {number} has no key: there is no {options.key_separator!r} in it")
        yield f"line {number}", SeedRecord(options.topic, options.partition, None, key, value, headers, None)


def add_options(produce: argparse.ArgumentParser) -> None:
    produce.add_argument("topic", nargs="?", metavar="TOPIC", help="the topic of records that do not name their own")
    produce.add_argument("--file", metavar="FILE", help="read this file (default: standard input)")
    format_help = "each line is a value, or JSON Lines or CSV as for odradek serve --data (default: by the file's name, or lines)"
    produce.add_argument("--format", choices=FORMATS, help=format_help)
    produce.add_argument("--key", metavar="KEY", help="the key of all records")
    produce.add_argument("--key-separator", metavar="TEXT", help="the text that separates the key from the value in each line")
    header_help = "a header of all records; repeatable"
    produce.add_argument("--header", action="append", default=[], type=pair, metavar="NAME=VALUE", help=header_help)
    partition_help = "the partition of all records (default: the key chooses it)"
    produce.add_argument("--partition", type=count, metavar="N", help=partition_help)
    produce.add_argument("--compression", choices=COMPRESSIONS, default="none", help="codec of the batches (default: %(default)s)")
    value_help = "each value is JSON, and is written with the schema of --schema (default: values are written as they are)"
    produce.add_argument("--value-format", choices=SCHEMA_FORMATS, help=value_help)
    produce.add_argument("--schema", metavar="FILE", help="file of the schema, which is registered")
    produce.add_argument("--subject", metavar="SUBJECT", help="subject of the schema (default: TOPIC-value)")
    add_registry_option(produce)
    add_cluster_options(produce, "text")
