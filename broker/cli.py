"""The command line `odradek`. Its commands are in commands/.

Only the module of the command that is used is imported, and it imports others when it runs, so that a health check, which needs few of
them, starts quickly.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Container, Sequence
from importlib import import_module
from types import ModuleType

from .. import __version__
from .commands.options import Parser

EXAMPLES = """\
examples:
  odradek serve                                      two nodes at 127.0.0.1:9092 and 127.0.0.1:9093
  odradek serve --nodes 1 --topic orders:4           one node with a topic of four partitions
  odradek serve --port 0                             free ports; the first line of output contains them
  odradek topics create orders --partitions 4        in another terminal, of the cluster at 127.0.0.1:9092
  odradek consume orders --follow                    the records of a topic, until Ctrl-C
"""
COMMANDS = {
    "serve": "run a cluster until Ctrl-C",
    "produce": "write records that are read from standard input or a file",
    "consume": "print the records of topics",
    "topics": "list, describe, create and delete topics",
    "groups": "list and describe groups, move their offsets, delete them",
    "schemas": "list, show, register, check and delete the schemas of a schema registry",
    "dump": "write topics and records as seed data",
    "healthcheck": "exit with 0 if the brokers answer, otherwise with 1",
    "trace": "print the requests and responses of a running cluster as they happen",
    "explain": "print the requests and responses in a capture file",
    "replay": "send the requests in a capture file to a broker, and compare the responses",
    "explore": "look for faults under which a command, such as a test, does not pass",
    "doctor": "report mistakes of clients, from a running cluster or a capture file",
    "inspect": "show log directories of Kafka and their files, without a broker",
    "completion": "print the script with which bash, zsh or fish completes the command line",
}
"""The commands with their help. Each is a module in commands/ with `EXAMPLES`, `add_options` and `run`."""
COMPLETING = "_ARGCOMPLETE"
"""The environment variable with which the scripts of `odradek completion` ask for the words that are possible."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command. Returns 0 for success, 1 for failure such as an unhealthy cluster, and 2 for an error in options or settings."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if COMPLETING in os.environ:
        _module("completion").complete(_parser(), os.environ)
    try:
        code = _ctl(arguments[1:]) if arguments[:1] == ["ctl"] else _run(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # of a reader such as head, which has read enough
        sys.stdout = None  # so that the interpreter does not try to flush it
        return 0


def _run(arguments: Sequence[str]) -> int:
    parser = _parser(arguments)
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    try:
        return int(_module(options.command).run(options, os.environ))
    except KeyboardInterrupt:
        return 0


def _ctl(arguments: Sequence[str]) -> int:
    """Runs `odradek ctl`, whose commands and options follow from the declarations of controls."""
    from .commands import ctl

    try:
        return ctl.run(arguments, os.environ)
    except KeyboardInterrupt:
        return 1


def _parser(names: Container[str] = COMMANDS) -> Parser:
    """Returns the parser, in which only the commands with these names have their options."""
    parser = Parser(prog="odradek", description="A small Kafka for tests and laptops.", epilog=EXAMPLES)
    parser.add_argument("--version", action="version", version=f"odradek {__version__}", help="print the version")
    commands = parser.add_subparsers(dest="command", title="commands", metavar="COMMAND")
    for name, help_text in COMMANDS.items():
        command = commands.add_parser(name, help=help_text)
        if name in names:
            module = _module(name)
            command.epilog = module.EXAMPLES
            module.add_options(command)
    commands.add_parser("ctl", help="control a running cluster: faults, time, topology and state", add_help=False)
    return parser


def _module(command: str) -> ModuleType:
    return import_module(f".commands.{command}", __package__)
