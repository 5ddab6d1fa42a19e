"""The table of served versions is complete and consistent with the declared messages."""

from __future__ import annotations

import pytest

from odradek.broker.releases.api_ranges import RANGES, number_of, versions_of
from odradek.protocol.messages import APIS
from odradek.protocol.schema import Versions


def test_ranges_of_latest_release_are_the_served_ones() -> None:
    assert {key: served for key, served in versions_of((4, 3)).items() if key in APIS} == {key: api.versions for key, api in APIS.items()}


@pytest.mark.parametrize(
    ("release", "expected"),
    [("2.1", Versions(0, 7)), ("2.3", Versions(0, 7)), ("2.4", Versions(0, 8)), ("3.9", Versions(0, 11)), ("4.0", Versions(3, 12))],
)
def test_ranges_of_produce_follow_the_release(release: str, expected: Versions) -> None:
    assert versions_of(number_of(release))[0] == expected


def test_ranges_withdrawn_api_returns_when_kraft_has_it() -> None:
    create_delegation_token = 38
    assert [create_delegation_token in versions_of(release) for release in ((3, 2), (3, 3), (3, 5), (3, 6))] == [True, False, False, True]


def test_ranges_entries_are_in_ascending_order() -> None:
    for row in RANGES.values():
        releases = [number_of(entry.partition(":")[0]) for entry in row.split()]
        assert releases == sorted(set(releases))
