"""Diagrams as SVG: well-formed, self-contained, readable in both colour schemes, and safe with hostile names."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from odradek.broker.wire.diagrams.formats import FORMATS
from odradek.broker.wire.exchange import Entry
from tests.broker.wire.diagrams.scenes import HOSTILE, heartbeat, hostile_story, produced, story

SVG = "{http://www.w3.org/2000/svg}"


def parsed(entries: list[Entry]) -> ElementTree.Element:
    return ElementTree.fromstring(FORMATS["svg"](entries))


def texts(root: ElementTree.Element) -> list[str]:
    return ["".join(each.itertext()) for each in root.iter(f"{SVG}text")]


def test_svg_shows_lifelines_arrows_and_notes() -> None:
    root = parsed(story())
    found = texts(root)
    assert found[:5] == ["reader", "writer", "librdkafka 2.16.1", "node 1", "node 2"]
    assert {"Produce v11 orders-0 acks=all", "✗ NOT_LEADER_OR_FOLLOWER", "FIN by the broker: message.max.bytes is 1048588"} <= set(found)
    tones = {group.get("class") for group in root.iter(f"{SVG}g")}
    assert {"plain", "wait", "fault", "error", "event"} <= tones


def test_svg_fits_its_texts() -> None:
    root = parsed([produced(number, number, client_id="c" * 40, connection=number, peer=f"10.0.0.{number}:1") for number in range(1, 9)])
    width = float(root.get("width", "0"))
    assert all(0 <= float(each.get("x", "-1")) <= width for each in root.iter() if each.get("x"))


def test_svg_refers_to_no_other_resource() -> None:
    text = FORMATS["svg"](hostile_story())
    assert re.findall(r"https?://[^\"]*", text) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"@import|url\(|href|src=", text)


def test_svg_has_colours_for_both_schemes() -> None:
    text = FORMATS["svg"](story())
    assert "prefers-color-scheme:dark" in text
    used = set(re.findall(r"var\((--[a-z]+)", text)) - {"--tone"}
    light, dark = text.split("@media")
    assert {name for name in used if f"{name}:#" in light} == used == {name for name in used if f"{name}:#" in dark.partition("}}")[0]}


def test_hostile_names_are_only_text() -> None:
    root = parsed(hostile_story())
    assert {each.tag.removeprefix(SVG) for each in root.iter()} == {"svg", "title", "style", "rect", "g", "text", "path"}
    assert any("<script>alert(1)</script>" in text for text in texts(root))
    assert HOSTILE not in FORMATS["svg"](hostile_story())


def test_svg_folds_repetitions() -> None:
    beats: list[Entry] = [heartbeat(number, number) for number in range(100)]
    found = texts(parsed(beats))
    assert found.count("Heartbeat v4 billing") == 1
    assert "the same 99 more times" in found


def test_svg_without_entries_is_well_formed() -> None:
    assert texts(parsed([])) == []
