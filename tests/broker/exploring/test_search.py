"""The search for faults: which runs it makes, and how it judges them. The runs are scripted, and time passes by one second a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from odradek.broker.exploring.plan import Trial
from odradek.broker.exploring.points import RequestPoint
from odradek.broker.exploring.roles import MEMBER, TRANSACTIONAL, ClientRole
from odradek.broker.exploring.search import Search, SearchOptions, parse_seconds
from odradek.broker.exploring.topology import ClusterTopology
from odradek.broker.exploring.verdicts import Exploration, RunOutcome, RunResult

ROLE = ClientRole(MEMBER, "billing")
POINTS = (RequestPoint("OffsetCommit", 1, ROLE, "billing"), RequestPoint("Fetch", 1, ROLE, "billing"))
PASSED = RunResult(RunOutcome.PASSED, points=POINTS, topology=ClusterTopology(2, {}))
Script = Callable[[str, int], RunResult]


class Runs:
    """Answers each run by a script, which gets the text of the trial ("" without faults) and how often it was run before."""

    def __init__(self, script: Script) -> None:
        self.texts: list[str] = []
        self._script = script

    def run(self, trial: Trial | None) -> RunResult:
        text = "" if trial is None else trial.text
        before = self.texts.count(text)
        self.texts.append(text)
        return self._script(text, before)

    def explore(self, options: SearchOptions | None = None) -> Exploration:
        return Search("test_it", self.run, options or SearchOptions(), lambda: float(len(self.texts)), lambda _: None).explore()


def failing(message: str) -> RunResult:
    return replace(PASSED, outcome=RunOutcome.FAILED, message=message)


def test_test_that_survives_is_run_three_times_and_once_a_fault() -> None:
    runs = Runs(lambda _text, _before: PASSED)
    found = runs.explore()
    assert runs.texts[:3] == ["", "", ""]
    assert len(set(runs.texts[3:])) == len(runs.texts[3:]) == found.runs == found.passed
    assert not found.is_broken


def test_failure_is_repeated_twice_and_counted() -> None:
    broken = "OffsetCommit#1@billing:lost-response"
    runs = Runs(lambda text, before: failing("assert 2 == 1") if text == broken and before != 1 else PASSED)
    found = runs.explore()
    assert runs.texts.count(broken) == 3
    (failure,) = found.failures
    assert (failure.trial, failure.failed, failure.runs) == (broken, 2, 3)
    assert 'FAILED 2/3  billing-1 (member of group "billing"): the response to OffsetCommit 1 was lost' in found.summary("{}")


def test_point_that_is_not_reached_is_tried_twice_and_fails() -> None:
    missed = "Fetch#1@billing:reset"
    runs = Runs(lambda text, _: RunResult(RunOutcome.UNREACHED) if text == missed else PASSED)
    found = runs.explore()
    assert runs.texts.count(missed) == 2
    assert (found.unreached, found.passed) == ([missed], found.runs - 1)
    assert f"not reached: {missed}" in found.summary("{}")


def test_test_that_fails_without_faults_is_not_explored() -> None:
    found = Runs(lambda _, before: failing("assert 0") if before == 1 else PASSED).explore()
    assert found.head == "kafka explore: test_it  not explored: it fails without faults, in run 2 of 3: assert 0"


def test_test_that_hangs_or_uses_no_cluster_is_not_explored() -> None:
    hangs = Runs(lambda _text, _before: replace(PASSED, outcome=RunOutcome.HUNG)).explore()
    assert hangs.problem == "it does not end without faults"
    idle = Runs(lambda _text, _before: replace(PASSED, points=())).explore()
    assert idle.uses_no_cluster
    assert "it sends no request to a cluster" in idle.head


def test_open_clients_and_vanished_requests_are_noted() -> None:
    found = Runs(lambda _, before: replace(PASSED, leaks=2, points=POINTS[: 2 - before % 2])).explore()
    assert found.notes[0].startswith("the test leaves 2 clients open")
    assert found.notes[1].startswith("1 request of the first run came in no other run")
    assert found.points == 1


def test_budget_ends_the_search_and_says_what_is_left() -> None:
    runs = Runs(lambda _text, _before: PASSED)
    found = runs.explore(SearchOptions(budget_s=5))
    assert (found.runs, len(runs.texts)) == (2, 5)
    assert f"{found.left} faults not tried" in found.summary("{}")


def test_failures_with_a_known_message_are_not_repeated_late() -> None:
    runs = Runs(lambda text, _: failing(f"port {len(runs.texts)}") if text else PASSED)
    found = runs.explore(SearchOptions(budget_s=6))
    assert [each.runs for each in found.failures] == [3, 1, 1]
    assert "the same with" in found.summary("{}")


def test_workers_share_the_faults() -> None:
    whole = Runs(lambda _text, _before: PASSED)
    whole.explore()
    parts = [Runs(lambda _text, _before: PASSED) for _ in range(2)]
    found = [part.explore(SearchOptions(share=(number, 2))) for number, part in enumerate(parts)]
    assert sorted(parts[0].texts[3:] + parts[1].texts[3:]) == sorted(whole.texts[3:])
    found[0].merge(found[1])
    assert found[0].runs == len(whole.texts) - 3


def test_pairs_follow_the_single_faults_and_print_their_seed() -> None:
    found = Runs(lambda _text, _before: PASSED).explore(SearchOptions(budget_s=10_000, depth=2, seed=5))
    assert "the pairs were drawn from seed 5" in found.summary("{}")
    assert found.runs > Runs(lambda _text, _before: PASSED).explore().runs


def test_producer_that_is_told_to_stop_may_stop() -> None:
    role = ClientRole(TRANSACTIONAL, "payments")
    points = (RequestPoint("EndTxn", 1, role, "payments"),)
    result = replace(PASSED, points=points)
    runs = Runs(lambda text, _: replace(failing("ProducerFenced"), points=points) if text.endswith("timed-out") else result)
    assert not runs.explore().is_broken


def test_times_have_units() -> None:
    assert [parse_seconds(text) for text in ("90", "60s", "1.5m", "2h")] == [90, 60, 90, 7200]


@pytest.mark.parametrize("text", ["", "s", "0s", "-5m", "inf", "soon"])
def test_text_that_is_not_a_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be a time such as 60s or 5m, not "):
        parse_seconds(text)
