"""Explorations as JSON, and merged ones."""

from __future__ import annotations

import json

from odradek.broker.exploring.verdicts import Evidence, Exploration, FoundFailure

FAILURE = FoundFailure(
    "Fetch#1@billing:late", "billing-1: late", "hung", "line 1\nline 2", 1, 3, Evidence(("a finding",), files=("file: a",))
)


def test_exploration_survives_json() -> None:
    found = Exploration("test_it", 3, 1.5, 2, [FAILURE], ["Fetch#2@billing:late"], 1, 7, "", ["a note"])
    values = json.loads(json.dumps(found.as_json()))
    assert values["runs"] == 4
    assert Exploration.from_json(values).summary("{}") == found.summary("{}")


def test_summary_names_what_was_tried_and_what_broke() -> None:
    found = Exploration("test_it", 3, 1.5, 2, [FAILURE], ["Fetch#2@billing:late"], 1, 7, "", ["a note"])
    assert found.summary("--only '{}'").splitlines() == [
        "kafka explore: test_it  3 points, 4 runs in 2 s: 2 passed, 1 failed, 1 not reached",
        "  HANGS  1/3  billing-1: late",
        "              line 1",
        "              line 2",
        "              reproduce: --only 'Fetch#1@billing:late'",
        "              doctor: a finding",
        "              file: a",
        "  not reached: Fetch#2@billing:late",
        "  1 fault not tried, because the budget was used up",
        "  the pairs were drawn from seed 7",
        "  a note",
    ]


def test_merged_exploration_keeps_the_problem_of_each_worker() -> None:
    found = Exploration("test_it", passed=1)
    found.merge(Exploration("test_it", passed=2, problem="it fails", notes=["a note"]))
    assert (found.passed, found.problem, found.notes) == (3, "it fails", ["a note"])
