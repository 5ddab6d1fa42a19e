"""Removes the faults from a failing run that its failure does not need."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from .seeds import Outcome, Test, run_seed

MAX_SHRINKING_S = 20.0


class Shrunk(NamedTuple):
    """The failing run with the fewest faults that was found in `runs` runs, and the faults that were left out."""

    outcome: Outcome
    left_out: frozenset[str]
    runs: int


def shrink(test: Test, failing: Outcome, run: Callable[[Test, int, frozenset[str]], Outcome] = run_seed) -> Shrunk:
    """Returns a run of the same seed that fails with the same type of error, although all faults that can be left out are left out.

    Halves of the faults are tried first, then quarters, and at last single faults (Zeller's delta debugging), for at most
    MAX_SHRINKING_S seconds.
    """
    best = Shrunk(failing, frozenset(), 0)
    end_s = time.monotonic() + MAX_SHRINKING_S
    size = len(failing.faults)
    while size and best.outcome.faults:
        names = [fault.name for fault in best.outcome.faults]
        size = min(size, len(names))
        smaller = None
        for start in range(0, len(names), size):
            if time.monotonic() > end_s:
                return best
            left_out = best.left_out | frozenset(names[start : start + size])
            outcome = run(test, failing.seed, left_out)
            best = best._replace(runs=best.runs + 1)
            if type(outcome.error) is type(failing.error) and len(outcome.faults) < len(names):
                smaller = Shrunk(outcome, left_out, best.runs)
                break
        best = smaller or best
        size = size if smaller is not None else size // 2
    return best
