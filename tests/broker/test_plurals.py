"""Numbers in front of nouns, also in all texts of the product."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from odradek.broker.plurals import counted

BROKER = Path(__file__).parents[2] / "broker"
UNITS = ("bytes", "characters")
"""Units are never one in the messages that name sizes."""


@pytest.mark.parametrize(("number", "text"), [(0, "0 records"), (1, "1 record"), (2, "2 records")])
def test_noun_after_a_number_is_singular_for_one(number: int, text: str) -> None:
    assert counted(number, "record") == text


def test_irregular_plural_is_given() -> None:
    assert [counted(number, "entry", "entries") for number in (1, 2)] == ["1 entry", "2 entries"]


@pytest.mark.parametrize("file", sorted(BROKER.rglob("*.py")), ids=lambda file: str(file.relative_to(BROKER)))
def test_lengths_before_nouns_are_counted(file: Path) -> None:
    plural = rf"\{{len\([^{{}}]*\)(?: - 1)?\}} (?!{'|'.join(UNITS)})(?:more |earlier )?[a-z]+s\b"
    assert not re.findall(plural, file.read_text(encoding="utf-8"))
