"""Every view of the page while clients work: its contents, its accessibility, and its size from 360 to 1600 pixels."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.page.accessibility import check_accessibility
from tests.page.conftest import PageOpener, keep
from tests.page.scene import Scene

VIEWS = {
    "": ["Healthy", "bootstrap.servers", "controller", "shop-payments", "User:billing"],
    "topics": ["orders", "payments", "cleanup.policy=compact", "in sync"],
    "topics/orders": ["High watermark", "customer-", "00 01 fe ff", "1 header"],
    "groups": ["billing", "Stable", "classic"],
    "groups/billing": ["Members", "billing-0", "orders 0 1", "Committed", "node ", "lag from", "Starts generation"],
    "transactions": ["payments-1", "Ongoing", "payments"],
    "access": ["shop", "SCRAM-SHA-512", "User:billing", "DENY", "prefix"],
    "wire": ["Fetch v", "orders", "node 1", "billing-0"],
    "faults": ["api=Produce", "Remove", "Add a ready-made fault"],
    "clock": ["real time", "Freeze", "+ 10m"],
    "nodes": ["Node 1", "Stop", "Isolate", "Listeners"],
    "state": ["Restore", "Release", "Reset to the state after start"],
}
WIDTHS = (1600, 1200, 900, 700, 480, 360)


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.replace("/", "-") or "overview")
def test_view_shows_the_cluster_accessibly(open_page: PageOpener, scene: Scene, view: str) -> None:
    page = open_page(scene.cluster, view, viewport={"width": 1600, "height": 1000})
    for text in VIEWS[view]:
        expect(page.locator("main")).to_contain_text(text)
    expect(page.locator("#stream")).to_contain_text("live")
    expect(page.locator("main h1")).to_have_count(1)
    expect(page.locator("nav [aria-current=page]")).to_have_count(1)
    check_accessibility(page)
    keep(page, f"view-{view.replace('/', '-') or 'overview'}-1600-light")
    page.evaluate("document.querySelectorAll('main details').forEach((each) => { each.open = true; })")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{view} scrolls sideways at {width} pixels"
    page.emulate_media(color_scheme="dark")
    check_accessibility(page)
    keep(page, f"view-{view.replace('/', '-') or 'overview'}-360-dark")


PHONE = {"viewport": {"width": 390, "height": 844}}
DISPLAYS = """(tables) => tables.map((table) => [table, ...["thead", "tbody tr", "td"].map((part) => table.querySelector(part))]
    .map((part) => getComputedStyle(part).display))"""
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-")


@pytest.mark.slow
@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.replace("/", "-") or "overview")
def test_view_on_a_phone_has_tables_and_no_markup(open_page: PageOpener, scene: Scene, view: str) -> None:
    page = open_page(scene.cluster, view, **PHONE)
    expect(page.locator("main")).to_contain_text(VIEWS[view][0] if view else "Connections")
    displays = page.locator("main table").evaluate_all(DISPLAYS)
    assert all(each == ["table", "table-header-group", "table-row", "table-cell"] for each in displays)
    page.evaluate("document.querySelectorAll('main details').forEach((each) => { each.open = true; })")
    assert "`" not in page.locator("main").inner_text()
    header = page.locator("header")
    assert header.evaluate("(each) => each.scrollWidth <= each.clientWidth && each.offsetHeight < 60"), "the header has two lines"
    keep(page, f"view-{view.replace('/', '-') or 'overview'}-390")


@pytest.mark.parametrize("width", [1280, 390])
def test_tiles_are_lines_without_gaps(open_page: PageOpener, scene: Scene, width: int) -> None:
    page = open_page(scene.cluster, viewport={"width": width, "height": 844})
    tiles = page.locator(".tiles div")
    expect(tiles).to_have_count(7)
    lines = tiles.evaluate_all("(all) => all.map((each) => [each.offsetTop, each.offsetHeight])")
    assert len({height for _, height in lines}) == 1
    assert len({top for top, _ in lines}) == (1 if width == 1280 else 4)


def test_rebalances_repeat_neither_group_nor_long_ids(open_page: PageOpener, scene: Scene) -> None:
    page = open_page(scene.cluster, "groups/billing")
    events = page.get_by_role("table", name="Rebalances")
    expect(events).to_contain_text("Starts generation")
    text = events.inner_text()
    assert "Group billing" not in text and "Member billing-0-" in text
    assert not UUID.search(page.locator("main").inner_text())


@pytest.mark.parametrize(
    ("view", "message"), [("topics/nosuch", "There is no topic nosuch."), ("groups/nosuch", "there is no group 'nosuch'")]
)
def test_unknown_name_offers_nothing_but_the_message(open_page: PageOpener, scene: Scene, view: str, message: str) -> None:
    page = open_page(scene.cluster, view, allowed=("status of 400",))
    expect(page.get_by_role("alert").filter(has_text=message)).to_be_visible()
    for role in ("table", "button", "form", "combobox"):
        expect(page.locator("main").get_by_role(role)).to_have_count(0)
    assert len(page.locator("main").inner_text().splitlines()) < 10
