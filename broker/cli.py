"""The command line `odradek`. Its commands are in commands/.

Each command imports its modules when it runs, so that a health check, which needs few of them, starts quickly.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from .. import __version__
from .commands import completion, consume, doctor, dump, explain, groups, healthcheck, produce, replay, serve, topics, trace
from .commands.options import Parser

EXAMPLES = """\
examples:
  odradek serve                                      two nodes at 127.0.0.1:9092 and 127.0.0.1:9093
  odradek serve --nodes 1 --topic orders:4           one node with a topic of four partitions
  odradek serve --port 0                             free ports; the first line of output contains them
"""
COMMANDS = {
    "serve": serve.run,
    "produce": produce.run,
    "consume": consume.run,
    "topics": topics.run,
    "groups": groups.run,
    "dump": dump.run,
    "healthcheck": healthcheck.run,
    "trace": trace.run,
    "explain": explain.run,
    "replay": replay.run,
    "doctor": doctor.run,
    "completion": completion.run,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command. Returns 0 for success, 1 for failure such as an unhealthy cluster, and 2 for an error in options or settings."""
    arguments = sys.argv[1:] if argv is None else argv
    if completion.ACTIVE in os.environ:
        completion.complete(_parser(), os.environ)
    if arguments[:1] == ["ctl"]:
        return _ctl(arguments[1:])
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    try:
        code = COMMANDS[options.command](options, os.environ)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return 0
    except BrokenPipeError:  # of a reader such as head, which has read enough
        sys.stdout = None  # so that the interpreter does not try to flush it
        return 0


def _ctl(arguments: Sequence[str]) -> int:
    """Runs `odradek ctl`, whose commands and options follow from the declarations of controls."""
    from .commands import ctl

    try:
        return ctl.run(arguments, os.environ)
    except KeyboardInterrupt:
        return 1


def _parser() -> Parser:
    parser = Parser(prog="odradek", description="A small Kafka for tests and laptops.", epilog=EXAMPLES)
    parser.add_argument("--version", action="version", version=f"odradek {__version__}", help="print the version")
    metavar = "COMMAND"
    commands = parser.add_subparsers(dest="command", title="commands", metavar=metavar)
    serve.add_options(commands.add_parser("serve", help="run a cluster until Ctrl-C", epilog=serve.EXAMPLES))
    produce_help = "write records that are read from standard input or a file"
    produce.add_options(commands.add_parser("produce", help=produce_help, epilog=produce.EXAMPLES))
    consume.add_options(commands.add_parser("consume", help="print the records of topics", epilog=consume.EXAMPLES))
    topics.add_options(commands.add_parser("topics", help="list, describe, create and delete topics", epilog=topics.EXAMPLES))
    groups_help = "list and describe groups, move their offsets, delete them"
    groups.add_options(commands.add_parser("groups", help=groups_help, epilog=groups.EXAMPLES))
    dump.add_options(commands.add_parser("dump", help="write topics and records as seed data", epilog=dump.EXAMPLES))
    help_text = "exit with 0 if the brokers answer, otherwise with 1"
    healthcheck.add_options(commands.add_parser("healthcheck", help=help_text, epilog=healthcheck.EXAMPLES))
    trace_help = "print the requests and responses of a running cluster as they happen"
    trace.add_options(commands.add_parser("trace", help=trace_help, epilog=trace.EXAMPLES))
    explain_help = "print the requests and responses in a capture file"
    explain.add_options(commands.add_parser("explain", help=explain_help, epilog=explain.EXAMPLES))
    replay_help = "send the requests in a capture file to a broker, and compare the responses"
    replay.add_options(commands.add_parser("replay", help=replay_help, epilog=replay.EXAMPLES))
    doctor_help = "report mistakes of clients, from a running cluster or a capture file"
    doctor.add_options(commands.add_parser("doctor", help=doctor_help, epilog=doctor.EXAMPLES))
    completion_help = "print the script with which bash, zsh or fish completes the command line"
    completion.add_options(commands.add_parser("completion", help=completion_help, epilog=completion.EXAMPLES))
    commands.add_parser("ctl", help="control a running cluster: faults, time, topology and state", add_help=False)
    return parser
