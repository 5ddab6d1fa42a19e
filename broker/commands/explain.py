"""`odradek explain`: prints the requests and responses in a capture file of odradek, tcpdump or Wireshark."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

from .options import DIAGRAM_HAS_NO_LINES, add_format_option, add_trace_options, refuse

EXAMPLES = """\
examples:
  odradek explain orders.pcapng
  odradek explain orders.pcapng --filter 'api=Produce and error' --verbose
  odradek explain - --json
  odradek explain orders.pcapng --format html
"""


def add_options(explain: argparse.ArgumentParser) -> None:
    explain.add_argument("file", metavar="FILE", help="a pcapng or pcap file; - is a pipe, such as that of tcpdump -w -")
    add_trace_options(explain)
    add_format_option(explain)


def run(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Prints the entries. Returns 2 if the file cannot be read or is not a capture, and 0 otherwise, even if the capture is truncated."""
    from ..control_errors import InvalidControl
    from ..process.terminal import has_colours
    from ..wire.filters import parse_filter
    from ..wire.lines import printing_of
    from ..wire.reading.capture import CaptureReader
    from ..wire.reading.file_format import NotACapture
    from .capture_input import open_capture, report_problems
    from .trace import draw

    if options.format is not None and (options.json or options.verbose):
        return refuse(DIAGRAM_HAS_NO_LINES)
    printing = printing_of(verbose=options.verbose, as_json=options.json, colours=has_colours(sys.stdout, environ))
    try:
        selects = parse_filter(options.filter) if options.filter else None
        with open_capture(options.file) as stream:
            capture = CaptureReader(stream)
            selected = (entry for entry in capture.entries() if selects is None or selects(entry))
            if options.format is not None:
                draw(list(selected), options.format)
            else:
                for entry in selected:
                    print(printing.of(entry))
        sys.stdout.flush()
    except InvalidControl as error:
        return refuse(str(error))
    except NotACapture as error:
        return refuse(f"{options.file} is not a capture: {error}")
    except BrokenPipeError:
        raise
    except OSError as error:
        return refuse(f"cannot read {options.file}: {error.strerror or error}")
    report_problems(capture)
    return 0
