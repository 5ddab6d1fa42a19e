"""`odradek explain`: shows the requests and responses in a capture file of odradek, tcpdump or Wireshark."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ..control_errors import InvalidControl
from ..wire.exchange import Entry
from ..wire.filters import parsed
from ..wire.json_form import json_of_entry
from ..wire.lines import Lines
from ..wire.reading.capture import Capture
from ..wire.reading.file_format import NotACapture
from .options import refuse

PIPE = "-"
EXAMPLES = """\
examples:
  odradek explain orders.pcapng
  odradek explain orders.pcapng --filter 'api=Produce and error' --verbose
  tcpdump -i lo -w - tcp | odradek explain - --json
"""


def add_options(explain: argparse.ArgumentParser) -> None:
    explain.add_argument("file", metavar="FILE", help="a pcapng or pcap file; - is a pipe")
    explain.add_argument("--filter", default="", metavar="FILTER", help="show only some, such as 'api=Produce and error'")
    shape = explain.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="print one JSON object per line")
    explain.add_argument("--verbose", action="store_true", help="also show the fields of requests and responses")


def run(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Prints the entries. Returns 2 if the file cannot be read or is no capture, and 0 otherwise, even if the capture is truncated."""
    try:
        selects = parsed(options.filter) if options.filter else None
        with opened(options.file) as stream:
            capture = Capture(stream)
            shown = _form(options)
            for entry in capture.entries():
                if selects is None or selects(entry):
                    print(shown(entry))
            sys.stdout.flush()
    except InvalidControl as error:
        return refuse(str(error))
    except NotACapture as error:
        return refuse(f"{options.file} is not a capture: {error}")
    except BrokenPipeError:
        return _end_of_reader()
    except OSError as error:
        return refuse(f"cannot read {options.file}: {error.strerror or error}")
    report_problems(capture)
    return 0


@contextmanager
def opened(name: str) -> Iterator[BinaryIO]:
    """Opens a capture file, or the standard input. Raises OSError."""
    if name == PIPE:
        yield sys.stdin.buffer
    else:
        with Path(name).open("rb") as stream:
            yield stream


def report_problems(capture: Capture) -> None:
    """Prints a line for what could not be read of a capture."""
    if capture.problem is not None:
        print(f"odradek: {capture.problem}", file=sys.stderr)
    if capture.encrypted:
        connections = f"{capture.encrypted} connection{'s' * (capture.encrypted > 1)}"
        print(f"odradek: {connections} with TLS cannot be read; odradek serve --capture writes decrypted captures", file=sys.stderr)


def _form(options: argparse.Namespace) -> Callable[[Entry], str]:
    if options.json:
        return lambda entry: json.dumps(json_of_entry(entry, verbose=options.verbose))
    return Lines(colours=sys.stdout.isatty(), verbose=options.verbose).of


def _end_of_reader() -> int:
    """Ends quietly, because the program that read the output, such as `head`, has ended."""
    sys.stderr.close()  # Python would report that it cannot flush the standard output
    return 0
