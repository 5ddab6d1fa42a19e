"""The page about an exploration: the diagram of a failure works, and nothing else runs or is loaded."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect

from odradek.broker.exploring.page import page_of_explorations
from odradek.broker.exploring.verdicts import Evidence, Exploration, FoundFailure
from odradek.broker.wire.diagrams.formats import FORMATS
from tests.broker.wire.diagrams.scenes import HOSTILE, story
from tests.page.conftest import SCREENSHOTS


def test_diagram_of_a_found_fault_can_be_filtered(browser: Browser, tmp_path: Path) -> None:
    evidence = Evidence((HOSTILE,), FORMATS["html"](story()), HOSTILE)
    failure = FoundFailure("Produce#1@producer:lost-response", HOSTILE, "failed", HOSTILE, 3, 3, evidence)
    file = tmp_path / "found.html"
    file.write_text(page_of_explorations([Exploration(HOSTILE, points=6, passed=13, failures=[failure])], "--only '{}'"))
    page = browser.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(file.as_uri())
    page.locator("summary").click()
    frame = page.frame_locator("iframe")
    expect(frame.locator("output")).to_contain_text("steps")
    frame.get_by_label("Filter").fill("heartbeat")
    expect(frame.locator("details:visible")).to_have_count(2)
    SCREENSHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SCREENSHOTS / "exploration.png", full_page=True)
    assert problems == []
