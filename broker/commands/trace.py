"""`odradek trace`: follows the requests and responses of a running cluster from another process, through its control listener."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from .options import add_trace_options, address, count, refuse

if TYPE_CHECKING:
    from ..wire.exchange import Entry

EXAMPLES = """\
examples:
  odradek trace
  odradek trace --filter 'api=Produce and error' --verbose
  odradek trace --since 0 --json
"""
DEFAULT_CONTROL = "127.0.0.1:9099"
FAILED = 1


def run(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Prints entries until Ctrl-C or the end of the cluster. Returns 1 if no control listener answers, 2 for a mistake in the call."""
    from ..wire.printing import printed_by
    from .trace_client import Missed, NoStream, Refused

    printing = printed_by(verbose=options.verbose, as_json=options.json, colours=sys.stdout.isatty())
    try:
        for entry in followed(options, environ):
            text = printing.missed(entry.entries) if isinstance(entry, Missed) else printing.of(entry)
            print(text, flush=True)
    except Refused as error:
        return refuse(str(error))
    except NoStream as error:
        print(f"odradek trace: {error}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        sys.stdout = None  # so that the interpreter does not try to flush it
    return 0


def followed(options: argparse.Namespace, environ: Mapping[str, str]) -> Iterator[Entry | Missed]:
    """Yields the entries that the options select, as they become complete.

    Raises Refused for a mistake in the call, and NoStream if no control listener answers.
    """
    from .trace_client import Refused, follow

    control = options.control or environ.get("ODRADEK_CONTROL") or DEFAULT_CONTROL
    token = options.control_token or environ.get("ODRADEK_CONTROL_TOKEN")
    try:
        host, port = address(control)
    except argparse.ArgumentTypeError as error:
        raise Refused(str(error)) from None
    return follow(host, port, token, filter_text=options.filter or "", since=options.since)


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--control", metavar="HOST:PORT", help=f"address of the control listener (default: ODRADEK_CONTROL, or {DEFAULT_CONTROL})"
    )
    command.add_argument("--control-token", metavar="TOKEN", help="token of the control listener (default: ODRADEK_CONTROL_TOKEN)")
    add_trace_options(command)
    command.add_argument(
        "--since", type=count, metavar="N", help="begin with the recorded entry of this number; 0: all (default: new ones)"
    )


if TYPE_CHECKING:
    from .trace_client import Missed
