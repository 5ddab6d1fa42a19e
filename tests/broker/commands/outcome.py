"""The outcome of a command: its exit code, and what it has printed."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest


class CommandOutcome(NamedTuple):
    """The exit code and the output of a command."""

    code: int
    output: str
    errors: str


Run = Callable[..., CommandOutcome]


def outcome_of(code: int, capsys: pytest.CaptureFixture[str]) -> CommandOutcome:
    """Returns the exit code of a command with what it has printed since the last call."""
    captured = capsys.readouterr()
    return CommandOutcome(code, captured.out, captured.err)
