"""The search for faults that break a test: runs without faults, then one run for each fault, and repetitions of those that fail.

`Run` is how the test is run, once with the faults of a trial or without; everything else is decided here, without I/O.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from ..plurals import counted
from .damage import damages_of
from .plan import Trial, pairs, plan_trials
from .points import common_points
from .table import JOINS
from .topology import ClusterTopology
from .verdicts import NO_REQUEST, Exploration, FoundFailure, RunOutcome, RunResult, judge

BASELINE_RUNS = 3
REPETITIONS = 2
"""How often a failure is repeated."""
DEFAULT_BUDGET_S = 60.0
MAX_PAIRS = 500
_SECONDS = {"s": 1, "m": 60, "h": 3600}

Run = Callable[[Trial | None], RunResult]


@dataclass(frozen=True)
class SearchOptions:
    """How long a test is explored, and with how many faults in a run.

    `share` is the number of a worker from 0 and the number of workers, among which the faults are divided. `only` are the trials to run
    instead of those that follow from the points. The faults in `without` are not tried, and of the rare ones those in `also` are. With
    `damages`, data is damaged instead, and the test has to fail.
    """

    budget_s: float = DEFAULT_BUDGET_S
    depth: int = 1
    seed: int = 0
    share: tuple[int, int] = (0, 1)
    only: tuple[Trial, ...] = ()
    without: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    damages: bool = False


class Search:
    """The exploration of one test. `found` is complete when `explore` returns, and says at any time what is known."""

    def __init__(self, test: str, run: Run, options: SearchOptions, clock: Callable[[], float], tell: Callable[[str], None]) -> None:
        self.found = Exploration(test)
        self._run = run
        self._options = options
        self._clock = clock
        self._tell = tell
        self._begun_s = clock()

    def explore(self) -> Exploration:
        """Runs the test and returns what was found."""
        found = self.found
        baseline = self._baseline()
        if not found.problem:
            trials = self._trials(baseline)
            for number, trial in enumerate(trials):
                if self._is_over:
                    found.left = len(trials) - number
                    break
                failed = len(found.failures)
                self._tell(f"{found.test}: {number} of {counted(len(trials), 'fault')}, {failed} failed; {trial.text}")
                self._try(trial)
                found.seconds = self._clock() - self._begun_s
            self._repeat_failures({trial.text: trial for trial in trials})
        found.seconds = self._clock() - self._begun_s
        return found

    @property
    def _is_over(self) -> bool:
        return self._clock() - self._begun_s >= self._options.budget_s

    def _baseline(self) -> list[RunResult]:
        """Runs the test without faults, and says why it cannot be explored, if it cannot."""
        results: list[RunResult] = []
        for number in range(BASELINE_RUNS):
            self._tell(f"{self.found.test}: run {number + 1} of {BASELINE_RUNS} without faults")
            results.append(self._run(None))
            if problem := _problem(results):
                self.found.problem = problem
                break
        if leaks := max(result.leaks for result in results):
            self.found.notes.append(
                f"the test leaves {counted(leaks, 'client')} open, which may disturb the runs that follow; close them at its end"
            )
        return results

    def _trials(self, baseline: Sequence[RunResult]) -> list[Trial]:
        """Returns the trials of this worker in the order in which they are run."""
        points = common_points([result.points for result in baseline])
        vanished = len(baseline[0].points) - len(points)
        self.found.points = len(points)
        if vanished > 0 and not self._options.damages:
            self.found.notes.append(
                f"{counted(vanished, 'request')} of the first run came in no other run, so that no fault was tried there"
            )
        options = self._options
        if options.only:
            return list(options.only)
        if options.damages:
            found_damages = damages_of([result.stored for result in baseline])
            trials = [Trial((), (("", each.words),), str(each)) for each in found_damages]
            return trials[options.share[0] :: options.share[1]]
        initialized = Counter(point.role.name for point in points if point.api == "InitProducerId")
        joined = frozenset(point.role.name for point in points if point.api in JOINS)
        topology = ClusterTopology(*baseline[-1].topology[:2], initialized, joined)
        trials = plan_trials(points, topology, options.without, options.also)
        if options.depth > 1:
            self.found.seed = options.seed
            trials += pairs(trials, MAX_PAIRS, Random(options.seed))
        number, workers = options.share
        return trials[number::workers]

    def _try(self, trial: Trial) -> None:
        """Runs a trial, again if it does not reach its point, and several times if it fails."""
        found = self.found
        result = judge(self._run(trial), trial)
        if result.outcome is RunOutcome.UNREACHED:
            result = judge(self._run(trial), trial)
        if result.outcome is RunOutcome.UNREACHED:
            found.unreached.append(trial.text)
        elif trial.damage:
            found.note_damage(trial, noticed=result.outcome is not RunOutcome.PASSED)
        elif result.outcome is RunOutcome.PASSED:
            found.passed += 1
        else:
            failure = FoundFailure(trial.text, trial.story, result.outcome.value, result.message, 1, 1, result.evidence)
            found.failures.append(failure)

    def _repeat_failures(self, trials: Mapping[str, Trial]) -> None:
        """Repeats each failure. When the budget is used up, only those with a message of their own are repeated."""
        failures, confirmed = self.found.failures, set[str]()
        for number, failure in enumerate(failures):
            if self._is_over and failure.alike in confirmed:
                continue
            trial = trials[failure.trial]
            failed = 1
            for repetition in range(REPETITIONS):
                self._tell(f"{self.found.test}: repetition {repetition + 1} of {failure.trial}")
                failed += judge(self._run(trial), trial).outcome in (RunOutcome.FAILED, RunOutcome.HUNG)
            confirmed.add(failure.alike)
            failures[number] = replace(failure, failed=failed, runs=1 + REPETITIONS)


def _problem(results: Sequence[RunResult]) -> str:
    """Returns why a test cannot be explored, as far as its runs without faults show it."""
    last = results[-1]
    if last.outcome is RunOutcome.HUNG:
        return "it does not end without faults"
    if last.outcome is RunOutcome.FAILED:
        first = last.message.splitlines()[0] if last.message else "no message"
        return f"it fails without faults, in run {len(results)} of {BASELINE_RUNS}: {first}"
    if not last.uses_cluster or not last.points:
        return NO_REQUEST
    return ""


def parse_seconds(text: str) -> float:
    """Returns the seconds that a text such as "60s", "5m" or "90" names. Raises ValueError for another text."""
    number, factor = (text[:-1], _SECONDS[text[-1]]) if text[-1:] in _SECONDS else (text, 1)
    try:
        seconds = float(number) * factor
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < float("inf"):
        raise ValueError(f"must be a time such as 60s or 5m, not {text!r}")
    return seconds
