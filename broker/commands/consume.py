"""`odradek consume`: prints the records of topics."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from .cluster_access import with_client
from .options import SCHEMA_FORMATS, add_cluster_options, add_registry_option, count, refuse, registry_client, start

if TYPE_CHECKING:
    from ...protocol.batches.records import Record
    from ...protocol.client.connection import TopicPartition
    from ..client.cluster_client import ClusterClient
    from ..client.reading import Reader
    from ..client.schema_registry import SchemaRegistryClient

    Form: TypeAlias = Callable[[TopicPartition, Record], bytes]

EXAMPLES = """\
examples:
  odradek consume orders                             from the first record to the last one of now
  odradek consume orders --from latest --follow      new records until Ctrl-C
  odradek consume orders --format '%p %o %k: %v\\n'
  odradek consume orders --output json --from -10    JSON Lines, which odradek produce reads
  odradek consume orders --group billing --count 5   as a member of a group, whose offsets are committed
  odradek consume orders --value-format avro         values as JSON, by the schemas of a schema registry

placeholders of --format: %t topic, %p partition, %o offset, %T timestamp, %k key, %v value, %h headers
"""
DEFAULT_FORMAT = "%v\\n"
ISOLATION_LEVELS = ("read_committed", "read_uncommitted")


def run(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Prints records. Returns 1 if the cluster cannot be reached or refuses, and 2 for a mistake in the call."""
    if options.output == "json" and options.format is not None:
        return refuse("--format has no effect on JSON; leave out one of --format and --output json")
    if options.group is not None and (options.partition or options.start is not None):
        return refuse("--partition and --from have no effect with --group; move the offsets with odradek groups reset-offsets")
    try:
        form = _form(options, environ)
        registry = _registry(options, environ)
    except ValueError as error:
        return refuse(str(error))
    if registry is None:
        return with_client(options, environ, lambda client: _consume(client, options, form))
    decoding = _decode_before(form, registry, options)
    with closing(registry):
        return with_client(options, environ, lambda client: _consume(client, options, decoding))


def _registry(options: argparse.Namespace, environ: Mapping[str, str]) -> SchemaRegistryClient | None:
    """Returns a client of the schema registry if keys or values are shown by its schemas. Raises ValueError if its URL is malformed."""
    if options.key_format is None and options.value_format is None:
        return None
    return registry_client(options, environ)


def _decode_before(form: Form | None, registry: SchemaRegistryClient, options: argparse.Namespace) -> Form:
    """Returns the form of records whose keys and values are decoded first."""
    from .record_formats import as_text
    from .schema_formats import SchemaDecoder

    decoder, decoded = SchemaDecoder(registry), form or as_text(DEFAULT_FORMAT)

    def write(place: TopicPartition, record: Record) -> bytes:
        where = f"{place.topic}-{place.partition} offset {record.offset}"
        key = decoder.decode_field(record.key, options.key_format, f"{where}: key")
        value = decoder.decode_field(record.value, options.value_format, f"{where}: value")
        return decoded(place, record._replace(key=key, value=value))

    return write


def _form(options: argparse.Namespace, environ: Mapping[str, str]) -> Form | None:
    """Returns the function that writes a record, None for the default format, whose lines are written in blocks. Raises ValueError."""
    from ..process.terminal import has_colours
    from .record_formats import as_json, as_text, for_terminal

    if options.output == "json":
        return as_json
    text = options.format or DEFAULT_FORMAT
    if sys.stdout.isatty():
        return for_terminal(text, colours=has_colours(sys.stdout, environ))
    return None if text == DEFAULT_FORMAT else as_text(text)


def _consume(client: ClusterClient, options: argparse.Namespace, form: Form | None) -> None:
    from ..client.group_reader import GroupReader
    from ..client.offsets import READ_COMMITTED, READ_UNCOMMITTED

    isolation_level = READ_COMMITTED if options.isolation_level == ISOLATION_LEVELS[0] else READ_UNCOMMITTED
    if options.group is None:
        _print(_reader(client, options, isolation_level), options, form)
        return
    with GroupReader(client, options.group, options.topics, follow=options.follow, isolation_level=isolation_level) as reader:
        _print(reader, options, form, reader.commit)


def _reader(client: ClusterClient, options: argparse.Namespace, isolation_level: int) -> Reader:
    from ..client.cluster_client import ClientError
    from ..client.offsets import EARLIEST, LATEST, Start, list_offsets, starts
    from ..client.reading import Reader

    leaders = client.leaders(client.topics(options.topics))
    if options.partition:
        if missing := set(options.partition) - {each.partition for each in leaders}:
            raise ClientError(f"there is no partition {min(missing)} in {', '.join(options.topics)}")
        leaders = {each: node for each, node in leaders.items() if each.partition in options.partition}
    positions = client.retry(lambda: starts(client, leaders, options.start or Start(timestamp=EARLIEST), isolation_level))
    ends = None if options.follow else client.retry(lambda: list_offsets(client, leaders, LATEST, isolation_level))
    return Reader(client, leaders, positions, ends, isolation_level)


def _print(reader: Reader, options: argparse.Namespace, form: Form | None, on_round: Callable[[], None] = lambda: None) -> None:
    """Prints the records of a reader, and calls `on_round` when those of one round of requests have been written."""
    from ..process.terminal import ProgressBar

    out, left = sys.stdout.buffer, options.count
    total = reader.remaining if left is None or reader.remaining is None else min(reader.remaining, left)
    with ProgressBar("records", total, shown=not sys.stdout.isatty()) as progress:
        while left != 0 and not reader.is_complete:
            for number, text in _lines(reader, left) if form is None else _records(reader, left, form):
                _write_all(out, text)
                progress.advance(number)
                left = None if left is None else left - number
            out.flush()
            on_round()


def _write_all(out: BinaryIO, text: bytes) -> None:
    """Writes a text to the end, because the output has no buffer with PYTHONUNBUFFERED=1, and may then take a part of it."""
    left = memoryview(text)
    while left:
        left = left[out.write(left) :]


def _records(reader: Reader, limit: int | None, form: Form) -> Iterator[tuple[int, bytes]]:
    """Yields (1, the text of a record) for at most `limit` records of one round."""
    from itertools import islice

    return ((1, form(place, record)) for place, record in islice(reader.poll(), limit))


def _lines(reader: Reader, limit: int | None) -> Iterator[tuple[int, bytes]]:
    """Yields (the number of records, their values as lines) for at most `limit` records of one round, in blocks."""
    from .record_formats import NULL

    for values in reader.poll_values(limit):
        lines = [NULL if value is None else value for value in values]
        yield len(lines), b"\n".join([*lines, b""])


def add_options(consume: argparse.ArgumentParser) -> None:
    consume.add_argument("topics", nargs="+", metavar="TOPIC", help="the topics to read")
    start_help = "earliest, latest, an offset, -N for the last N records, or a time such as 2026-01-31T12:00:00Z (default: earliest)"
    consume.add_argument("--from", dest="start", type=start, metavar="PLACE", help=start_help)
    consume.add_argument("--count", type=count, metavar="N", help="stop after N records (default: no limit)")
    consume.add_argument("--follow", action="store_true", help="wait for new records, instead of stopping after the last one of now")
    partition_help = "read this partition only; repeatable"
    consume.add_argument("--partition", type=count, action="append", default=[], metavar="N", help=partition_help)
    consume.add_argument("--group", metavar="GROUP", help="read as a member of this group, and commit what has been printed (Kafka 4.0)")
    isolation_help = "whether records of open and aborted transactions are left out (default: %(default)s)"
    consume.add_argument("--isolation-level", choices=ISOLATION_LEVELS, default=ISOLATION_LEVELS[0], help=isolation_help)
    consume.add_argument("--format", metavar="FORMAT", help="form of a record (default: '%%v\\n')")
    for part in ("key", "value"):
        format_help = f"show {part}s as JSON, by the schemas of a schema registry (default: the {part}s as they are)"
        consume.add_argument(f"--{part}-format", choices=SCHEMA_FORMATS, help=format_help)
    add_registry_option(consume)
    add_cluster_options(consume, "text")
