"""Compares our answers with the recorded answers of Apache Kafka; `make differential` records them."""

from __future__ import annotations

import fnmatch
from functools import cache

import pytest

from odradek.protocol.messages import APIS

from .case import Case, ScramExchange, Send, SendRaw, TokenRequest
from .comparison import RECORDED, Difference, differences, known_differences, read_recording, unexplained
from .families import FAMILIES
from .traces import ALLOWED, Trace, left_behind, replay_watched

SHOWN = 20


@cache
def watched(family: str) -> tuple[dict[str, list[str]], list[Trace]]:
    """Returns our answers, and the changes that refused requests have made."""
    return replay_watched(FAMILIES[family])


def cases_of(family: str) -> list[Case]:
    return list(FAMILIES[family].cases())


def found(family: str) -> list[Difference]:
    return differences(read_recording(family), watched(family)[0])


@pytest.mark.parametrize("family", FAMILIES)
def test_answers_equal_those_of_apache_kafka(family: str) -> None:
    differing = unexplained(found(family), known_differences())
    assert not differing, f"{len(differing)} fields:\n" + "\n".join(map(str, differing[:SHOWN]))


@pytest.mark.parametrize("family", FAMILIES)
def test_refused_requests_leave_no_trace(family: str) -> None:
    traces = left_behind(watched(family)[1])
    assert not traces, f"{len(traces)} changes:\n" + "\n".join(map(str, traces[:SHOWN]))


def test_allowed_traces_are_seen() -> None:
    traces = [trace for family in FAMILIES for trace in watched(family)[1]]
    assert not [allowed for allowed in ALLOWED if not any(allowed.covers(trace) for trace in traces)]


@pytest.mark.parametrize("family", FAMILIES)
def test_known_differences_still_differ(family: str) -> None:
    """The pattern of an entry begins with its family."""
    entries = [entry for entry in known_differences() if entry.cases.split(".")[0] == family]
    assert not [entry for entry in entries if not any(entry.covers(difference) for difference in found(family))]


def test_known_differences_have_a_family_and_a_reason() -> None:
    assert not [entry for entry in known_differences() if entry.cases.split(".")[0] not in FAMILIES or not entry.reason]


def sent_by(case: Case) -> set[str]:
    """Returns the names of the APIs whose requests a case contains. The answer to a request of `before` may come in `steps`."""
    steps = (*case.before, *case.steps)
    keys = {int.from_bytes(step.frame[4:6], "big") for step in steps if isinstance(step, SendRaw)}
    named = {step.api.name for step in steps if isinstance(step, Send | TokenRequest)} | {APIS[key].name for key in keys & APIS.keys()}
    return named | {"SaslAuthenticate" for step in steps if isinstance(step, ScramExchange)}


def test_known_differences_name_apis_of_their_cases() -> None:
    sent = {
        case.name: sent_by(case) for family in {entry.cases.split(".")[0] for entry in known_differences()} for case in cases_of(family)
    }
    for entry in known_differences():
        covered = set().union(*(sent[name] for name in fnmatch.filter(sent, entry.cases)))
        assert entry.apis == ("*",) or set(entry.apis) <= covered, entry


def test_recordings_all_belong_to_a_family() -> None:
    assert {path.stem for path in RECORDED.glob("*.txt")} == set(FAMILIES)


def test_recordings_have_thousands_of_cases() -> None:
    assert sum(len(read_recording(family)) for family in FAMILIES) >= 2000
