"""The record browser of the page beside a schema registry: decoded values, and bytes with the reason why they are not decoded."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from odradek import Cluster
from tests.page.accessibility import check_accessibility
from tests.page.conftest import PageOpener, keep

MARKUP = "<img src=x onerror='window.hacked=1'>"
ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}, {"name": "note", "type": "string"}]}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=1, topics={"orders": 1}, control="127.0.0.1:0") as running:
        running.schemas.register("orders-value", ORDER)
        running.schemas.register(MARKUP, ORDER)
        note = MARKUP.encode()
        exact = bytes.fromhex("00000000 01 82 80 80 80 80 80 80 20") + bytes([len(note) * 2]) + note
        running.produce("orders", [exact, b"\0\0\0\0\7<b>", "plain text"])
        yield running


def test_values_are_decoded_by_their_schemas(open_page: PageOpener, cluster: Cluster) -> None:
    page = open_page(cluster, "topics/orders")
    records = page.locator(".records > li")
    expect(records).to_have_count(3)
    plain, unknown, order = records.nth(0), records.nth(1), records.nth(2)
    expect(order.locator(".value")).to_contain_text('{"id":9007199254740993,"note":"<img')
    expect(order.locator(".value .tag")).to_contain_text("schema 1")
    order.locator("summary").click()
    expect(order.locator(".details")).to_contain_text("Schema 1 (AVRO) of <img")
    expect(order.locator(".details pre")).to_contain_text('"id": 9007199254740993,')
    unknown.locator("summary").click()
    expect(unknown.locator(".details")).to_contain_text("Not decoded: the schema registry has no schema with the id 7")
    expect(unknown.locator(".details pre")).to_contain_text("00 00 00 00 07 3c 62 3e")
    expect(plain.locator(".value")).to_have_text("plain text")
    check_accessibility(page)
    keep(page, "schemas")
    page.locator("form.toolbar").get_by_label("Show as").select_option("Hex")
    expect(order.locator(".details pre")).to_contain_text("00 00 00 00 01 82 80")
    assert page.evaluate("window.hacked") is None and page.locator("main img").count() == 0
