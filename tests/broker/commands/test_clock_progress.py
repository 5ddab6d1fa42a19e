"""The progress bar of `odradek ctl clock advance`."""

from __future__ import annotations

import io
import sys
from threading import Event

import pytest

from odradek.broker.commands import clock_progress
from odradek.broker.commands.clock_progress import progress_of
from odradek.broker.commands.ctl_client import ControlAnswer
from odradek.broker.controls import clock  # noqa: F401  (declares the controls)
from odradek.broker.controls.declaration import CONTROLS, Control
from odradek.broker.process.terminal import ProgressBar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def use_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Makes stderr a terminal, and asks without pauses."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(clock_progress, "FIRST_S", 0)
    monkeypatch.setattr(clock_progress, "PAUSE_S", 0)
    return terminal


def bar(unit: str, total: int) -> ProgressBar:
    seconds = iter(range(100))
    return ProgressBar(unit, total, clock=lambda: next(seconds))


def test_bar_shows_how_far_the_time_has_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = use_terminal(monkeypatch)
    states = [
        f'{{"now": "2026-01-{day:02}T00:00:00+00:00", "moving_to": {target}}}'
        for day, target in ((1, '"2026-01-11T00:00:00+00:00"'), (6, '"2026-01-11T00:00:00+00:00"'), (11, "null"))
    ]
    asked, ended = iter(states), Event()

    def send(control: Control) -> ControlAnswer:
        assert control.words == ("clock", "show")
        state = next(asked)
        if "null" in state:
            ended.set()
        return ControlAnswer(200, state)

    with progress_of(CONTROLS["clock", "advance"], send, bar):
        assert ended.wait(10)
    assert " 50% [##########----------] 120 of 240 hours" in terminal.getvalue()


def test_control_that_moves_no_time_has_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = use_terminal(monkeypatch)

    def send(control: Control) -> ControlAnswer:
        raise AssertionError

    with progress_of(CONTROLS["clock", "freeze"], send, bar):
        pass
    assert terminal.getvalue() == ""
