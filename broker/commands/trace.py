"""`odradek trace`: follows the requests and responses of a running cluster from another process, through its control listener."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from .options import DIAGRAM_HAS_NO_LINES, add_control_options, add_format_option, add_trace_options, control_address, count, refuse

if TYPE_CHECKING:
    from ..wire.exchange import Entry

EXAMPLES = """\
examples:
  odradek trace
  odradek trace --filter 'api=Produce and error' --verbose
  odradek trace --since 0 --json
  odradek trace --format mermaid      a sequence diagram of what happens until Ctrl-C
"""
FAILED = 1


def run(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Prints entries until Ctrl-C or the end of the cluster. Returns 1 if no control listener answers, 2 for a mistake in the call."""
    from .trace_client import NoStream, TraceRefused

    if options.format is not None and (options.json or options.verbose):
        return refuse(DIAGRAM_HAS_NO_LINES)
    try:
        if options.format is None:
            _print(options, environ)
        else:
            draw(_collect(follow_record(options, environ)), options.format)
    except TraceRefused as error:
        return refuse(str(error))
    except NoStream as error:
        print(f"odradek trace: {error}", file=sys.stderr)
        return FAILED
    return 0


def _print(options: argparse.Namespace, environ: Mapping[str, str]) -> None:
    from ..process.terminal import has_colours
    from ..wire.lines import printing_of
    from .trace_client import Missed

    printing = printing_of(verbose=options.verbose, as_json=options.json, colours=has_colours(sys.stdout, environ))
    for entry in follow_record(options, environ):
        text = printing.omission(entry.entries) if isinstance(entry, Missed) else printing.of(entry)
        print(text, flush=True)


def _collect(entries: Iterator[Entry | Missed]) -> list[Entry]:
    """Returns the entries until Ctrl-C or the end of the cluster."""
    from ..plurals import counted
    from .trace_client import Missed

    found: list[Entry] = []
    try:
        for entry in entries:
            if isinstance(entry, Missed):
                missing = counted(entry.entries, "entry is", "entries are")
                print(f"odradek trace: {missing} missing, because the record keeps only the latest ones", file=sys.stderr)
            else:
                found.append(entry)
    except KeyboardInterrupt:
        pass
    return found


def draw(entries: Sequence[Entry], format_name: str) -> None:
    """Prints a sequence diagram."""
    from ..wire.diagrams.formats import FORMATS

    print(FORMATS[format_name](entries), end="", flush=True)


def follow_record(options: argparse.Namespace, environ: Mapping[str, str]) -> Iterator[Entry | Missed]:
    """Yields the entries that the options select, as they become complete.

    Raises Refused for a mistake in the call, and NoStream if no control listener answers.
    """
    from .trace_client import TraceRefused, follow

    token = options.control_token or environ.get("ODRADEK_CONTROL_TOKEN")
    try:
        host, port = control_address(options.control, environ)
    except argparse.ArgumentTypeError as error:
        raise TraceRefused(str(error)) from None
    return follow(host, port, token, filter_text=options.filter or "", since=options.since)


def add_options(command: argparse.ArgumentParser) -> None:
    add_control_options(command)
    add_trace_options(command)
    add_format_option(command)
    command.add_argument(
        "--since", type=count, metavar="N", help="begin with the recorded entry of this number; 0: all (default: new ones)"
    )


if TYPE_CHECKING:
    from .trace_client import Missed
