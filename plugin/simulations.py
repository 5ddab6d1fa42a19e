"""Runs the tests that `odradek.simulation` decorates: seeds, progress, summary, and the report of a seed that fails."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from .running_test import RUNNING

if TYPE_CHECKING:
    from ..simulation.seeds import Summary, Test

PROPERTY = "odradek_simulation"
"""The user property of a test's report that has its summary, because reports travel from the workers of pytest-xdist."""
MIN_PROGRESS_SEEDS = 10


class Simulations:
    """The value of the fixture `kafka_simulations`, which runs the seeds of one test."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._item: pytest.Item = request.node
        self._config = request.config

    def run(self, test: Test, seeds: int | None, seeds_s: float | None) -> None:
        """Runs a test with its seeds, or with that of --kafka-seed. Raises what the first seed that fails raises, with a report.

        A test that is explored, or has a fault at a point, is run with one seed, 0 if there is no --kafka-seed.
        """
        from ..simulation.seeds import run_seeds

        seed: int | None = self._config.getoption("--kafka-seed")
        if self._item.stash[RUNNING].simulate(test, seed or 0):
            return
        if seed is not None:
            self._replay(test, seed)
            return
        with self._terminal() as terminal:
            summary = run_seeds(test, self._config.getoption("--kafka-seeds") or seeds, seeds_s, terminal.show, _processes())
            terminal.clear()
        self._item.user_properties.append((PROPERTY, str(summary)))
        if summary.failed is not None:
            failed, text = summary.failed
            self._replay(test, failed)
            pytest.fail(
                f"seed {failed} has failed and passes when it is repeated, so the test depends on more than its seed; look for threads, "
                f"objects in sets, datetime.now() and state that runs share\n\n{text}"
            )

    def _replay(self, test: Test, seed: int) -> None:
        """Runs a seed again, shrinks it if it fails, and raises its error with the report."""
        __tracebackhide__ = True
        from ..simulation.report import report_of
        from ..simulation.seeds import run_seed
        from ..simulation.shrinking import shrink

        failing = run_seed(test, seed)
        if failing.error is None:
            return
        shrunk = shrink(test, failing)
        error = shrunk.outcome.error
        assert error is not None  # noqa: S101  (it narrows a type)
        error.add_note(report_of(failing, shrunk, f"pytest {self._item.nodeid} --kafka-seed {seed}"))
        raise error

    @contextmanager
    def _terminal(self) -> Iterator[_ProgressLine]:
        capture: Any = self._config.pluginmanager.getplugin("capturemanager")
        if capture is None:
            yield _ProgressLine()
            return
        with capture.global_and_fixture_disabled():
            yield _ProgressLine()


class _ProgressLine:
    """One line of the terminal, which is written again and again."""

    def __init__(self) -> None:
        self._writes = sys.stderr.isatty()

    def show(self, summary: Summary) -> None:
        if self._writes and summary.seeds % MIN_PROGRESS_SEEDS == 0:
            sys.stderr.write(f"\r\033[K{summary}")
            sys.stderr.flush()

    def clear(self) -> None:
        if self._writes:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


def _processes() -> int:
    """Returns the number of processes that run seeds: the cores, divided among the workers of pytest-xdist."""
    return max(1, (os.cpu_count() or 1) // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


@pytest.fixture
def kafka_simulations(request: pytest.FixtureRequest) -> Simulations:
    """Runs the seeds of a test that `odradek.simulation` has made."""
    return Simulations(request)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Starts pytest once more with a fixed hash seed if a test needs it."""
    config = session.config
    simulated = any("kafka_simulations" in getattr(item, "fixturenames", ()) for item in session.items)
    if not simulated or config.option.collectonly:
        return
    from ..simulation.hash_seed import is_hash_seed_fixed, start_again

    if is_hash_seed_fixed():
        return
    if hasattr(config, "workerinput") or "PYTEST_CURRENT_TEST" in os.environ:
        session.items[0].warn(pytest.PytestWarning("set PYTHONHASHSEED=0, so that a seed has the same history in every process"))
        return
    if (capture := config.pluginmanager.getplugin("capturemanager")) is not None:
        capture.stop_global_capturing()
    start_again()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Prints a line for each simulated test."""
    lines = [
        f"{report.nodeid}: {value}"
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", "") == "call"
        for name, value in report.user_properties
        if name == PROPERTY
    ]
    if lines:
        terminalreporter.section("kafka simulations")
        for line in lines:
            terminalreporter.line(line)
