"""Actions of users on the page: each reaches the cluster, and its effect or its error is shown."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from confluent_kafka import Producer
from playwright.sync_api import Page, expect

from odradek import Cluster
from tests.page.conftest import PageOpener

REFUSED = ("status of 400", "status of 409")
"""A refused control is shown by the page, and reported by the browser in its console."""


def confirm(page: Page, action: str) -> None:
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name=action, exact=True).click()
    expect(dialog).to_have_count(0)


# Topics and records


def test_topic_is_created_listed_and_deleted(open_page: PageOpener, cluster: Cluster) -> None:
    page = open_page(cluster, "topics")
    page.get_by_text("Create a topic").click()
    page.get_by_label("topic (required)").fill("payments")
    page.get_by_label("partitions").fill("3")
    page.get_by_label("configs").fill('{"cleanup.policy": "compact"}')
    page.get_by_role("button", name="Create").click()
    row = page.get_by_role("row").filter(has_text="payments")
    expect(row).to_contain_text("cleanup.policy=compact")
    assert next(each for each in cluster.topics() if each.name == "payments").configs == {"cleanup.policy": "compact"}
    row.get_by_role("link").click()
    page.get_by_role("button", name="Delete the topic").click()
    confirm(page, "Delete")
    expect(page).to_have_url(f"http://{cluster.control}/#/topics")
    expect(page.get_by_role("row").filter(has_text="payments")).to_have_count(0)
    assert [each.name for each in cluster.topics()] == ["orders"]


def test_invalid_topic_is_shown_beside_its_field(open_page: PageOpener, cluster: Cluster) -> None:
    page = open_page(cluster, "topics", allowed=REFUSED)
    page.get_by_text("Create a topic").click()
    page.get_by_label("topic (required)").fill("a b")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("alert").filter(has_text="invalid topic name: 'a b'")).to_be_visible()
    expect(page.get_by_label("topic (required)")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("topic (required)")).to_be_focused()


def test_list_of_topics_is_filtered_by_name(open_page: PageOpener, cluster: Cluster) -> None:
    cluster.create_topic("payments")
    page = open_page(cluster, "topics")
    expect(page.get_by_role("link", name="orders")).to_be_visible()
    page.get_by_label("Filter").fill("pay")
    expect(page.get_by_role("link", name="orders")).to_have_count(0)
    expect(page.get_by_role("link", name="payments")).to_be_visible()
    page.get_by_label("Filter").fill("none")
    expect(page.locator("main")).to_contain_text("No topic matches.")


def test_produced_record_is_stored_and_shown(open_page: PageOpener, cluster: Cluster) -> None:
    page = open_page(cluster, "topics/orders")
    page.get_by_text("Produce a record").click()
    page.get_by_label("Key", exact=True).fill("k-1")
    page.get_by_label("Value", exact=True).fill('{"total": 7}')
    page.get_by_label("Headers, one on each line").fill("trace=a=b\nempty")
    page.locator("form.control").get_by_label("Partition").select_option("1")
    page.get_by_role("button", name="Produce", exact=True).click()
    expect(page.locator(".records")).to_contain_text("k-1")
    (record,) = cluster.records("orders")
    assert (record.partition, record.key, record.value, record.headers) == (
        1,
        b"k-1",
        b'{"total": 7}',
        (("trace", b"a=b"), ("empty", None)),
    )
    page.locator(".records summary").first.click()
    expect(page.locator(".records pre").nth(1)).to_have_text('{\n  "total": 7\n}')
    expect(page.locator(".records")).to_contain_text("a=b")


def test_bytes_and_tombstones_are_produced(open_page: PageOpener, cluster: Cluster) -> None:
    page = open_page(cluster, "topics/orders")
    page.get_by_text("Produce a record").click()
    page.get_by_label("Key and value are").select_option("Hex")
    page.get_by_label("Key", exact=True).fill("00 ff")
    page.get_by_label("null (tombstone)").check()
    page.get_by_role("button", name="Produce", exact=True).click()
    expect(page.locator(".records")).to_contain_text("00 ff")
    expect(page.locator(".records")).to_contain_text("null (tombstone)")
    assert [(each.key, each.value) for each in cluster.records("orders")] == [(b"\x00\xff", None)]
    page.get_by_label("Key", exact=True).fill("0")
    page.get_by_role("button", name="Produce", exact=True).click()
    expect(page.get_by_role("alert").filter(has_text="Hexadecimal text consists of pairs")).to_be_visible()


def first_values(page: Page) -> list[str]:
    return [each.strip() for each in page.locator(".records .value code").all_inner_texts()]


def test_records_are_found_by_offset_and_time(open_page: PageOpener, cluster: Cluster) -> None:
    times = (1_000_000, 2_000_000, 3_000_000)
    cluster.produce("orders", [{"value": str(each), "timestamp": each} for each in times], partition=0)
    page = open_page(cluster, "topics/orders", timezone_id="UTC")
    values = page.locator(".records .value code")
    expect(values).to_have_text(["3000000", "2000000", "1000000"])
    form = page.locator("form.toolbar")
    form.get_by_label("Begin with").select_option("oldest")
    expect(values).to_have_text(["1000000", "2000000", "3000000"])
    form.get_by_label("Begin with").select_option("offset")
    form.get_by_label("From offset").fill("1")
    form.get_by_role("button", name="Read").click()
    expect(values).to_have_text(["2000000", "3000000"])
    form.get_by_label("Begin with").select_option("time")
    form.get_by_label("From time").fill("1970-01-01T00:40:00")
    form.get_by_role("button", name="Read").click()
    expect(values).to_have_text(["3000000"])
    form.get_by_label("Partition").select_option("1")
    expect(values).to_have_text(["3000000"])  # a time is applied by the button only, because it is entered in parts
    form.get_by_role("button", name="Read").click()
    expect(page.locator("main")).to_contain_text("There are no records here.")


SHOWN = [
    (b'{"a": [1, 2]}', "Auto", '{\n  "a": [\n    1,\n    2\n  ]\n}'),
    (b'{"a": 1}', "Text", '{"a": 1}'),
    (b"no json", "JSON", "no json"),
    ("gr\u00f6\u00dfe".encode(), "Hex", "000000  67 72 c3 b6 c3 9f 65                             gr....e"),
    (b"\xff\x00", "Auto", "000000  ff 00                                            .."),
    (b"\xff\x00a", "Text", "\ufffd\u2400a"),
    (b"a\x1bb\r\nc\td\xe2\x80\xae", "Text", "a\u241bb\r\nc\td\\u202e"),
]


def test_value_is_shown_as_text_json_or_hex(open_page: PageOpener, cluster: Cluster) -> None:
    cluster.produce("orders", [value for value, _, _ in SHOWN], partition=0)
    page = open_page(cluster, "topics/orders")
    expect(page.locator(".records > li")).to_have_count(len(SHOWN))
    page.evaluate("document.querySelectorAll('.records details').forEach((each) => { each.open = true; })")
    for offset, (_, format_, text) in enumerate(SHOWN):
        page.locator("form.toolbar").get_by_label("Show as").select_option(format_)
        assert page.locator(f".records [data-key='0-{offset}'] pre").evaluate("(each) => each.textContent") == text


def test_browser_follows_new_records_until_told_otherwise(open_page: PageOpener, cluster: Cluster) -> None:
    page = open_page(cluster, "topics/orders")
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    producer.produce("orders", b"first", partition=0)
    assert producer.flush(30) == 0
    expect(page.locator(".records .value")).to_have_text(["first"])
    page.get_by_label("Follow").uncheck()
    producer.produce("orders", b"second", partition=0)
    assert producer.flush(30) == 0
    expect(page.get_by_role("table", name="Partitions of orders").locator("td:nth-child(8)")).to_have_text(["2", "0"])
    expect(page.locator(".records .value")).to_have_text(["first"])
    page.get_by_role("button", name="Read").click()
    expect(page.locator(".records .value")).to_have_count(2)


# Faults


def test_ready_made_fault_hits_and_is_removed(open_page: PageOpener, cluster: Cluster) -> None:
    page = open_page(cluster, "faults")
    page.get_by_role("combobox", name="Fault").select_option("not enough replicas")
    page.get_by_label("topic (required)").first.fill("orders")
    page.locator("details").first.get_by_role("button", name="Add").click()
    row = page.get_by_role("row").filter(has_text="NOT_ENOUGH_REPLICAS")
    expect(row).to_be_visible()
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "client.id": "writer", "message.timeout.ms": 60_000})
    producer.produce("orders", b"x")
    producer.flush(0.5)
    cluster.wait_for_fault(1, timeout_s=30)
    row.locator("summary").click()
    expect(row).to_contain_text("from writer")
    page.get_by_role("button", name="Remove fault 1").click()
    expect(page.locator("main")).to_contain_text("There are no faults.")
    assert cluster.list_faults() == []
    assert producer.flush(30) == 0


def test_fault_with_any_options_is_added(open_page: PageOpener, cluster: Cluster) -> None:
    page = open_page(cluster, "faults", allowed=REFUSED)
    page.get_by_text("Add a fault with any options").click()
    form = page.locator("details").nth(1)
    form.get_by_role("textbox", name="partitions").fill("0, 1")
    form.get_by_role("combobox", name="api").fill("Produce, Fetch")
    form.get_by_role("textbox", name="probability").fill("0.5")
    form.get_by_role("combobox", name="drop").select_option("true")
    form.get_by_role("combobox", name="close").select_option("rst")
    form.get_by_role("button", name="Add").click()
    expect(page.get_by_role("row").filter(has_text="drop")).to_be_visible()
    (fault,) = cluster.list_faults()
    for option in ("Produce", "Fetch", "partitions", "probability=0.5", "close=rst"):
        assert option in fault.options
    form.get_by_role("textbox", name="probability").fill("7")
    form.get_by_role("button", name="Add").click()
    expect(form.get_by_role("alert")).to_contain_text("probability: ")
    page.get_by_role("button", name="Remove all").click()
    confirm(page, "Remove")
    expect(page.locator("main")).to_contain_text("There are no faults.")


# Clock


def test_clock_is_frozen_advanced_and_run(open_page: PageOpener, cluster: Cluster) -> None:
    page = open_page(cluster, "clock")
    page.get_by_role("button", name="Freeze").click()
    expect(page.locator("main")).to_contain_text("The time stands still.")
    expect(page.locator("#clock")).to_contain_text("frozen")
    before = cluster.clock.state().now
    page.get_by_role("button", name="+ 10m").click()
    expect(page.locator("#messages")).to_contain_text("in the cluster")
    page.get_by_label("Duration").fill("30s")
    page.get_by_role("button", name="Advance", exact=True).click()
    expect(page.locator("#messages .message")).to_have_count(2)
    assert (cluster.clock.state().now - before).total_seconds() == 630
    page.get_by_label("Speed").fill("60")
    page.get_by_role("button", name="Run at this speed").click()
    expect(page.locator("main")).to_contain_text("60 times as fast")
    page.get_by_role("button", name="Run in real time").click()
    expect(page.locator("main")).to_contain_text("The time passes: real time.")
    assert cluster.clock.state().speed == 1


def test_clock_refuses_to_go_back(open_page: PageOpener, cluster: Cluster) -> None:
    page = open_page(cluster, "clock", allowed=REFUSED)
    page.get_by_label("New time").fill("2020-01-01T00:00")
    page.get_by_role("button", name="Set").click()
    expect(page.get_by_role("alert").filter(has_text="is before the cluster's time")).to_be_visible()
    page.get_by_label("Duration").fill("soon")
    page.get_by_role("button", name="Advance", exact=True).click()
    expect(page.get_by_role("alert").filter(has_text="invalid duration 'soon'")).to_be_visible()


# Nodes


@pytest.mark.parametrize(
    ("action", "state", "undo"),
    [("Stop", "stopped", "Start"), ("Kill", "stopped", "Start"), ("Pause", "paused", "Resume"), ("Isolate", "isolated", "Rejoin")],
)
def test_node_fails_and_returns(open_page: PageOpener, cluster: Cluster, action: str, state: str, undo: str) -> None:
    page = open_page(cluster, "nodes")
    card = page.locator(".card").filter(has_text="Node 2")
    card.get_by_role("button", name=f"{action} node 2").click()
    expect(card).to_contain_text(state)
    expect(page.locator("#health")).to_contain_text("problem")
    assert cluster.nodes()[1].state == state
    card.get_by_role("button", name=f"{undo} node 2").click()
    expect(card).to_contain_text("running")
    expect(page.locator("#health")).to_have_text("Healthy")
    assert cluster.nodes()[1].state == "running"


def test_node_is_added_and_removed(open_page: PageOpener, cluster: Cluster) -> None:
    page = open_page(cluster, "nodes")
    page.get_by_text("Add a node").click()
    page.get_by_label("rack").fill("r4")
    page.get_by_role("button", name="Add").click()
    expect(page.locator(".card").filter(has_text="Node 4")).to_contain_text("r4")
    page.get_by_role("button", name="Remove node 4").click()
    confirm(page, "Cancel")
    assert len(cluster.nodes()) == 4
    page.get_by_role("button", name="Remove node 4").click()
    confirm(page, "Remove")
    expect(page.locator(".card")).to_have_count(3)


# Snapshots


def test_snapshot_is_taken_restored_and_released(open_page: PageOpener, cluster: Cluster) -> None:
    page = open_page(cluster, "state")
    page.get_by_role("button", name="Take a snapshot").click()
    expect(page.get_by_role("button", name="Restore snapshot 1")).to_be_visible()
    cluster.create_topic("later")
    page.get_by_role("button", name="Restore snapshot 1").click()
    confirm(page, "Restore")
    expect(page.locator("#messages")).to_contain_text("state of snapshot 1")
    assert [each.name for each in cluster.topics()] == ["orders"]
    page.get_by_role("button", name="Release snapshot 1").click()
    expect(page.locator("main")).to_contain_text("There are no snapshots.")
    assert cluster.snapshots() == []


def test_state_is_reset_and_saved(open_page: PageOpener, cluster: Cluster, tmp_path: Path) -> None:
    cluster.create_topic("later")
    page = open_page(cluster, "state", allowed=REFUSED)
    page.get_by_text("Save the state to a file").click()
    page.get_by_label("file").fill(str(tmp_path / "saved"))
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#messages")).to_contain_text("The file has")
    assert (tmp_path / "saved").stat().st_size > 0
    page.get_by_label("file").fill(str(tmp_path / "none" / "saved"))
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert").filter(has_text="cannot write")).to_be_visible()
    page.get_by_role("button", name="Reset to the state after start").click()
    confirm(page, "Reset")
    expect(page.locator("#messages")).to_contain_text("state after its start")
    assert [each.name for each in cluster.topics()] == ["orders"]


# The frame


def test_page_shows_changes_and_lost_connections(open_page: PageOpener) -> None:
    with Cluster(nodes=2, control="127.0.0.1:0") as cluster:
        page = open_page(cluster, "", allowed=("ERR_",))
        expect(page.locator("#stream")).to_have_text("live")
        cluster.create_topic("appears")
        expect(page.locator(".tiles")).to_contain_text("Topics1")
        cluster.stop_node(2)
        expect(page.locator(".problems")).to_contain_text("node 2 is stopped")
    expect(page.locator("#stream")).to_have_text("connection lost")


def test_unknown_view_and_topic_are_explained(open_page: PageOpener, cluster: Cluster) -> None:
    page = open_page(cluster, "nowhere/%E0%A4%A")
    expect(page.locator("main")).to_contain_text("There is no such view")
    page.get_by_role("link", name="Show the overview").click()
    expect(page.locator("h1")).to_have_text("Overview")
    page.goto(f"http://{cluster.control}/#/topics/absent")
    expect(page.get_by_role("alert").filter(has_text="There is no topic absent.")).to_be_visible()


def test_page_is_used_with_the_keyboard_alone(open_page: PageOpener, cluster: Cluster) -> None:
    page = open_page(cluster)
    expect(page.locator("#stream")).to_have_text("live")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.get_by_role("link", name="Nodes").focus()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Nodes")
    expect(page.locator("main")).to_be_focused()
    stop = page.get_by_role("button", name="Stop node 1")
    expect(stop).to_be_visible()
    page.keyboard.press("Tab")
    expect(stop).to_be_focused()
    for _ in range(4):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    expect(page.get_by_role("dialog").get_by_role("button", name="Remove")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="Remove node 1")).to_be_focused()
    assert [each.state for each in cluster.nodes()] == ["running"] * 3


def test_requests_of_the_page_are_routes_of_controls(open_page: PageOpener, cluster: Cluster) -> None:
    page = open_page(cluster)
    paths = set(json.loads(page.evaluate("fetch('/openapi.json').then((response) => response.text())"))["paths"])
    used: set[str] = set()
    page.on("request", lambda request: used.add(urlsplit(request.url).path))
    for view in ("topics", "topics/orders", "groups", "transactions", "access", "faults", "clock", "nodes", "state"):
        page.goto(f"http://{cluster.control}/#/{view}")
        expect(page.locator("main h1")).to_be_visible()
        page.wait_for_load_state()
    assert used - {"/openapi.json", "/changes/stream", "/wire/stream", "/page/icon.svg"} <= paths
