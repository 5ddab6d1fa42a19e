"""The site that Sphinx makes of docs/: without warnings, complete, and readable without a network."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is installed by `make test`")

from playwright.sync_api import Browser, expect, sync_playwright

from odradek import __version__

from .listings import GENERATED, ROOT, listings, pages
from .session import commands

if any(find_spec(name) is None for name in ("sphinx", "myst_parser", "furo", "sphinx_copybutton")):
    pytest.skip("needs Sphinx: pip install 'odradek[docs]'", allow_module_level=True)

LOADING = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """The ids and addresses in an HTML page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        """Addresses from which a browser loads something."""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.ids.add(attributes.get("id") or "")
        if tag == "a":
            self.links.append(attributes.get("href") or "")
        if attributes.get("rel") != "canonical":
            self.loaded.append(attributes.get(LOADING.get(tag, "")) or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make site` does."""
    folder = tmp_path_factory.mktemp("site")
    environ = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / ".dev"), str(ROOT)])}
    options = ["--fail-on-warning", "--keep-going", "--nitpicky", "--quiet", "-b", "html", "-d", str(folder / "trees")]
    command = [sys.executable, "-m", "sphinx", *options, str(ROOT / "docs"), str(folder / "html")]
    done = subprocess.run(command, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "html"


@pytest.fixture(scope="module")
def html(site: Path) -> dict[Path, Page]:
    return {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def broken_links(html: dict[Path, Page]) -> Iterator[str]:
    for path, page in html.items():
        for link in map(urlsplit, page.links):
            target = (path.parent / unquote(link.path)).resolve() if link.path else path
            if link.scheme or link.netloc:
                continue
            if not target.exists() or (link.fragment and target in html and unquote(link.fragment) not in html[target].ids):
                yield f"{path.name}: {link.geturl()}"


def test_links_of_the_site_lead_to_pages_and_anchors(html: dict[Path, Page]) -> None:
    assert not list(broken_links(html))
    path, page = next(iter(html.items()))
    page.links.append("missing.html")
    page.links.append("#missing")
    assert list(broken_links(html)) == [f"{path.name}: missing.html", f"{path.name}: #missing"]


def test_site_loads_nothing_from_other_hosts(site: Path, html: dict[Path, Page]) -> None:
    assert not [address for page in html.values() for address in page.loaded if urlsplit(address).netloc]
    styles = "\n".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert not re.findall(r"""(?:@import|url\()\s*["']?(?:https?:)?//""", styles)


def test_site_has_every_page_and_shows_the_version(site: Path, html: dict[Path, Page]) -> None:
    missing = [
        name
        for name in [*pages(), *GENERATED]
        if name != "README.md" and site / Path(name).relative_to("docs").with_suffix(".html") not in html
    ]
    assert not missing
    assert f"odradek {__version__}" in (site / "index.html").read_text(encoding="utf-8")


def test_search_of_the_site_needs_no_request(site: Path) -> None:
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert index.startswith("Search.setIndex(") and "five-minutes" in index
    assert "SHOW_SEARCH_SUMMARY: false" in (site / "_static" / "documentation_options.js").read_text(encoding="utf-8")


def test_site_has_logo_and_colours_of_the_page(site: Path) -> None:
    text = (site / "index.html").read_text(encoding="utf-8")
    style = (ROOT / "broker" / "controls" / "http" / "page" / "style.css").read_text(encoding="utf-8")
    colours = re.findall(r"--accent: (#\w+);", style)
    assert len(colours) == 2 and all(f"--color-brand-primary: {colour};" in text for colour in colours)
    icon = (ROOT / "broker" / "controls" / "http" / "page" / "icon.svg").read_bytes()
    assert 'class="sidebar-logo" src="_static/icon.svg"' in text and (site / "_static" / "icon.svg").read_bytes() == icon


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("there is no Chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path)
        yield browser
        browser.close()


def test_listing_is_copied_without_prompts_and_output(site: Path, chromium: Browser) -> None:
    with chromium.new_context(permissions=["clipboard-read", "clipboard-write"]) as context:
        page = context.new_page()
        page.goto((site / "commands.html").as_uri())
        page.locator(".highlight-console").nth(1).hover()
        page.locator(".highlight-console").nth(1).locator("button.copybtn").click()
        copied = str(page.evaluate("navigator.clipboard.readText()"))
    (listing, *_) = (each for each in list(listings("docs/commands.md"))[1:] if each.language == "console")
    assert copied.splitlines() == [line for command in commands(listing) for line in command.text.splitlines()]


@pytest.mark.parametrize(
    ("name", "words", "found"),
    [("controls", "node STOP", "node stop"), ("apis", "offsetcommit", "OffsetCommit"), ("configuration", "num.part", "num.partitions")],
)
def test_long_table_has_a_search_box(site: Path, chromium: Browser, name: str, words: str, found: str) -> None:
    with chromium.new_context() as context:
        page = context.new_page()
        page.goto((site / f"{name}.html").as_uri())
        rows = page.locator("article table tbody tr:visible")
        before = rows.count()
        page.get_by_label("Find in this table").last.fill(words)
        expect(rows.filter(has_text=found).first).to_be_visible()
        assert rows.count() < before - 15
        page.get_by_label("Find in this table").last.fill("")
        expect(rows).to_have_count(before)
