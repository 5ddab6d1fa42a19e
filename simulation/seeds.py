"""Runs a test with one seed, and with many seeds on all cores until one fails."""

from __future__ import annotations

import gc
import logging
import multiprocessing
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Collection, Coroutine, Iterator
from dataclasses import dataclass, field
from itertools import count
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any

from .errors import SimulationError
from .faults import FaultNote
from .run import Simulation, simulated

if TYPE_CHECKING:
    from ..broker.wire.exchange import Entry

Test = Callable[[Simulation], Coroutine[Any, Any, object]]
MAX_ENTRIES_SHOWN = 60
NO_LIMIT = 2**62


@dataclass
class Outcome:
    """The result of one run. `error` is None if it has passed; `entries` are the last ones of the record if it has failed."""

    seed: int
    now_s: float
    trace: str
    events: int
    faults: list[FaultNote] = field(default_factory=list)
    error: BaseException | None = None
    entries: list[Entry] = field(default_factory=list)


def run_seed(test: Test, seed: int, left_out: Collection[str] = ()) -> Outcome:
    """Runs a test with a seed, without some faults. Returns the outcome, also if it is an error."""
    error: BaseException | None = None
    entries: list[Entry] = []
    with simulated(Simulation(seed, left_out)) as simulation:
        try:
            simulation(test(simulation))
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as raised:  # noqa: BLE001  (pytest's failures are no Exceptions)
            error, entries = raised, simulation.latest_entries(MAX_ENTRIES_SHOWN)
        now_s, faults, trace = simulation.now_s, list(simulation.faults.happened), simulation.trace
        events = simulation.events
    return Outcome(seed, now_s, trace, events, faults, error, entries)


@dataclass
class Summary:
    """The results of the runs of one test. `failed` is the lowest seed that fails, with the text of its error."""

    seeds: int = 0
    virtual_s: float = 0.0
    real_s: float = 0.0
    schedules: set[str] = field(default_factory=set)
    failed: tuple[int, str] | None = None

    def add(self, seed: int, now_s: float, trace: str, error: str) -> None:
        """Adds the outcome of a run. Its error is empty if it has passed."""
        self.seeds += 1
        self.virtual_s += now_s
        self.schedules.add(trace)
        if error and (self.failed is None or seed < self.failed[0]):
            self.failed = seed, error

    def __str__(self) -> str:
        rate = self.seeds / self.real_s if self.real_s else 0.0
        return (
            f"{self.seeds:,} seed{'s' * (self.seeds != 1)}, {self.virtual_s / 3600:.2f} virtual hours, "
            f"{len(self.schedules):,} distinct schedules, {rate:.1f} seeds/s"
        )


Progress = Callable[[Summary], object]


def run_seeds(test: Test, seeds: int | None, seeds_s: float | None, progress: Progress, processes: int) -> Summary:
    """Runs a test with the seeds from 0 on until one fails, `seeds` were run, or `seeds_s` seconds have passed.

    A seed that fails ends the other processes once they have run all seeds below it. `progress` is called with each result.
    """
    began_s = time.monotonic()
    end_s = None if seeds_s is None else began_s + seeds_s
    summary = Summary()
    processes = min(processes, seeds or processes)
    runs = _in_this_process if processes == 1 or not hasattr(os, "fork") else _side_by_side
    for seed, now_s, trace, error in runs(test, seeds or NO_LIMIT, end_s, processes):
        summary.add(seed, now_s, trace, error)
        summary.real_s = time.monotonic() - began_s
        progress(summary)
    return summary


Result = tuple[int, float, str, str]
"""Seed, virtual seconds, trace, and the text of the error, empty if there is none."""


def _results(test: Test, first: int, step: int, limit: Callable[[], int], end_s: float | None) -> Iterator[Result]:
    """Yields the results of every `step`th seed, up to the limit and the end of the time."""
    for seed in count(first, step):
        if seed >= limit() or (end_s is not None and time.monotonic() >= end_s):
            return
        outcome = run_seed(test, seed)
        error = "" if outcome.error is None else "".join(traceback.format_exception(outcome.error))
        yield seed, outcome.now_s, outcome.trace, error


def _in_this_process(test: Test, seeds: int, end_s: float | None, _: int) -> Iterator[Result]:
    for result in _results(test, 0, 1, lambda: seeds, end_s):
        yield result
        if result[3]:
            return


def _side_by_side(test: Test, seeds: int, end_s: float | None, processes: int) -> Iterator[Result]:
    """Yields the results of several processes. They are forked, so that they have the test and all modules as they are here."""
    context = multiprocessing.get_context("fork")
    limit = context.Value("q", seeds)
    readers: dict[Any, Any] = {}
    try:
        for number in range(processes):
            receiver, writer = context.Pipe(duplex=False)
            process = context.Process(target=_work, args=(test, number, processes, limit, end_s, writer), daemon=True)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of threads, which the child does not use
                process.start()
            writer.close()
            readers[receiver] = process
        while readers:
            ready: list[Any] = wait(list(readers))
            for reader in ready:
                try:
                    result: Result = reader.recv()
                except EOFError:
                    process = readers.pop(reader)
                    process.join()
                    if process.exitcode:
                        raise SimulationError(f"a process that ran seeds has ended with exit code {process.exitcode}") from None
                    continue
                yield result
    finally:
        for process in readers.values():
            process.terminate()
            process.join()


def _work(test: Test, number: int, processes: int, limit: Any, end_s: float | None, writer: Connection) -> None:
    """Runs seeds in a forked process, whose output is discarded, because the seed that fails is run again by the parent."""
    with open(os.devnull, "w") as nothing:  # noqa: PTH123  (a device)
        for stream in (1, 2):
            os.dup2(nothing.fileno(), stream)
        sys.stdout = sys.stderr = nothing
        logging.disable()
        gc.freeze()
        for result in _results(test, number, processes, lambda: int(limit.value), end_s):
            if result[3]:
                with limit.get_lock():
                    limit.value = min(limit.value, result[0])
            writer.send(result)
    writer.close()
    os._exit(0)  # without the exit handlers of the parent's libraries
