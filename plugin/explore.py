"""`--kafka-explore`: runs a test again and again, each time with another fault.

`Explorer` decides nothing: `broker/exploring/search.py` says which runs there are. Here, a run is pytest's protocol of an item, with its
function-scoped fixtures set up again. Before each run the clusters return to the state in which fixtures of wider scopes have left them. A
cluster to which clients of a run are still connected is replaced, because they would send requests in the runs that follow.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from copy import copy
from random import SystemRandom
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pytest
from _pytest.runner import runtestprotocol

from ..broker.exploring.damage import DAMAGES, parse_damage
from ..broker.exploring.plan import Trial, trial_of
from ..broker.exploring.points import parse_specifications
from ..broker.exploring.search import DEFAULT_BUDGET_S, Search, SearchOptions, parse_seconds
from ..broker.exploring.table import FAULTS
from ..broker.exploring.verdicts import Exploration, RunOutcome, RunResult
from .explorations import REPRODUCE
from .explored_run import ExploredRun
from .fixtures import TOPIC_NUMBER
from .running_test import RUNNING

if TYPE_CHECKING:
    from .. import Cluster
    from ..broker.snapshots.handle import Snapshot

MARK = "kafka_explore"
MARK_OPTIONS = ("budget", "depth", "without", "also")
SHARE = "_kafka_explore_share"
MIN_LIMIT_S = 20.0
SLOWDOWN = 10
"""How many times as long as without faults a run may take, if --kafka-timeout does not say how long."""


def split_points(text: str) -> list[str]:
    """Returns the faults in a text that may name several. Raises UsageError for one that does not exist."""
    try:
        return [str(each) for each in parse_specifications(text, FAULTS)]
    except ValueError as error:
        raise pytest.UsageError(f"fault: {error}") from None


def options_of(item: pytest.Item) -> SearchOptions:
    """Returns how a test is explored, from the command line, which takes precedence, and its mark. Raises UsageError."""
    mark = item.get_closest_marker(MARK)
    given: Mapping[str, Any] = {} if mark is None else mark.kwargs
    if unknown := [name for name in given if name not in MARK_OPTIONS] or ([] if mark is None else list(mark.args)):
        raise pytest.UsageError(f"@pytest.mark.{MARK}: unknown option {unknown[0]!r}; the options are {', '.join(MARK_OPTIONS)}")
    if wrong := [name for name in (*given.get("without", ()), *given.get("also", ())) if name not in FAULTS]:
        raise pytest.UsageError(f"@pytest.mark.{MARK}: there is no fault {wrong[0]!r}; the faults are {', '.join(FAULTS)}")
    option = item.config.getoption
    seed = option("--kafka-explore-seed")
    callspec = getattr(item, "callspec", None)
    share: tuple[int, int] = (0, 1) if callspec is None else callspec.params.get(SHARE, (0, 1))
    only = option("--kafka-explore-only")
    return SearchOptions(
        budget_s=_budget_s(
            {"--kafka-explore-budget": option("--kafka-explore-budget"), f"@pytest.mark.{MARK}: budget": given.get("budget")}
        ),
        depth=option("--kafka-explore-depth") or given.get("depth", 1),
        seed=SystemRandom().randrange(2**32) if seed is None else seed,
        share=share,
        only=() if only is None else (_only(only),),
        damages=option("--kafka-explore-damage"),
        without=tuple(given.get("without", ())),
        also=tuple(given.get("also", ())),
    )


def _budget_s(given: Mapping[str, object]) -> float:
    """Returns the first time that is given, by the name of what gives it, or the default. Raises UsageError for another text."""
    for name, time_given in given.items():
        if time_given is not None:
            try:
                return parse_seconds(str(time_given))
            except ValueError as error:
                raise pytest.UsageError(f"{name}: {error}") from None
    return DEFAULT_BUDGET_S


def _only(text: str) -> Trial:
    """Returns the trial of a specification of faults or of a damage. Raises UsageError for another text."""
    try:
        if text.rpartition(":")[2] in DAMAGES:
            order = parse_damage(text)
            return Trial((), (("", order.words),), str(order))
        return trial_of(parse_specifications(text, FAULTS))
    except ValueError as error:
        raise pytest.UsageError(f"--kafka-explore-only: {error}") from None


def name_of(item: pytest.Item) -> str:
    """Returns the name of a test, without that of a worker's share."""
    callspec = getattr(item, "callspec", None)
    if callspec is None or SHARE not in callspec.params:
        return item.nodeid
    number, workers = callspec.params[SHARE]
    text = share_id(number, workers)
    return item.nodeid.replace(f"[{text}]", "").replace(f"-{text}", "").replace(f"{text}-", "")


def share_id(number: int, workers: int) -> str:
    """Returns how the share of a worker is named in the name of a test."""
    return f"explore {number + 1} of {workers}"


class Explorer:
    """Explores one test. `reports` are pytest's reports of the latest run."""

    def __init__(self, item: pytest.Item, tell: Callable[[str], None]) -> None:
        self._item = item
        self._snapshots: WeakKeyDictionary[Cluster, Snapshot] = WeakKeyDictionary()
        self._slowest_s = 0.0
        self._uses_wider_fixtures = False
        self.reports: list[pytest.TestReport] = []
        self._options = options = options_of(item)
        if options.damages or any(trial.damage for trial in options.only):
            item.stash[TOPIC_NUMBER] = 1  # each run has a topic of the same name, because the name of a damage contains it
        self.search = Search(name_of(item), self.run, options, time.monotonic, tell)

    def run(self, trial: Trial | None) -> RunResult:
        """Runs the test with the faults of a trial or without any. Fixtures of wider scopes stay for the next run."""
        return self._run(trial, copy(self._item))

    def _run(self, trial: Trial | None, nextitem: pytest.Item | None) -> RunResult:
        item = self._item
        item._report_sections.clear()  # noqa: SLF001  (the output of the run before; pytest has no public name for it)
        vars(item).pop("_instance", None)  # each run of a method gets a fresh instance, as each test does
        test = ExploredRun(item, trial, self._snapshots, self._limit_s, self._summary)
        item.stash[RUNNING] = item.config.stash[RUNNING] = test
        begun_s = time.monotonic()
        with test.running():
            self.reports = runtestprotocol(item, log=False, nextitem=nextitem)
        if trial is None:
            self._slowest_s = max(self._slowest_s, time.monotonic() - begun_s)
        self._uses_wider_fixtures |= test.watch.sets_up_others
        result = test.result(self.reports)
        test.replace_clusters_in_use(sets_up_others=self._uses_wider_fixtures)
        return result

    @property
    def _limit_s(self) -> float:
        """How long a run may take. The first one may set up fixtures of wider scopes, for which it has the time of the exploration."""
        return max(MIN_LIMIT_S, SLOWDOWN * self._slowest_s if self._slowest_s else self._options.budget_s)

    def explore(self, nextitem: pytest.Item | None) -> Exploration:
        """Explores the test, runs it a last time without faults, and returns what was found."""
        try:
            found = self.search.explore()
            if found.problem:
                self._tear_down(nextitem)
                return found
            last = self._run(None, nextitem)
            if last.outcome is not RunOutcome.PASSED:
                found.problem = f"after the exploration, the test fails without faults: {last.message}"
            return found
        finally:
            for cluster, snapshot in self._snapshots.items():
                if cluster.is_running:
                    cluster.close_snapshot(snapshot)

    def _tear_down(self, nextitem: pytest.Item | None) -> None:
        """Ends the fixtures of wider scopes that `nextitem` does not use. An error is reported as one of the test."""
        item = self._item
        tear_down = item.session._setupstate.teardown_exact  # noqa: SLF001  (pytest has no public name for it)
        call = pytest.CallInfo.from_call(lambda: tear_down(nextitem), "teardown")
        if call.excinfo is not None:
            self.reports.append(item.ihook.pytest_runtest_makereport(item=item, call=call))

    def _summary(self) -> str:
        return self.search.found.summary(REPRODUCE)
