"""The page about a failed test: the diagram in its frame works, and nothing else runs or is loaded."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect

from odradek.broker.wire.diagrams.formats import FORMATS
from odradek.plugin.artifact_page import ClusterPart, page_of
from odradek.plugin.failure_report import ClusterReport
from tests.broker.wire.diagrams.scenes import HOSTILE, story
from tests.page.conftest import SCREENSHOTS


def test_diagram_of_a_failed_test_can_be_filtered(browser: Browser, tmp_path: Path) -> None:
    report = ClusterReport("cluster: node 1 at 127.0.0.1:9092", {"Story": [HOSTILE], "Doctor": ["doctor: oversize batches"]})
    file = tmp_path / "test_orders.html"
    file.write_text(page_of(f"test_orders.py::{HOSTILE}", {"call": HOSTILE}, [ClusterPart(report, FORMATS["html"](story()))]))
    page = browser.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(file.as_uri())
    frame = page.frame_locator("iframe")
    expect(frame.locator("output")).to_contain_text("steps")
    frame.get_by_label("Filter").fill("heartbeat")
    expect(frame.locator("details:visible")).to_have_count(2)
    SCREENSHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SCREENSHOTS / "failed_test.png", full_page=True)
    assert problems == []
