from __future__ import annotations

from odradek.broker.settings.record_limits import RecordLimits
from odradek.broker.wire.exchange import Entry, Exchange
from odradek.broker.wire.feed import Feed, show_selected
from odradek.broker.wire.filters import parse_filter
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from tests.broker.harness import World, produce
from tests.broker.wire.recorded_worlds import a_world, pipelined, record_of


def taken(feed: Feed[Entry]) -> list[Entry]:
    return [entry for entry in feed.take() if entry is not None]


def a_waiting_fetch() -> FetchRequest:
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    topics = [FetchTopic(topic="orders", partitions=[partition])]
    return FetchRequest(max_wait_ms=500, min_bytes=1, topics=topics, forgotten_topics_data=[])


def feed_of(world: World, text: str = "", since: int = 0) -> Feed[Entry]:
    return Feed(record_of(world), since, show_selected(record_of(world), parse_filter(text)))


def test_feed_returns_each_entry_once() -> None:
    world = a_world()
    feed = feed_of(world)
    client = world.client()
    pipelined(client, 3)
    assert [entry.sequence for entry in taken(feed)] == [1, 2, 3, 4]
    assert taken(feed) == []
    pipelined(client, 300)
    assert [entry.sequence for entry in taken(feed)] == list(range(5, 305))


def test_feed_returns_a_waiting_request_when_it_is_answered() -> None:
    world = a_world()
    feed = feed_of(world, "api")
    client = world.client()
    client.send(FETCH, 12, a_waiting_fetch())
    assert taken(feed) == []
    produce(world, "orders", b"x")
    assert [(entry.sequence, entry.api) for entry in taken(feed) if isinstance(entry, Exchange)] == [(2, "Fetch"), (4, "Produce")]


def test_feed_returns_a_request_whose_connection_ended() -> None:
    world = a_world()
    feed = feed_of(world, "ended")
    client = world.client()
    client.send(FETCH, 12, a_waiting_fetch())
    client.connection.lost("gone", by_client=True)
    (entry,) = taken(feed)
    assert isinstance(entry, Exchange)
    assert (entry.answered, entry.ended) == (None, "FIN by the client")


def test_feed_gives_a_turn_for_entries_not_selected() -> None:
    world = a_world()
    feed = feed_of(world, "api=Fetch")
    pipelined(world.client(), 3)
    assert list(feed.take()) == [None] * 4


def test_slow_reader_is_told_what_it_missed() -> None:
    world = a_world(record=RecordLimits(exchanges=10))
    feed = feed_of(world)
    assert feed.take_missed() == 0
    client = world.client()
    for _ in range(30):
        pipelined(client, 1)
    assert feed.take_missed() == 21
    assert feed.take_missed() == 0
    assert [entry.sequence for entry in taken(feed)] == list(range(22, 32))


def test_feed_begins_with_the_given_number() -> None:
    world = a_world()
    client = world.client()
    pipelined(client, 1)
    pipelined(client, 5)
    assert [entry.sequence for entry in taken(feed_of(world, since=5))] == [5, 6, 7]
    assert taken(feed_of(world, since=8)) == []


def test_feed_gives_up_requests_that_were_dropped() -> None:
    world = a_world(record=RecordLimits(exchanges=5))
    feed = feed_of(world, "api=Fetch")
    world.client().send(FETCH, 12, a_waiting_fetch())
    assert taken(feed) == []
    client = world.client()
    for _ in range(10):
        pipelined(client, 1, acks=0)
    assert [entry.sequence for entry in taken(feed)] == [2]
