"""Diagrams in the language of Mermaid."""

from __future__ import annotations

import re
from html import unescape

import pytest

from odradek.broker.wire.diagrams.formats import FORMATS
from odradek.broker.wire.diagrams.mermaid import quote
from tests.broker.wire.diagrams.scenes import hostile_story, produced, story

TEXT = r"(?:[^#;<>&\"%{}\\\n:]|#\d+;)+"
LINE = re.compile(
    rf"    (?:participant p\d+ as {TEXT}(?:<br/>{TEXT})?|p\d+(?:->>|-->>|--x)p\d+: {TEXT}|note over p\d+(?:,p\d+)?: {TEXT})",
)


def shown(source: str) -> str:
    """Returns what Mermaid shows for text: the characters in place of their numbers."""
    return unescape(re.sub(r"#(\d+);", r"&#\1;", source))


def test_mermaid_has_participants_arrows_and_notes() -> None:
    lines = FORMATS["mermaid"](story()).splitlines()
    assert lines[0] == "sequenceDiagram"
    assert lines[1:5] == [
        "    participant p0 as reader",
        "    participant p1 as writer<br/>librdkafka 2.16.1",
        "    participant p2 as node 1",
        "    participant p3 as node 2",
    ]
    assert "    p1->>p2: Produce v11 orders-0 acks=all" in lines
    assert "    p2-->>p1: orders-0 at offset 2" in lines
    assert "    p2--xp1: NOT_LEADER_OR_FOLLOWER" in lines
    assert "    note over p3: waited 500 ms for records of orders-1" in lines
    assert all(LINE.fullmatch(line) for line in lines[1:])


def test_hostile_names_stay_inside_their_text() -> None:
    lines = FORMATS["mermaid"](hostile_story()).splitlines()
    assert [line for line in lines[1:] if not LINE.fullmatch(line)] == []


@pytest.mark.parametrize("text", ["a;b#c\"<br>'%%{x}", "größer → ✗ 数", "participant end", "a#38;lt;"])
def test_quoted_text_is_shown_unchanged(text: str) -> None:
    assert shown(quote(text)) == text


def test_mermaid_of_one_exchange_is_complete() -> None:
    assert FORMATS["mermaid"]([produced(1, 0, software="")]) == (
        "sequenceDiagram\n    participant p0 as writer\n    participant p1 as node 1\n"
        "    p0->>p1: Produce v11 orders-0 acks=all\n    p1-->>p0: orders-0 at offset 1\n"
    )
