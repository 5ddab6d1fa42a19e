"""The progress bar of `odradek ctl clock advance` and `clock set`: asks the cluster again and again how far its time has moved."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import Event, Thread

from ..controls.declaration import CONTROLS, Control
from ..process.terminal import FIRST_S, ProgressBar
from .ctl_client import ControlAnswer, NoControlAnswer

MOVES = (("clock", "advance"), ("clock", "set"))
PAUSE_S = 0.5


@contextmanager
def progress_of(
    control: Control, send: Callable[[Control], ControlAnswer], new_bar: Callable[[str, int], ProgressBar] = ProgressBar
) -> Iterator[None]:
    """Shows how far the time has moved while the body of the `with` waits for a control that moves it. Other controls have no bar.

    `send` returns the response to a control without arguments.
    """
    if control.words not in MOVES or not sys.stderr.isatty():
        yield
        return
    ended = Event()
    thread = Thread(target=_show, args=(lambda: send(CONTROLS["clock", "show"]), new_bar, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _show(ask: Callable[[], ControlAnswer], new_bar: Callable[[str, int], ProgressBar], ended: Event) -> None:
    if ended.wait(FIRST_S) or (moving := _moving(ask)) is None:
        return
    reached, target = moving
    hours = timedelta(hours=1)
    with new_bar("hours", (target - reached) // hours) as bar:
        while not ended.wait(PAUSE_S) and (moving := _moving(ask)) is not None:
            bar.advance((moving[0] - reached) // hours)
            reached += (moving[0] - reached) // hours * hours


def _moving(ask: Callable[[], ControlAnswer]) -> tuple[datetime, datetime] | None:
    """Returns the cluster's time and the time to which it is being moved, None if the cluster does not move it or does not answer."""
    try:
        state = json.loads(ask().body)
        return datetime.fromisoformat(state["now"]), datetime.fromisoformat(state["moving_to"])
    except (NoControlAnswer, ValueError, KeyError, TypeError):
        return None
