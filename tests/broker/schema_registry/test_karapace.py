"""The registry answers as Karapace did, or differs for a reason that `karapace/differences.py` states."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.broker.schema_registry.karapace.comparison import Ids, Recorded, contains, read_recorded, simplified
from tests.broker.schema_registry.karapace.differences import DIFFERENCES, reason_for
from tests.broker.schema_registry.karapace.scripts import scripts
from tests.broker.schema_registry.rest_calls import RestRegistry


def answers() -> Iterator[Recorded]:
    """Yields our answers to the requests of the scripts."""
    registry = RestRegistry()
    for script in scripts():
        ids = Ids()
        for request in script.requests:
            answered = registry.ask(request.line.replace("{id}", str(ids.first)), request.body)
            body = json.loads(answered.encode()) if answered.body is not None else ""
            yield Recorded(script.name, request.line, answered.status, ids.numbered(request.line, body))


@pytest.fixture(scope="module")
def pairs() -> list[tuple[Recorded, Recorded]]:
    """Our answers, each with that of Karapace."""
    return list(zip(answers(), read_recorded(), strict=True))


def test_recording_has_every_request(pairs: list[tuple[Recorded, Recorded]]) -> None:
    assert len(pairs) >= 600
    assert [ours[:2] for ours, _ in pairs] == [theirs[:2] for _, theirs in pairs]


def test_answers_are_those_of_karapace(pairs: list[tuple[Recorded, Recorded]]) -> None:
    used, unexplained = set(), []
    for ours, theirs in pairs:
        if ours.status == theirs.status and contains(simplified(ours.body), simplified(theirs.body)):
            continue
        reason = reason_for(ours)
        if reason is None:
            unexplained.append((ours, theirs))
        else:
            used.add(reason)
    assert not unexplained
    assert used == set(DIFFERENCES.values())
