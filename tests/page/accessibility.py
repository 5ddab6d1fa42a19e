"""Checks of the page for accessibility."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page


def check_accessibility(page: Page) -> None:
    violations = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    found = [f"{each['id']}: {each['help']}: {[node['html'][:200] for node in each['nodes'][:3]]}" for each in violations]
    assert not found, "\n".join(found)
