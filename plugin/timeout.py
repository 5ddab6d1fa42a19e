"""`--kafka-timeout`: a test that takes too long fails with the requests that its clients wait for.

A thread waits for the end of the test. When the time is over, it asks the clusters which requests wait for what, and interrupts the main
thread by a signal, whose handler raises the failure. Python runs the handler as soon as the main thread executes Python code: a sleep, a
lock, a socket and an event loop are interrupted, and so is a C function that looks for signals. A C function that waits without looking
for signals cannot be interrupted by anything. In that case the report and the stacks of all threads are printed and the process is ended,
as pytest-timeout does by default; pytest-xdist then reports the test as failed and goes on in a new process.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ..broker.controls.connections import WaitingRequest
    from .running_test import RunningTest
    from .watching import Watch, Watched

GRACE_S = 2.0
"""The time for which the main thread may take to execute Python code before the process is ended."""
SIGNAL: int | None = getattr(signal, "SIGUSR2", None)
"""pytest-timeout uses SIGALRM. None on systems without signals for threads, where a test cannot be interrupted."""
TEARDOWN_S = 10.0
"""The least time that the rest of a test has after it was interrupted."""
EXIT_CODE = 1
CANNOT_INTERRUPT = "the main thread executes no Python code, so that the test cannot be interrupted; the process ends"


class Timeout:
    """The time limit of one test, which begins when the test first uses a cluster."""

    def __init__(self, test: RunningTest, limit_s: float, config: pytest.Config) -> None:
        self._test = test
        self._limit_s = limit_s
        self._config = config
        self._ended = threading.Event()
        self._raised = threading.Event()
        self._former: Any = None
        self._can_interrupt = SIGNAL is not None and threading.current_thread() is threading.main_thread()
        self._text = ""
        self._thread = threading.Thread(target=self._run, name="kafka-timeout", daemon=True)

    @property
    def has_expired(self) -> bool:
        """Whether the test has taken too long."""
        return bool(self._text)

    def begin(self) -> None:
        """Begins to measure the time."""
        if SIGNAL is not None and self._can_interrupt:
            self._former = signal.signal(SIGNAL, self._on_signal)
        self._thread.start()

    def end(self) -> None:
        """Ends the time limit. Has no effect the second time."""
        if not self._ended.is_set():
            self._ended.set()
            self._thread.join()
            if SIGNAL is not None and self._can_interrupt:
                signal.signal(SIGNAL, self._former or signal.SIG_DFL)

    def _run(self) -> None:
        """Interrupts the test when its time is over, and then its teardown if that hangs too."""
        limit_s = self._limit_s
        while not self._ended.wait(limit_s):
            limit_s = max(self._limit_s, TEARDOWN_S)
            self._text = waiting_requests(self._test.watch, self._limit_s)
            self._raised.clear()
            if not self._interrupts() and not self._ended.is_set():
                self._end_process()

    def _interrupts(self) -> bool:
        """Returns whether the main thread has handled the signal within GRACE_S. Between two phases of a test it raises no failure."""
        if SIGNAL is None or not self._can_interrupt:
            return False
        signal.pthread_kill(threading.main_thread().ident or 0, SIGNAL)
        return self._raised.wait(GRACE_S)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        __tracebackhide__ = True
        self._raised.set()
        if self._test.is_in_phase and not self._ended.is_set():
            pytest.fail(self._text)

    def _end_process(self) -> None:
        capturing = self._config.pluginmanager.getplugin("capturemanager")
        if capturing is not None:
            capturing.suspend(in_=True)
        sys.stderr.write(f"\n{self._text}\n{CANNOT_INTERRUPT}\n{self._test.last_words()}\n")
        sys.stderr.flush()
        faulthandler.dump_traceback(all_threads=True)
        os._exit(EXIT_CODE)


def waiting_requests(watch: Watch, limit_s: float) -> str:
    """Returns which requests of the clients of a test wait for what."""
    lines = [f"{watch.test} has not ended after {limit_s:g} s (--kafka-timeout)"]
    for watched in watch.clusters:
        lines += _waiting(watched)
    return "\n".join(lines)


def _waiting(watched: Watched) -> Iterator[str]:
    try:
        stopped = [str(each.node) for each in watched.cluster.nodes() if each.state == "stopped"]
        waiting = watched.cluster.waiting_requests()
    except Exception as error:  # noqa: BLE001  (the test has to be interrupted in any case)
        yield f"(the requests that wait cannot be listed: {error})"
        return
    if stopped:
        yield f"stopped nodes, which accept no connection: {', '.join(stopped)}"
    count = len(watched.cluster.connections())
    yield "requests that wait:" if waiting else f"no request waits on {count} connection{'s' * (count != 1)}"
    yield from map(_line, waiting)


def _line(request: WaitingRequest) -> str:
    api = f"{request.api} v{request.version}" if request.api else "whatever it sends"
    left = "" if request.left_ms is None else f" (at most {request.left_ms} ms more)"
    client = f"{request.client_id} ({request.software}) at {request.peer}"
    return f"  {client}, node {request.node}: {api} waits for {' and for '.join(request.waits_for)}{left}"
