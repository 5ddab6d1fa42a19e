"""Every view of the page while clients work: its contents, its accessibility, and its size from 360 to 1600 pixels."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.page.conftest import PageOpener, keep
from tests.page.scene import Scene

VIEWS = {
    "": ["Healthy", "bootstrap.servers", "controller", "shop-payments", "User:billing"],
    "topics": ["orders", "payments", "cleanup.policy=compact", "in sync"],
    "topics/orders": ["High watermark", "customer-", "00 01 fe ff", "1 header"],
    "groups": ["billing", "Stable", "classic"],
    "groups/billing": ["Members", "billing-0", "orders 0 1", "Committed", "node ", "lag from", "starts generation"],
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


def check_accessibility(page: Page) -> None:
    violations = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    found = [f"{each['id']}: {each['help']}: {[node['html'][:200] for node in each['nodes'][:3]]}" for each in violations]
    assert not found, "\n".join(found)
