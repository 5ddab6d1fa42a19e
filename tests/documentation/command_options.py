"""The options of all commands."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from odradek.broker.cli import _parser


def options_of_commands() -> dict[str, set[str]]:
    """Returns the options of each command by its name. `ctl` is left out, because its options follow from the controls."""
    return {name: set(options_of(parser)) for name, parser in subcommands(_parser()).items() if name != "ctl"}


def options_of(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yields the options of a command and of its subcommands."""
    yield from parser._option_string_actions
    for nested in subcommands(parser).values():
        yield from options_of(nested)


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    return {
        name: nested
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
        for name, nested in action.choices.items()
    }
