"""Regular expressions of groups are compared with each topic once, expensive ones in the background."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from odradek.broker.groups.consumer.regex_resolutions import Resolutions
from odradek.broker.kafka_quirks.re2 import InvalidRegularExpression, Regex
from odradek.broker.scheduling.waiting import NEXT_TURN, Background

EXPENSIVE = "(?:t.*)(?:.*a.*){500}"


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collects the topic names that are compared with a regular expression, in order."""
    names: list[str] = []
    match = Regex.match

    def count(regex: Regex, name: str) -> Iterator[int]:
        names.append(name)
        return match(regex, name)

    monkeypatch.setattr(Regex, "match", count)
    return names


def test_topic_is_compared_once_for_all_groups(compared: list[str]) -> None:
    topics = dict.fromkeys(["ta", "tb", "u"])
    resolutions = Resolutions(topics, lambda work: None)
    first, second = resolutions.get("t.*"), resolutions.get("t.*")
    assert resolutions.resolve(first) == resolutions.resolve(second) == frozenset({"ta", "tb"})
    topics["tc"] = None
    assert resolutions.resolve(first) == frozenset({"ta", "tb", "tc"})
    del topics["ta"]
    assert resolutions.resolve(second) == frozenset({"tb", "tc"})
    assert compared == ["ta", "tb", "u", "tc"]


def test_expensive_comparison_continues_in_slices() -> None:
    topics = dict.fromkeys(f"t{'a' * 100}{number}" for number in range(10))
    put_off: list[Background] = []
    resolutions = Resolutions(topics, put_off.append)
    resolution = resolutions.get(EXPENSIVE)
    assert resolutions.resolve(resolution) is None
    assert resolutions.resolve(resolution) is None
    (work,) = put_off
    slices = list(work)
    assert len(slices) > 10
    assert set(slices) == {NEXT_TURN}
    assert resolutions.resolve(resolution) == frozenset()
    assert len(put_off) == 1


def test_comparison_without_references_ends() -> None:
    put_off: list[Background] = []
    resolutions = Resolutions(dict.fromkeys(f"t{'a' * 100}{number}" for number in range(10)), put_off.append)
    resolution = resolutions.get(EXPENSIVE)
    assert resolutions.resolve(resolution) is None
    del resolution
    gc.collect()
    assert list(put_off[0]) == []


def test_invalid_expression_is_refused() -> None:
    with pytest.raises(InvalidRegularExpression):
        Resolutions({}, lambda work: None).get("(")
