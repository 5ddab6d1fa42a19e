"""Which faults are tried at which points, and in which order: transcripts of plans."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from odradek.broker.exploring.plan import pairs, plan_trials, trial_of
from odradek.broker.exploring.points import RequestPoint, parse_specifications
from odradek.broker.exploring.roles import MEMBER, PRODUCER, TRANSACTIONAL, ClientRole
from odradek.broker.exploring.table import FAULTS, faults_at
from odradek.broker.exploring.topology import ClusterTopology, TopicShape
from tests.transcripts import replay

FOLDER = Path(__file__).parent / "transcripts"
TOPICS = {"orders": TopicShape(1, 1), "wide": TopicShape(4, 1), "safe": TopicShape(1, 3)}
ROLES = {"producer": PRODUCER, "billing": MEMBER, "payments": TRANSACTIONAL}


def point_of(line: str) -> RequestPoint:
    """Returns the point of a line such as `Produce 1 producer acks=1 topic=orders`."""
    api, number, name, *options = line.split()
    given = dict(option.split("=") for option in options)
    kind = ROLES[name]
    role = ClientRole(kind, "" if kind == PRODUCER else name)
    acks = int(given["acks"]) if "acks" in given else None
    topics = (given["topic"],) if "topic" in given else ()
    return RequestPoint(api, int(number), role, role.text, acks, "id" in given, topics, given.get("answered") != "no")


class PlanPlayer:
    """Plays `nodes 2`, then points: the output are the trials in their order."""

    def play(self, lines: list[str]) -> str:
        nodes = int(lines[0].removeprefix("nodes "))
        initialized = {"payments": sum(line.startswith("InitProducerId") for line in lines)}
        topology = ClusterTopology(nodes, TOPICS, initialized, frozenset(["billing"]))
        return "\n".join(each.text for each in plan_trials(list(map(point_of, lines[1:])), topology))


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.plan.txt")), ids=lambda path: path.name)
def test_transcript_of_plans(path: Path) -> None:
    replay(path, PlanPlayer())


def test_fault_that_is_left_out_is_not_planned() -> None:
    points = [point_of("OffsetCommit 1 billing topic=orders")]
    left = plan_trials(points, ClusterTopology(2, TOPICS), without=["late", "reset"])
    assert {each.specifications[0].fault for each in left} == {each.name for each in faults_at(points[0], ClusterTopology(2, TOPICS))} - {
        "late",
        "reset",
    }


def test_rare_fault_is_planned_only_if_it_is_asked_for() -> None:
    points = [point_of("Produce 1 producer acks=-1 topic=orders")]
    usual = plan_trials(points, ClusterTopology(2, TOPICS))
    assert not any(FAULTS[each.specifications[0].fault].is_rare for each in usual)
    assert {each.text for each in plan_trials(points, ClusterTopology(2, TOPICS), also=["refused"])} - {each.text for each in usual} == {
        "Produce#1@producer:refused"
    }


def test_group_without_members_has_no_sessions() -> None:
    points = [point_of("OffsetCommit 1 billing topic=orders"), point_of("Fetch 1 billing topic=orders")]
    faults = {each.specifications[0].fault for each in plan_trials(points, ClusterTopology(2, TOPICS))}
    assert not faults & {"session-expired", "cut-off"}


def test_pairs_repeat_with_their_seed_and_have_two_points() -> None:
    trials = plan_trials(
        [point_of("OffsetCommit 1 billing"), point_of("Fetch 1 billing"), point_of("Heartbeat 2 billing")], ClusterTopology(2, TOPICS)
    )
    found = pairs(trials, 10, Random(7))
    assert found == pairs(trials, 10, Random(7))
    assert len(found) == 10
    assert all(first[:3] != second[:3] for first, second in (each.specifications for each in found))
    assert pairs(trials[:1], 10, Random(7)) == []


def test_trial_tells_its_story() -> None:
    trial = trial_of(parse_specifications("OffsetCommit#1@billing:lost-response + Fetch#2@billing:late", FAULTS))
    assert trial.story == ("billing: the response to OffsetCommit 1 was lost; then billing: the response to Fetch 2 came 500 ms late")


def test_page_lists_every_fault() -> None:
    page = (Path(__file__).parents[3] / "docs/exploring.md").read_text()
    assert re.findall(r"^\| `([a-z]+(?:-[a-z]+)*)` \| [a-z]", page, re.MULTILINE) == list(FAULTS)


def test_every_fault_has_a_reason() -> None:
    assert all(fault.reason.endswith(".") and fault.words.count("{request}") == 1 for fault in FAULTS.values())
