"""Waiting for what other threads and processes bring about."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

PATIENCE_S = 30.0
PAUSE_S = 0.02


def until(condition: Callable[[], Any], patience_s: float = PATIENCE_S) -> Any:
    """Returns the first true result of a condition. Raises AssertionError if there is none in time."""
    end_s, pause = time.monotonic() + patience_s, threading.Event()
    while not (result := condition()):
        assert time.monotonic() < end_s, "the condition did not become true in time"
        pause.wait(PAUSE_S)
    return result
