"""The command line `odradek`. Its commands are in commands/.

Each command imports its modules when it runs, so that a health check, which needs few of them, starts quickly.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from .. import __version__
from .commands import healthcheck, serve
from .commands.options import Parser

EXAMPLES = """\
examples:
  odradek serve                                      two nodes at 127.0.0.1:9092 and 127.0.0.1:9093
  odradek serve --nodes 1 --topic orders:4           one node with a topic of four partitions
  odradek serve --port 0                             free ports; the first line of output contains them
"""
COMMANDS = {"serve": serve.run, "healthcheck": healthcheck.run}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command. Returns 0 for success, 1 for an unhealthy cluster, and 2 for an error in the options or settings."""
    parser = _parser()
    options = parser.parse_args(argv)
    if options.command is None:
        parser.print_help()
        return 0
    try:
        return COMMANDS[options.command](options, os.environ)
    except KeyboardInterrupt:
        return 0


def _parser() -> Parser:
    parser = Parser(prog="odradek", description="A small Kafka for tests and laptops.", epilog=EXAMPLES)
    parser.add_argument("--version", action="version", version=f"odradek {__version__}", help="print the version")
    commands = parser.add_subparsers(dest="command", title="commands", metavar="serve|healthcheck")
    serve.add_options(commands.add_parser("serve", help="run a cluster until Ctrl-C", epilog=serve.EXAMPLES))
    help_text = "exit with 0 if the brokers answer, otherwise with 1"
    healthcheck.add_options(commands.add_parser("healthcheck", help=help_text, epilog=healthcheck.EXAMPLES))
    return parser
