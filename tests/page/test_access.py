"""The page of a listener with a token: it asks for the token, keeps it for the session only, and sends it in a header."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from odradek import Cluster
from tests.page.accessibility import check_accessibility
from tests.page.conftest import PageOpener

TOKEN = "s3cret-token"
REFUSED = ("status of 401",)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=1, topics={"orders": 1}, control="127.0.0.1:0", control_token=TOKEN) as cluster:
        yield cluster


def enter(page: Page, token: str) -> None:
    page.get_by_role("textbox", name="Token").fill(token)
    page.keyboard.press("Enter")


def test_page_asks_for_the_token_until_it_is_right(open_page: PageOpener, cluster: Cluster) -> None:
    page = open_page(cluster, "topics", allowed=REFUSED)
    expect(page.get_by_role("dialog")).to_contain_text("This listener needs the token of --control-token.")
    expect(page.get_by_role("textbox", name="Token")).to_be_focused()
    check_accessibility(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_visible()
    enter(page, "wrong")
    expect(page.get_by_role("dialog")).to_contain_text("The token was refused.")
    enter(page, TOKEN)
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("link", name="orders")).to_be_visible()
    expect(page.locator("#stream")).to_have_text("live")


def test_token_is_kept_for_the_session_and_not_in_addresses(open_page: PageOpener, cluster: Cluster) -> None:
    page = open_page(cluster, "topics", allowed=REFUSED)
    urls: list[str] = []
    headers: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    page.on("request", lambda request: headers.append(request.headers.get("authorization", "")))
    enter(page, TOKEN)
    expect(page.get_by_role("link", name="orders")).to_be_visible()
    page.reload()
    expect(page.get_by_role("link", name="orders")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert f"Bearer {TOKEN}" in headers
    assert not any(TOKEN in url for url in (*urls, page.url))
    assert page.evaluate("JSON.stringify([{...localStorage}, document.cookie])") == '[{},""]'
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.get_by_role("dialog")).to_be_visible()


def test_token_with_any_characters_is_refused_without_harm(open_page: PageOpener, cluster: Cluster) -> None:
    page = open_page(cluster, "topics", allowed=REFUSED)
    for token in ("\u20ac\u2028", " ", "a\x7fb", "x" * 40_000):
        enter(page, token)
        expect(page.get_by_role("dialog")).to_contain_text("The token was refused.")
    enter(page, TOKEN)
    expect(page.get_by_role("link", name="orders")).to_be_visible()


def test_page_cannot_be_framed_by_another_page(open_page: PageOpener, cluster: Cluster) -> None:
    with Cluster(nodes=1, control="127.0.0.1:0") as other:
        page = open_page(other, allowed=("frame-ancestors", "Content Security Policy", "request to another host", "ERR_BLOCKED"))
        expect(page.locator("#stream")).to_have_text("live")
        headers = page.evaluate("fetch('/').then((response) => Object.fromEntries(response.headers))")
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["cross-origin-opener-policy"] == "same-origin"
        page.goto("about:blank")
        page.set_content(f"<iframe src='http://{cluster.control}/'></iframe>")
        expect(page.frame_locator("iframe").locator("#views")).to_have_count(0)
