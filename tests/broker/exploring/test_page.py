"""The page about an exploration."""

from __future__ import annotations

from odradek.broker.exploring.page import page_of_explorations
from odradek.broker.exploring.verdicts import Evidence, Exploration, FoundFailure


def test_page_escapes_texts_and_contains_diagrams() -> None:
    evidence = Evidence(("a <b>",), diagram="<svg>1</svg>", story="+0 ms\n<i>", files=("file: x",))
    failure = FoundFailure("Fetch#1@<g>:late", "<g>-1: late", "failed", "assert '<' == '\x1b'", 3, 3, evidence)
    page = page_of_explorations([Exploration("test_<it>", failures=[failure], unreached=["Fetch#2@g:late"], left=2)], "--only '{}'")
    assert "<g>" not in page
    assert "&lt;g&gt;-1: late" in page
    assert "\\x1b" in page
    assert 'srcdoc="&lt;svg&gt;1&lt;/svg&gt;"' in page
    assert "not reached: Fetch#2@g:late" in page
    assert "2 faults were not tried" in page


def test_page_names_damage_that_was_not_noticed() -> None:
    found = Exploration("test_it", unnoticed={"orders-0#2:gone": "the 2nd record of orders-0 was gone"})
    page = page_of_explorations([found], "")
    assert "</span>: the 2nd record of orders-0 was gone (<code>orders-0#2:gone</code>)" in page


def test_page_loads_nothing_from_elsewhere() -> None:
    page = page_of_explorations([Exploration("test_it")], "")
    assert "default-src &#x27;none&#x27;" in page or "default-src 'none'" in page
