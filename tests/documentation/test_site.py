"""The site that Sphinx makes of docs/: without warnings, complete, and readable without a network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from odradek import __version__

from .listings import GENERATED, ROOT, pages

if find_spec("sphinx") is None or find_spec("myst_parser") is None or find_spec("furo") is None:
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
