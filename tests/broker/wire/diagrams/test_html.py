"""Diagrams as HTML: self-contained, with details and repetitions, and safe with hostile names."""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from hashlib import sha256
from html.parser import HTMLParser

from odradek.broker.wire.diagrams.formats import FORMATS
from odradek.broker.wire.exchange import Entry
from tests.broker.wire.diagrams.scenes import heartbeat, hostile_story, story


class Page(HTMLParser):
    """The elements, the scripts and styles, and the texts of details."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: Counter[str] = Counter()
        self.attributes: dict[str, list[dict[str, str | None]]] = {}
        self.contents: dict[str, list[str]] = {"script": [], "style": [], "pre": []}
        self._open = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag] += 1
        self.attributes.setdefault(tag, []).append(dict(attrs))
        self._open = tag
        if tag in self.contents:
            self.contents[tag].append("")

    def handle_data(self, data: str) -> None:
        if self._open in self.contents:
            self.contents[self._open][-1] += data

    def handle_endtag(self, tag: str) -> None:
        self._open = ""


def test_html_has_a_row_with_details_for_each_step() -> None:
    page = Page(FORMATS["html"](story()))
    assert page.elements["details"] == page.elements["summary"] == page.elements["pre"] == 16
    assert "api: Produce v11, correlation id 7" in page.contents["pre"][1]
    assert "request: ProduceRequest(transactional_id=None, acks=-1" in page.contents["pre"][1]
    assert any("errors: NOT_LEADER_OR_FOLLOWER" in text for text in page.contents["pre"])
    assert any("event: control" in text for text in page.contents["pre"])


def test_html_allows_only_its_own_script_and_style() -> None:
    page = Page(FORMATS["html"](story()))
    (policy,) = [each["content"] for each in page.attributes["meta"] if each.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    for kind in ("script", "style"):
        (content,) = page.contents[kind]
        assert f"{kind}-src 'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'" in policy
    assert "default-src 'none'" in policy


def test_html_refers_to_no_other_resource() -> None:
    source = FORMATS["html"](hostile_story())
    assert not re.search(r"https?:|@import|url\(|href=|src=\"", source)


def test_hostile_names_add_no_elements() -> None:
    page = Page(FORMATS["html"](hostile_story()))
    assert page.elements["script"] == page.elements["style"] == 1
    known = {"html", "meta", "title", "style", "form", "label", "input", "output", "main", "details", "summary", "pre", "script"}
    assert set(page.elements) == known | {"svg", "rect", "g", "text", "path"}
    names = {name for element in page.attributes.values() for attributes in element for name in attributes}
    assert not any(name.startswith("on") for name in names)
    assert any("alert(1)" in text for text in page.contents["pre"])


def test_repetitions_are_hidden_until_they_are_wanted() -> None:
    beats: list[Entry] = [heartbeat(number, number) for number in range(5)]
    rows = Page(FORMATS["html"](beats)).attributes["details"]
    assert [row.get("data-kind") for row in rows].count("fold") == 1
    hidden = [row for row in rows if "hidden" in row]
    assert len(hidden) == 8 and all(row["data-repeated"] == "1" for row in hidden)
