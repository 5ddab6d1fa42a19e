"""The live sequence diagram: exchanges of real clients, filters, pauses, details, the keyboard, and more exchanges than can be shown."""

from __future__ import annotations

import re
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from playwright.sync_api import Locator, Page, expect

from odradek import Cluster
from tests.page.accessibility import check_accessibility
from tests.page.conftest import PageOpener
from tests.page.scene import USERS, Scene

REFUSED = ("status of 400", "status of 409")


def produce(cluster: Cluster, client_id: str = "shop", times: int = 1) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "client.id": client_id})
    for number in range(times):
        producer.produce("orders", str(number))
        assert producer.flush(30) == 0


def rows(page: Page, text: str) -> Locator:
    return page.locator(".exchanges button").filter(has_text=text)


def apply(page: Page, text: str) -> None:
    page.get_by_label("Filter").fill(text)
    page.get_by_role("button", name="Apply").click()


def test_connection_with_another_protocol_says_why(open_page: PageOpener, cluster: Cluster) -> None:
    page = open_page(cluster, "wire")
    expect(page.locator("main")).to_contain_text("Live. 0 entries shown.")
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "security.protocol": "SSL", "log_level": 0})
    producer.poll(0)
    expect(rows(page, "this looks like TLS, but the listener is PLAINTEXT").first).to_be_visible()


def test_exchanges_are_arrows_between_clients_and_nodes(open_page: PageOpener, cluster: Cluster) -> None:
    page = open_page(cluster, "wire")
    expect(page.locator("main")).to_contain_text("Live. 0 entries shown.")
    produce(cluster)
    row = rows(page, "Produce v")
    expect(row).to_contain_text("orders")
    expect(row).to_contain_text(re.compile(r"[0-9.]+ m?s"))
    expect(page.locator(".lane.client")).to_have_text(["shop"])
    leader = next(each for each in cluster.topics()[0].partitions if each.end_offset).leader
    expect(row).to_contain_text(f"shop to node {leader}")
    assert page.locator(".lane").all_inner_texts().index(f"node {leader}") == row.evaluate(
        "(each) => Number(each.style.getPropertyValue('--left')) + Number(each.style.getPropertyValue('--span'))"
    )
    expect(rows(page, "ApiVersions v").first).to_be_visible()


def test_response_names_offset_and_records(open_page: PageOpener, cluster: Cluster) -> None:
    page = open_page(cluster, "wire")
    expect(page.get_by_label("Filter")).to_have_attribute("placeholder", "for example: api=Produce and error")
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "client.id": "shop", "linger.ms": 1000})
    for value in ("one", "two"):
        producer.produce("orders", value, partition=1)
    assert producer.flush(30) == 0
    row = rows(page, "Produce v")
    expect(row).to_contain_text(re.compile(r"orders-1 at offset 0 \(2 records\) · [0-9.]+ m?s"))
    row.click()
    expect(page.get_by_role("complementary", name="Details")).to_contain_text("orders-1 at offset 0 (2 records)")


def test_narrow_window_shows_a_list(open_page: PageOpener, cluster: Cluster) -> None:
    page = open_page(cluster, "wire", viewport={"width": 599, "height": 844})
    cluster.fault(api="Produce", error="NOT_ENOUGH_REPLICAS_AFTER_APPEND", times=1)
    produce(cluster)
    expect(page.locator(".exchanges .failed .label").last).to_contain_text("NOT_ENOUGH_REPLICAS_AFTER_APPEND")
    expect(page.locator(".lanes")).to_be_hidden()
    assert page.locator(".sequence").evaluate("(each) => each.scrollWidth <= each.clientWidth")
    client = rows(page, "Produce v").first.locator(".hidden")
    assert client.evaluate("(each) => each.offsetWidth") > 50, "the list does not say which client and node talk"
    check_accessibility(page)


def test_lifelines_pass_events_and_labels(open_page: PageOpener, cluster: Cluster) -> None:
    page = open_page(cluster, "wire")
    cluster.fault(api="Produce", error="NOT_ENOUGH_REPLICAS_AFTER_APPEND", times=1)
    produce(cluster)
    expect(page.locator(".exchanges .failed")).to_have_count(1)
    for row in (".exchanges li:has(.event)", ".exchanges li:has(.failed)"):
        assert "gradient" in str(page.locator(row).first.evaluate("(each) => getComputedStyle(each).backgroundImage"))
    widths = page.locator(".arrow").evaluate_all("(all) => all.map((each) => [each.offsetWidth, each.querySelector('.label').offsetWidth])")
    assert all(label <= arrow for arrow, label in widths)
    labels = page.locator(".label").evaluate_all("(all) => [...new Set(all.map((each) => getComputedStyle(each).backgroundColor))]")
    assert labels == ["rgba(0, 0, 0, 0)"]
    assert page.locator(".failed .response wbr").count() == "NOT_ENOUGH_REPLICAS_AFTER_APPEND".count("_")


def test_former_exchanges_are_shown_when_the_view_opens(open_page: PageOpener, cluster: Cluster) -> None:
    produce(cluster)
    page = open_page(cluster, "wire")
    expect(rows(page, "Produce v")).to_have_count(1)
    numbers = [int(each.get_attribute("data-sequence") or 0) for each in page.locator(".exchanges button").all()]
    assert numbers == sorted(numbers)


def test_filter_selects_exchanges_and_marks_a_typo(open_page: PageOpener, cluster: Cluster) -> None:
    produce(cluster)
    page = open_page(cluster, "wire", allowed=REFUSED)
    expect(rows(page, "ApiVersions v").first).to_be_visible()
    apply(page, "api=Produce")
    expect(page.locator(".exchanges button")).to_have_count(1)
    expect(rows(page, "Produce v")).to_have_count(1)
    apply(page, "api=Produc and error")
    error = page.locator("#filter-error")
    expect(error).to_contain_text("did you mean 'Produce'?")
    expect(error).to_contain_text("api=Produc and error\n      ^^^^^^")
    expect(page.get_by_label("Filter")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("main")).to_contain_text("Nothing is read.")
    check_accessibility(page)
    apply(page, "api=Metadata")
    expect(error).to_be_empty()
    expect(rows(page, "Metadata v").first).to_be_visible()
    assert all("Metadata v" in each for each in page.locator(".exchanges button").all_inner_texts())


def test_click_pauses_and_shows_details(open_page: PageOpener, cluster: Cluster) -> None:
    page = open_page(cluster, "wire")
    produce(cluster)
    rows(page, "Produce v").click()
    panel = page.get_by_role("complementary", name="Details")
    expect(panel.get_by_role("heading", name="Produce v")).to_be_focused()
    for text in ("Correlation id", "User:ANONYMOUS", "confluent-kafka-python", '"topic_data"', '"base_offset": 0', "Duration"):
        expect(panel).to_contain_text(text)
    check_accessibility(page)
    expect(page.locator("main")).to_contain_text("Paused.")
    produce(cluster, "later")
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(rows(page, "Produce v")).to_be_focused()
    page.get_by_role("button", name="Resume").click()
    expect(rows(page, "Produce v")).to_have_count(2)
    expect(page.locator(".lane.client")).to_have_text(["shop", "later"])


def test_details_of_a_dropped_exchange_are_explained(open_page: PageOpener) -> None:
    with Cluster(nodes=1, topics={"orders": 1}, control="127.0.0.1:0", record_exchanges=50) as cluster:
        page = open_page(cluster, "wire", allowed=("ERR_",))
        produce(cluster)
        expect(rows(page, "Produce v")).to_be_visible()
        page.get_by_role("button", name="Pause").click()
        produce(cluster, times=100)
        rows(page, "Produce v").first.click()
        expect(page.get_by_role("complementary", name="Details")).to_contain_text("The record has dropped this exchange")


def test_rows_are_reached_with_the_arrow_keys(open_page: PageOpener, cluster: Cluster) -> None:
    produce(cluster)
    page = open_page(cluster, "wire")
    all_rows = page.locator(".exchanges button")
    expect(rows(page, "Produce v")).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".exchanges button[tabindex='0']")).to_have_count(1)
    page.locator(".sequence").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Home")
    expect(all_rows.first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(all_rows.nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(all_rows.first).to_be_focused()
    page.keyboard.press("End")
    expect(all_rows.last).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("complementary", name="Details")).to_be_visible()


def test_errors_and_faults_are_marked(open_page: PageOpener, cluster: Cluster) -> None:
    page = open_page(cluster, "wire")
    cluster.fault(api="Produce", error="NOT_LEADER_OR_FOLLOWER", times=1)
    produce(cluster)
    row = page.locator(".exchanges .failed")
    expect(row).to_contain_text("NOT_LEADER_OR_FOLLOWER")
    expect(row).to_contain_text("hit by a fault")
    row.click()
    expect(page.get_by_role("complementary", name="Details")).to_contain_text("error=NOT_LEADER_OR_FOLLOWER")


def test_events_are_part_of_the_story(open_page: PageOpener, cluster: Cluster) -> None:
    page = open_page(cluster, "wire")
    produce(cluster)
    cluster.stop_node(3)
    expect(page.locator(".note[data-kind='connection opened']").first).to_be_visible()
    expect(page.locator(".note[data-kind=control]").first).to_contain_text("stopping node 3")
    page.locator(".exchanges .event").first.click()
    expect(page.get_by_role("complementary", name="Details")).to_contain_text("Number")


def test_passwords_appear_nowhere(open_page: PageOpener, scene: Scene) -> None:
    AdminClient(scene._settings("shop", "late") | {"sasl.mechanism": "PLAIN"}).list_topics(timeout=30)
    page = open_page(scene.cluster, "wire")
    apply(page, "api=SaslAuthenticate")
    rows(page, "SaslAuthenticate v").last.click()
    expect(page.get_by_role("complementary", name="Details")).to_contain_text("auth_bytes")
    text = page.content() + str(page.evaluate("fetch('/wire/list?verbose=true').then((response) => response.text())"))
    assert not [password for password in USERS.values() if password in text]


def test_record_that_is_switched_off_is_explained(open_page: PageOpener) -> None:
    with Cluster(nodes=1, control="127.0.0.1:0", record_exchanges=0) as cluster:
        page = open_page(cluster, "wire", allowed=(*REFUSED, "ERR_"))
        expect(page.locator("#filter-error")).to_contain_text("the record of exchanges is switched off")


@contextmanager
def flood(cluster: Cluster) -> Iterator[None]:
    """Sends requests as fast as the cluster answers them, many at once."""
    host, port = cluster.bootstrap_servers.split(",")[0].split(":")
    body = struct.pack(">hhih", 18, 0, 1, 5) + b"flood"
    requests = (struct.pack(">i", len(body)) + body) * 200
    ending = threading.Event()

    def send() -> None:
        with socket.create_connection((host, int(port))) as client:
            reader = client.makefile("rb")
            while not ending.is_set():
                client.sendall(requests)
                for _ in range(200):
                    reader.read(struct.unpack(">i", reader.read(4))[0])

    sender = threading.Thread(target=send)
    sender.start()
    try:
        yield
    finally:
        ending.set()
        sender.join()


@pytest.mark.slow
def test_flood_of_exchanges_is_sampled_without_freezing(open_page: PageOpener, cluster: Cluster) -> None:
    page = open_page(cluster, "wire")
    expect(page.locator("main")).to_contain_text("Live. 0 entries shown.")
    with flood(cluster):
        expect(page.locator("main")).to_contain_text("This is a sample")
        cluster.fault(api="Metadata", error="UNKNOWN_SERVER_ERROR", client_id="seldom", times=1)
        AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "client.id": "seldom"}).list_topics(timeout=30)
        expect(page.locator(".lane.client").filter(has_text="seldom")).to_be_visible()
        cluster.wait_until(lambda: cluster.wire.mark() > 10_000, timeout_s=60)
        page.get_by_role("button", name="Pause").click()
        expect(page.locator("main")).to_contain_text("Paused.")
        assert 0 < page.locator(".exchanges > li").count() <= 300
        page.get_by_role("link", name="Topics").click()
        expect(page.get_by_role("link", name="orders")).to_be_visible()


@pytest.mark.slow
def test_sample_counts_all_entries(open_page: PageOpener, cluster: Cluster) -> None:
    page = open_page(cluster, "wire")
    expect(page.locator("main")).to_contain_text("Live. 0 entries shown.")
    with flood(cluster):
        expect(page.locator("main .warn")).to_contain_text("This is a sample")
        cluster.wait_until(lambda: cluster.wire.mark() > 3_000, timeout_s=60)
    cluster.wait_until(lambda: not cluster.connections(), timeout_s=30)
    total = cluster.wire.mark() - 1

    def counted() -> int:
        numbers = re.findall(r"([0-9,]+) (?:entries|entry) shown|: ([0-9,]+) more", page.locator("main > [role=status]").inner_text())
        return sum(int(each.replace(",", "")) for pair in numbers for each in pair if each)

    page.wait_for_function("() => new Promise((done) => setTimeout(done, 0))")
    cluster.wait_until(lambda: counted() >= total, timeout_s=30)
    assert counted() == total
