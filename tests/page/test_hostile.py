"""Names, keys, values and metadata of hostile clients have no effect on the page: markup, control characters, a megabyte."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from playwright.sync_api import Page, expect

from odradek import Cluster
from tests.page.conftest import PageOpener

MARKUP = """<img src=x onerror="window.hacked=1"><script>window.hacked=1</script></textarea></title>'"`--><svg/onload=hacked()>${hacked}"""
CONTROL = "\x00\x01\x1b[2J\r\n\x7f\x9b\u202egnp\u2066\u200b\ufeff\u2028"
VISIBLE = "\u2400\u2401\u241b[2J\u240d\u240a\u2421\\u009b\\u202egnp\\u2066\\u200b\\ufeff\\u2028"
MEGABYTE = 1_000_000
LONG = "c" * 32_000
NAME = MARKUP + CONTROL.replace("\x00", "")
"""librdkafka takes names that end at the first NUL."""


class HostileClients:
    """Clients whose every name is hostile, connected to a cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        settings: dict[str, Any] = {"bootstrap.servers": cluster.bootstrap_servers, "client.id": NAME}
        self.producer = Producer(
            settings | {"transactional.id": NAME, "transaction.timeout.ms": 900_000, "message.max.bytes": 4 * MEGABYTE}
        )
        self.producer.init_transactions(30)
        self.producer.begin_transaction()
        self.producer.produce("orders", MARKUP, key=MARKUP, partition=0, headers={NAME: MARKUP})
        self.producer.produce("orders", CONTROL, key=CONTROL, partition=0)
        self.producer.produce("orders", MARKUP[0] * MEGABYTE, key="k" * MEGABYTE, partition=1)
        self.producer.produce("orders", b"\xff" * MEGABYTE, partition=2)
        self.producer.produce("orders", "[" * MEGABYTE, partition=2)
        assert self.producer.flush(60) == 0
        self.consumer = Consumer(settings | {"group.id": NAME, "group.instance.id": NAME, "isolation.level": "read_uncommitted"})
        self.consumer.subscribe(["orders"])
        cluster.wait_until(lambda: self.consumer.poll(0.1) or any(group.state == "Stable" for group in cluster.groups()), timeout_s=60)
        self.consumer.commit(offsets=[TopicPartition("orders", 0, 1, NAME)], asynchronous=False)
        cluster.fault(api="Metadata", client_id=NAME, delay_ms=1)
        AdminClient(settings).list_topics(MARKUP, timeout=30)
        self.long = Producer({"bootstrap.servers": cluster.bootstrap_servers, "client.id": LONG})
        self.long.produce("orders", b"", partition=1)
        assert self.long.flush(30) == 0

    def close(self) -> None:
        self.consumer.close()


@pytest.fixture(scope="module")
def hostile() -> Iterator[Cluster]:
    settings = {"message.max.bytes": 4 * MEGABYTE}
    acls = [f"User:{MARKUP}:allow:read:topic:{MARKUP}", "User:ANONYMOUS:allow:all:topic:*"]
    acls += [f"User:ANONYMOUS:allow:all:{resource}:*" for resource in ("group", "transactional_id")] + ["User:ANONYMOUS:allow:all:cluster"]
    cluster = Cluster(nodes=1, topics={"orders": 3}, settings=settings, acls=acls, seed=1, control="127.0.0.1:0")
    with cluster, closing(HostileClients(cluster)):
        yield cluster


def check_harmless(page: Page) -> None:
    """Checks that no markup of a client became an element, and that the page still works."""
    assert page.evaluate("window.hacked") is None
    assert page.locator("script").count() == 1
    assert page.locator("main img, main script, main iframe, main [onerror], main [onload]").count() == 0
    assert page.title().endswith("odradek")
    page.get_by_role("link", name="Overview", exact=True).click()
    expect(page.locator("h1")).to_have_text("Overview")


@pytest.mark.parametrize("view", ["", "groups", "transactions", "access", "faults", "wire"])
def test_hostile_names_are_shown_as_text(open_page: PageOpener, hostile: Cluster, view: str) -> None:
    page = open_page(hostile, view)
    expect(page.locator("main")).to_contain_text(MARKUP[:60])
    for details in page.locator("main td details summary").all():
        details.click()
    check_harmless(page)


def test_long_client_id_is_cut(open_page: PageOpener, hostile: Cluster) -> None:
    page = open_page(hostile)
    expect(page.get_by_role("table", name="Connections")).to_contain_text("c\u2026 (32,000 characters)")
    assert len(page.locator("main").inner_text()) < len(LONG)


def test_topic_of_a_hostile_request_is_text(open_page: PageOpener, hostile: Cluster) -> None:
    page = open_page(hostile, "wire")
    page.get_by_label("Filter").fill("api=Metadata and error")
    page.get_by_role("button", name="Apply").click()
    page.locator(".exchanges .failed").first.click()
    panel = page.get_by_role("complementary", name="Details")
    expect(panel).to_contain_text("INVALID_TOPIC_EXCEPTION")
    expect(panel.locator("pre").first).to_contain_text("<img src=x")
    check_harmless(page)


def test_hostile_group_is_described(open_page: PageOpener, hostile: Cluster) -> None:
    page = open_page(hostile, "groups")
    page.get_by_role("link", name=MARKUP[:30]).click()
    expect(page.locator("h1")).to_contain_text(MARKUP[:60])
    expect(page.locator("main")).to_contain_text("static <img")
    expect(page.get_by_role("table", name="Offsets")).to_contain_text(MARKUP[:60])
    check_harmless(page)


@pytest.mark.slow
def test_hostile_records_are_shown_as_text(open_page: PageOpener, hostile: Cluster) -> None:
    page = open_page(hostile, "topics/orders")
    expect(page.locator(".records > li")).to_have_count(6)
    page.evaluate("document.querySelectorAll('.records details').forEach((each) => { each.open = true; })")
    for format_ in ("Auto", "Text", "JSON", "Hex"):
        page.locator("form.toolbar").get_by_label("Show as").select_option(format_)
        expect(page.locator(".records pre").first).to_be_visible()
        more = page.get_by_role("button", name="Show ")
        while format_ in ("Auto", "Hex") and more.count():
            more.first.click()
        assert page.locator(".records").evaluate("(each) => each.textContent.length") < 5 * MEGABYTE
        if format_ != "Hex":
            expect(page.locator(".records")).to_contain_text(MARKUP)
            expect(page.locator(".records .key").filter(has_text="gnp")).to_have_text(VISIBLE)
    check_harmless(page)


def test_hostile_address_of_a_view_is_text(open_page: PageOpener, hostile: Cluster) -> None:
    page = open_page(hostile, "topics/%3Cimg%20src%3Dx%20onerror%3D%22window.hacked%3D1%22%3E")
    expect(page.get_by_role("alert").filter(has_text="There is no topic <img src=x")).to_be_visible()
    expect(page.locator("h1")).to_contain_text("<img src=x")
    check_harmless(page)


def test_markup_is_refused_by_the_policy_of_the_page(open_page: PageOpener, hostile: Cluster) -> None:
    """The browser itself refuses to turn text into markup or code, so that an error of the page could not do it."""
    page = open_page(hostile, allowed=("TrustedHTML", "Content Security Policy", "This document requires", "http://127.0.0.1:1/"))
    expect(page.locator("#stream")).to_have_text("live")
    for attempt in (
        "document.body.innerHTML = '<b>x</b>'",
        "document.body.insertAdjacentHTML('beforeend', '<b>x</b>')",
        "document.body.setAttribute('onclick', 'window.hacked = 1')",
        "document.createElement('script').text = 'window.hacked = 1'",
    ):
        assert page.evaluate(f"() => {{ try {{ {attempt}; return 'done'; }} catch (error) {{ return error.name; }} }}") == "TypeError"
    blocked = (
        "new Promise((done) => { document.addEventListener('securitypolicyviolation', (event) => done(event.effectiveDirective)); %s })"
    )
    style = "document.body.append(Object.assign(document.createElement('style'), { textContent: '* { color: red }' }))"
    assert page.evaluate(blocked % style) == "style-src-elem"
    image = "document.body.append(Object.assign(new Image(), { src: 'http://127.0.0.1:1/x.png' }))"
    assert page.evaluate(blocked % image) == "img-src"
    check_harmless(page)
