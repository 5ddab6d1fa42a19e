"""Ours beside the recorded answers of Apache Kafka; `make differential` records them."""

from __future__ import annotations

from functools import cache

import pytest

from .comparing import RECORDED, Difference, differences, known_differences, read_recording, unexplained
from .families import FAMILIES
from .playing import Emulated, play

SHOWN = 20


@cache
def found(family: str) -> list[Difference]:
    cases, settings, nodes, coordinators = FAMILIES[family]
    ours = {case.name: answers for case, answers in play(Emulated(settings, nodes), cases(), coordinators)}
    return differences(read_recording(family), ours)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_answer_is_apache_kafkas(family: str) -> None:
    differing = unexplained(found(family), known_differences())
    assert not differing, f"{len(differing)} fields:\n" + "\n".join(map(str, differing[:SHOWN]))


@pytest.mark.parametrize("family", FAMILIES)
def test_known_differences_still_differ(family: str) -> None:
    """An entry is of the family that its pattern begins with."""
    entries = [entry for entry in known_differences() if entry.cases.split(".")[0] == family]
    assert not [entry for entry in entries if not any(entry.covers(difference) for difference in found(family))]


def test_known_differences_have_a_family_and_a_reason() -> None:
    assert not [entry for entry in known_differences() if entry.cases.split(".")[0] not in FAMILIES or not entry.reason]


def test_nothing_is_recorded_that_nobody_compares() -> None:
    assert {path.stem for path in RECORDED.glob("*.txt")} == set(FAMILIES)


def test_there_are_thousands_of_cases() -> None:
    assert sum(len(read_recording(family)) for family in FAMILIES) >= 2000
