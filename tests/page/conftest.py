"""A headless Chromium, and pages that are watched while a test uses them.

The Chromium is that of the system (`apt install chromium`); tests are skipped without one. A page fails its test if the console contains
an error, such as a violation of the content security policy, if an exception is not caught, or if a request goes to another host.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is installed by `make test`")

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Error, Page, Request, expect, sync_playwright

from odradek import Cluster
from tests.page.scene import Scene

NAMES = ("chromium", "chromium-browser", "google-chrome")
SCREENSHOTS = Path(__file__).parent / "screenshots"
"""The screenshots of the latest run. CI keeps them as artefacts."""
EXPECT_MS = 20_000

PageOpener = Callable[..., Page]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.sockets)
            item.add_marker(pytest.mark.clients)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Returns the browser. It ends with its module, because tests elsewhere run event loops in this thread, which Playwright occupies."""
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("there is no Chromium; install it with `apt install chromium`, or name it in CHROMIUM")
    expect.set_options(timeout=EXPECT_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path)
        yield browser
        browser.close()


class Watched:
    """A context of the browser whose pages report everything that should not happen."""

    def __init__(self, context: BrowserContext, host: str) -> None:
        self.context = context
        self.faults: list[str] = []
        self.allowed: list[str] = []
        """Parts of messages that the test expects, such as the status of a refused request."""
        self._host = host
        context.on("console", self._console)
        context.on("weberror", lambda error: self.faults.append(f"uncaught: {error.error}"))
        context.on("request", self._request)
        context.on("dialog", lambda dialog: self.faults.append(f"dialog: {dialog.message}"))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(f"console: {message.text} {message.location}")

    def _request(self, request: Request) -> None:
        if not request.url.startswith((f"http://{self._host}/", "data:")):
            self.faults.append(f"request to another host: {request.url}")

    def check(self) -> None:
        found = [fault for fault in self.faults if not any(each in fault for each in self.allowed)]
        assert not found, "\n".join(found)


@pytest.fixture
def open_page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[PageOpener]:
    """Returns a function that opens a view of a cluster's page. Its options are those of a browser context.

    `allowed` are parts of messages that are expected in the console.
    """
    if "cluster" in request.fixturenames:
        request.getfixturevalue("cluster")  # it is created first, so that it ends after the pages, which would report that it is lost
    opened: list[Watched] = []

    def open_view(cluster: Cluster, view: str = "", *, allowed: tuple[str, ...] = (), **options: Any) -> Page:
        assert cluster.control is not None
        watched = Watched(
            browser.new_context(**{"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **options}), cluster.control
        )
        watched.allowed.extend(allowed)
        opened.append(watched)
        page = watched.context.new_page()
        page.goto(f"http://{cluster.control}/#/{view}")
        return page

    yield open_view
    for watched in opened:
        for number, page in enumerate(watched.context.pages):
            with suppress(Error):  # the page of a failed test may be gone
                keep(page, f"{request.node.name}-{number}")
        watched.context.close()
    for watched in opened:
        watched.check()


def keep(page: Page, name: str) -> None:
    """Writes a screenshot of a page whose name is that of the test."""
    SCREENSHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{''.join(each if each.isalnum() or each in '-_' else '-' for each in name)}.png")


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    """Returns a cluster in which clients of all kinds work."""
    with Scene() as scene:
        yield scene


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Returns a cluster of its own, for a test that changes it."""
    with Cluster(nodes=3, topics={"orders": 2}, seed=1, control="127.0.0.1:0") as cluster:
        yield cluster
