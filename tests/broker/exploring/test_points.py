"""Specifications of points, and the points that several runs have in common."""

from __future__ import annotations

import pytest

from odradek.broker.control_errors import InvalidControl
from odradek.broker.exploring.points import RequestPoint, Specification, common_points, parse_specifications
from odradek.broker.exploring.roles import MEMBER, ClientRole
from odradek.broker.exploring.table import FAULTS


def point(group: str, api: str = "OffsetCommit", number: int = 1) -> RequestPoint:
    role = ClientRole(MEMBER, group)
    return RequestPoint(api, number, role, role.text)


def test_specification_is_parsed_with_any_name_of_a_group() -> None:
    text = "OffsetCommit#12@a:b@c + d/2:lost-response"
    assert parse_specifications(text, FAULTS) == [Specification("OffsetCommit", 12, "a:b@c + d/2", "lost-response")]
    assert str(parse_specifications(text, FAULTS)[0]) == text


def test_pair_of_specifications_is_split() -> None:
    found = parse_specifications("Produce#1@producer:reset + Fetch#2@group-1:late", FAULTS)
    assert list(map(str, found)) == ["Produce#1@producer:reset", "Fetch#2@group-1:late"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("OffsetCommit", "must have the form API#NUMBER@ROLE:FAULT"),
        ("OffsetCommit#0@billing:reset", "must have the form"),
        ("OffsetComit#1@billing:reset", "did you mean 'OffsetCommit'"),
        ("OffsetCommit#1@billing:rest", "did you mean 'reset'"),
    ],
)
def test_invalid_specification_says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(InvalidControl, match=message):
        parse_specifications(text, FAULTS)


def test_points_of_a_stable_group_keep_its_name() -> None:
    runs = [[point("billing"), point("billing", number=2)], [point("billing")], [point("billing")]]
    assert [(each.number, each.role_text) for each in common_points(runs)] == [(1, "billing")]


def test_points_of_a_random_group_are_found_by_its_order() -> None:
    runs = [[point("billing-a1")], [point("billing-b2")], [point("billing-c3")]]
    assert [str(each.at("reset")) for each in common_points(runs)] == ["OffsetCommit#1@group-1:reset"]
