from __future__ import annotations

import pytest

from odradek.broker.wire import feed as feeds
from odradek.broker.wire.exchange import Entry, Event, Exchange
from odradek.broker.wire.feed import SampledFeed, show_selected
from odradek.broker.wire.filters import parse_filter
from odradek.protocol.messages.metadata import METADATA, MetadataRequest
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import Client, World, a_batch, produce_request
from tests.broker.wire.recorded_worlds import a_world, pipelined, record_of


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = {"SELECTED_PER_LOOK": 2, "MAX_SELECTED": 5, "EXAMINED_PER_LOOK": 4, "MAX_EXAMINED": 10}
    for name, number in limits.items():
        monkeypatch.setattr(feeds, name, number)
    monkeypatch.setattr(SampledFeed, "_may_select", 5)
    monkeypatch.setattr(SampledFeed, "_may_examine", 10)


def ask(client: Client, count: int) -> None:
    for _ in range(count):
        client.call(METADATA, 9, MetadataRequest(topics=None))


def feed_of(world: World, text: str) -> SampledFeed[Entry]:
    return SampledFeed(record_of(world), 1, show_selected(record_of(world), parse_filter(text)))


def looked(feed: SampledFeed[Entry]) -> tuple[int, int]:
    """Returns the numbers of entries that a look takes and leaves out."""
    return len([entry for entry in feed.take() if entry is not None]), feed.take_left_out()


def test_burst_within_the_limit_is_taken_completely() -> None:
    world = a_world()
    feed = feed_of(world, "not event")
    client = world.client()
    ask(client, 5)
    assert looked(feed) == (5, 0)
    assert looked(feed) == (0, 0)


def test_entries_beyond_the_limit_are_counted() -> None:
    world = a_world()
    feed = feed_of(world, "not event")
    client = world.client()
    ask(client, 20)
    assert looked(feed) == (5, 15)
    ask(client, 6)
    assert looked(feed) == (2, 4)
    for _ in range(3):
        assert looked(feed) == (0, 0)
    ask(client, 6)
    assert looked(feed) == (5, 1)


def test_entries_that_a_filter_does_not_select_cost_examinations() -> None:
    world = a_world()
    feed = feed_of(world, "api=Fetch")
    ask(world.client(), 30)
    assert looked(feed) == (0, 21)  # the event of the connection has been examined, and 9 exchanges


def test_pipelined_requests_are_left_out_in_part() -> None:
    """They are one item of the record, of which only the first exchanges are decoded."""
    world = a_world()
    feed = feed_of(world, "api=Produce")
    client = world.client()
    for _ in range(2):
        client.call(PRODUCE, 9, produce_request("orders", a_batch(b"\0")))
    assert looked(feed) == (2, 0)
    pipelined(client, 12)
    assert looked(feed) == (5, 7)


def test_events_and_hits_of_faults_are_always_taken() -> None:
    world = a_world()
    feed = feed_of(world, "")
    client = world.client()
    ask(client, 30)
    world.fault(api="Metadata", delay_ms=0, times=1)
    ask(client, 2)
    world.client()
    taken = [entry for entry in feed.take() if entry is not None]
    hit = [entry for entry in taken if isinstance(entry, Exchange) and entry.faults]
    events = [entry.kind for entry in taken if isinstance(entry, Event)]
    assert (len(hit), events.count("connection opened")) == (1, 2)
    assert feed.take_left_out() + len(taken) == record_of(world).next_sequence - 1
    assert feed.take_left_out() == 0
