"""Exploration finds a planted mistake, and does not blame the correct twin. `make explore-corpus` explores all services."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.explored.corpus import explore_test
from tests.explored.languages import explore_go
from tests.explored.planted import FOLDER, MISTAKES, text_of
from tests.explored.recipes import WITHOUT_FAULTS, recipe_of

pytestmark = [pytest.mark.sockets, pytest.mark.clients, pytest.mark.timeout(120)]


def test_every_service_and_recipe_can_be_broken() -> None:
    assert {path.name for path in FOLDER.iterdir()} == MISTAKES.keys()
    for name in MISTAKES:
        assert text_of(name, correct=True) != text_of(name, correct=False)
    for name in WITHOUT_FAULTS:
        assert recipe_of(name, correct=True) != recipe_of(name, correct=False)


@pytest.mark.parametrize("correct", [True, False])
def test_only_the_mistake_is_found(tmp_path: Path, correct: bool) -> None:
    only = "--kafka-explore-only=Produce#1@producer:lost-response"
    found = explore_test("no_idempotence", text_of("no_idempotence.py", correct=correct), tmp_path, only)
    assert (found.problem, found.runs, found.is_blamed) == ("", 1, not correct)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("go") is None, reason="Go is not installed")
@pytest.mark.parametrize("correct", [True, False])
def test_program_of_the_documentation_is_explored(tmp_path: Path, correct: bool) -> None:
    found = explore_go("shop.go", tmp_path, "--only=Produce#1@producer:lost-response", correct=correct)
    assert (found.problem, found.runs, found.is_blamed) == ("", 1, not correct)
