"""Counts of requests: every request once, whatever the record drops, and labels that clients cannot multiply."""

from __future__ import annotations

import pytest

from odradek.broker.metrics import requests
from odradek.broker.metrics.requests import NO_RESPONSE, UNKNOWN_API, UNKNOWN_VERSION, RequestCounts
from odradek.broker.wire.record import WireRecord
from odradek.protocol.messages.fetch import FETCH
from odradek.protocol.messages.metadata import METADATA, MetadataRequest, MetadataRequestTopic
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import Client, World, a_batch, produce_request
from tests.broker.metrics.activity import fetch
from tests.broker.metrics.expositions import Labels, labelled, of


def counts_of(world: World) -> RequestCounts:
    assert world.core.record is not None
    return RequestCounts(world.core.record, world.turns.background)


def produced(client: Client, count: int) -> None:
    for _ in range(count):
        client.call(PRODUCE, 9, produce_request("orders", a_batch(b"value")))


@pytest.fixture
def world() -> World:
    return World(1).with_topic("orders", 1)


def totals(found: dict[str, dict[Labels, float]], name: str = "odradek_requests_total") -> dict[tuple[str, ...], int]:
    """Returns the values by the values of their labels, in the order of the names of the labels."""
    return {tuple(value for _, value in sorted(key)): int(number) for key, number in found.get(name, {}).items()}


def test_requests_are_counted_by_api_version_and_error(world: World) -> None:
    client = world.client()
    produced(client, 3)
    client.call(PRODUCE, 9, produce_request("missing", a_batch(b"value")))
    client.call(METADATA, 9, MetadataRequest(topics=[MetadataRequestTopic(name="missing")], allow_auto_topic_creation=False))
    client.call(METADATA, 12, MetadataRequest(topics=[]))
    found = of(counts_of(world).pieces())
    assert totals(found) == {
        ("Produce", "NONE", "9"): 3,
        ("Produce", "UNKNOWN_TOPIC_OR_PARTITION", "9"): 1,
        ("Metadata", "UNKNOWN_TOPIC_OR_PARTITION", "9"): 1,
        ("Metadata", "NONE", "12"): 1,
    }


def test_bytes_are_those_of_the_frames(world: World) -> None:
    client = world.client()
    before = len(client.sent)
    client.send(PRODUCE, 9, produce_request("orders", a_batch(b"value")))
    response_bytes = len(client.sent) - before
    assert client.receive() is not None
    for _ in range(4):
        produced(client, 1)
    found = of(counts_of(world).pieces())
    assert totals(found, "odradek_response_bytes_total") == {("Produce",): 5 * response_bytes}
    assert totals(found, "odradek_request_bytes_total")["Produce",] % 5 == 0


def test_every_request_is_counted_once_while_entries_drop(world: World) -> None:
    world.core._record = WireRecord(0.0, 300, 1 << 20)
    counts, client = counts_of(world), world.client()
    for number in range(5):
        produced(client, 700)
        assert totals(of(counts.pieces())) == {("Produce", "NONE", "9"): 700 * (number + 1)}


def test_dropped_entries_beyond_the_limit_are_counted_at_once(monkeypatch: pytest.MonkeyPatch, world: World) -> None:
    monkeypatch.setattr(requests, "MAX_WAITING", 100)
    world.core._record = WireRecord(0.0, 300, 1 << 20)
    world.stepwise = True
    counts, client = counts_of(world), world.client()
    for _ in range(2000):
        client.send(PRODUCE, 9, produce_request("orders", a_batch(b"value")))
        world.turn()
    assert len(counts._waiting) <= 100 + 250
    assert totals(of(counts.pieces())) == {("Produce", "NONE", "9"): 2000}


def test_waiting_request_is_counted_when_it_is_answered(world: World) -> None:
    counts, client = counts_of(world), world.client()
    client.send(FETCH, 11, fetch("orders"))
    assert totals(of(counts.pieces())) == {}
    world.advance(1000)
    assert client.receive() is not None
    found = of(counts.pieces())
    assert totals(found) == {("Fetch", "NONE", "11"): 1}
    assert found["odradek_request_duration_seconds_count"] == {labelled(api="Fetch"): 1}


def test_request_without_response_is_counted_as_such(world: World) -> None:
    client = world.client()
    client.send(PRODUCE, 9, produce_request("orders", a_batch(b"value"), acks=0))
    client.send(PRODUCE, 9, produce_request("missing", a_batch(b"value"), acks=0))
    assert client.closed is not None
    found = of(counts_of(world).pieces())
    assert totals(found) == {("Produce", "NONE", "9"): 1, ("Produce", NO_RESPONSE, "9"): 1}
    assert totals(found, "odradek_connections_opened_total") == {("1",): 1}
    assert totals(found, "odradek_connections_closed_total") == {("broker",): 1}


def test_unknown_apis_and_versions_share_labels(world: World) -> None:
    for key, version in ((30_000, 1), (30_001, 7), (-5, -5), (0, 20_000), (0, 20_001)):
        client = world.client()
        body = key.to_bytes(2, "big", signed=True) + version.to_bytes(2, "big", signed=True) + bytes(8)
        client.feed(len(body).to_bytes(4, "big") + body)
    client = world.client()
    client.feed(b"\0\0\0\1\0")
    assert totals(of(counts_of(world).pieces())) == {
        (UNKNOWN_API, NO_RESPONSE, UNKNOWN_VERSION): 4,
        ("Produce", NO_RESPONSE, UNKNOWN_VERSION): 2,
    }


def test_histogram_is_cumulative(world: World) -> None:
    client = world.client()
    world.core.now_s = world.seconds = 10.0
    client.send(FETCH, 11, fetch("orders"))
    world.seconds = 10.3
    world.advance(1000)
    found = of(counts_of(world).pieces())
    buckets = {dict(key)["le"]: value for key, value in found["odradek_request_duration_seconds_bucket"].items()}
    assert (buckets["0.25"], buckets["0.5"], buckets["+Inf"]) == (0, 1, 1)
    assert found["odradek_request_duration_seconds_sum"][labelled(api="Fetch")] == pytest.approx(0.3)


def test_counts_are_made_in_slices(world: World) -> None:
    client = world.client()
    for _ in range(100):
        client.call(METADATA, 12, MetadataRequest(topics=[]))
    pieces = counts_of(world).pieces()
    assert [next(pieces) for _ in range(5)] == [""] * 5
