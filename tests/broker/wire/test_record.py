from __future__ import annotations

from typing import Any

from odradek.broker.settings.record_limits import RecordLimits
from odradek.broker.wire.exchange import Event, Exchange
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.metadata import METADATA, MetadataRequest
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import START_MS, World, a_batch, produce, produce_request
from tests.broker.wire.recorded_worlds import a_world, pipelined, record_of


def exchanges(world: World) -> list[Exchange]:
    return [entry for entry in record_of(world).entries() if isinstance(entry, Exchange)]


def events(world: World, kind: str) -> list[Event]:
    return [entry for entry in record_of(world).entries() if isinstance(entry, Event) and entry.kind == kind]


def sequences(entries: list[Any]) -> list[int]:
    return [entry.sequence for entry in entries]


def test_produce_is_recorded_with_times_and_sizes() -> None:
    world = a_world()
    world.advance(5)
    produce(world, "orders", b"x")
    (found,) = exchanges(world)
    assert (found.api, found.version, found.client_id, found.node) == ("Produce", 9, "test", 1)
    assert (found.listener, found.peer, found.principal) == ("PLAINTEXT", "127.0.0.1:50000", "User:ANONYMOUS")
    assert (found.topics, found.errors, found.ended, found.waits, found.faults) == (("orders",), (), "", (), ())
    assert found.received.cluster_ms == START_MS + 5
    assert found.answered == found.written == found.received
    assert found.request is not None and found.response is not None and found.response_frame is not None
    assert found.request_frame.size == len(found.request_frame.head)


def test_repeated_produce_is_recorded_like_the_first() -> None:
    """The second request creates a shape, and the third is answered by it."""
    world = a_world()
    client = world.client()
    for _ in range(3):
        client.call(PRODUCE, 9, produce_request("orders", a_batch(b"x")))
        world.advance(1)
    found = exchanges(world)
    assert [each.request for each in found] == [found[0].request] * 3
    assert [each.response.responses[0].partition_responses[0].base_offset for each in found if each.response] == [0, 1, 2]  # type: ignore[attr-defined]
    assert [each.received.cluster_ms - START_MS for each in found] == [0, 1, 2]
    assert sequences(list(record_of(world).entries())) == [1, 2, 3, 4]


def test_pipelined_requests_are_one_exchange_each() -> None:
    world = a_world()
    client = world.client()
    for _ in range(2):
        client.call(PRODUCE, 9, produce_request("orders", a_batch(b"\0")))
    pipelined(client, 5)
    found = exchanges(world)[2:]
    assert [each.correlation_id for each in found] == [100, 101, 102, 103, 104]
    assert sequences(found) == [4, 5, 6, 7, 8]
    assert all(each.response is not None and each.written is not None for each in found)


def test_request_without_acknowledgement_has_no_response() -> None:
    world = a_world()
    client = world.client()
    pipelined(client, 4, acks=0)
    pipelined(client, 1)
    pipelined(client, 3, acks=0)
    found = exchanges(world)
    assert [each.response_frame is None for each in found] == [True] * 4 + [False] + [True] * 3
    assert all(each.answered is not None for each in found)
    assert [each.written is None for each in found] == [True] * 4 + [False] + [True] * 3


def test_large_request_keeps_its_first_4_kib() -> None:
    world = a_world()
    client = world.client()
    for size in (10_000, 10_000, 10_000, 300_000, 300_000):
        pipelined(client, 1, size=size)
    found = exchanges(world)
    assert [len(each.request_frame.head) for each in found] == [4096] * 5
    assert [each.request_frame.size > 10_000 for each in found] == [True] * 5
    assert [each.topics for each in found] == [("orders",)] * 5


def test_large_response_is_copied_in_part() -> None:
    world = a_world()
    produce(world, "orders", bytes(100_000))
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    topics = [FetchTopic(topic="orders", partitions=[partition])]
    for _ in range(3):
        world.client().call(FETCH, 12, FetchRequest(max_wait_ms=0, min_bytes=0, topics=topics, forgotten_topics_data=[]))
    for found in exchanges(world)[1:]:
        assert found.response_frame is not None
        assert (len(found.response_frame.head), found.response_frame.size > 100_000) == (4096, True)
        assert isinstance(found.response_frame.head, bytes)


def test_kept_fetch_says_what_it_waited_for() -> None:
    world = a_world()
    client = world.client()
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    request = FetchRequest(
        max_wait_ms=500,
        min_bytes=1,
        topics=[FetchTopic(topic="orders", partitions=[partition])],
        session_epoch=-1,
        forgotten_topics_data=[],
    )
    for _ in range(3):
        client.send(FETCH, 11, request)
        world.advance(500)
        assert client.receive() is not None
    for found in exchanges(world):
        assert found.waits == ("records of orders-0",)
        assert found.answered is not None
        assert found.answered.cluster_ms - found.received.cluster_ms == 500


def test_request_in_flight_is_not_answered_yet() -> None:
    world = a_world()
    client = world.client()
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    topics = [FetchTopic(topic="orders", partitions=[partition])]
    client.send(FETCH, 12, FetchRequest(max_wait_ms=500, min_bytes=1, topics=topics, forgotten_topics_data=[]))
    (found,) = exchanges(world)
    assert (found.answered, found.written, found.response_frame, found.ended) == (None, None, None, "")
    client.connection.lost("the client has disconnected", by_client=True)
    (found,) = exchanges(world)
    assert (found.answered, found.ended) == (None, "FIN by the client")


def test_number_of_exchanges_is_bounded() -> None:
    world = a_world(record=RecordLimits(exchanges=10))
    client = world.client()
    for _ in range(5):
        pipelined(client, 7)
    record = record_of(world)
    assert (record.first_sequence, record.next_sequence) == (27, 37)
    assert sequences(list(record.entries())) == list(range(27, 37))
    assert sequences(list(record.entries(35))) == [35, 36]
    assert list(record.entries(37)) == []


def test_bytes_of_exchanges_are_bounded() -> None:
    world = a_world(record=RecordLimits(bytes=50_000))
    client = world.client()
    for size in (10, 3000, 6000, 40_000) * 20:
        pipelined(client, 3, size=size)
        assert record_of(world).bytes <= 50_000
    kept = sum(len(each.request_frame.head) for each in exchanges(world))
    assert 20_000 < kept <= 50_000


def test_bytes_of_events_are_bounded_with_their_fields() -> None:
    record = record_of(a_world(record=RecordLimits(bytes=50_000)))
    for number in range(200):
        record.tell("schema registry", (0, 0.0), "short", None, None, {"path": "x" * 1000, "status": number})
        assert record.bytes <= 50_000
    kept = [entry for entry in record.entries() if isinstance(entry, Event)]
    assert [each.fields["status"] for each in kept] == list(range(200 - len(kept), 200))
    assert 30 < len(kept) < 45


def test_record_that_is_switched_off_keeps_nothing() -> None:
    world = a_world(record=RecordLimits(exchanges=0))
    produce(world, "orders", b"x")
    assert world.core.record is None


def test_client_that_does_not_read_has_unwritten_responses() -> None:
    world = a_world()
    client = world.client()
    client.connection.on_output = lambda: None
    client.send(METADATA, 9, MetadataRequest(topics=None))
    (found,) = exchanges(world)
    assert (found.answered is None, found.written) == (False, None)
    client.connection.take_output(10)
    assert exchanges(world)[0].written is None
    client.connection.take_output()
    assert exchanges(world)[0].written is not None


def test_partly_written_output_completes_the_first_responses() -> None:
    world = a_world()
    client = world.client()
    client.connection.on_output = lambda: None
    for _ in range(2):
        client.send(METADATA, 9, MetadataRequest(topics=None))
    client.connection.take_output(client.connection.output_bytes - 1)
    assert [each.written is None for each in exchanges(world)] == [False, True]


def test_connection_is_an_event_at_both_ends() -> None:
    world = a_world()
    client = world.client()
    world.advance(600_000)
    assert client.closed
    (opened,) = events(world, "connection opened")
    (closed,) = events(world, "connection closed")
    assert (opened.node, opened.connection, opened.fields["peer"]) == (1, 1, "127.0.0.1:50000")
    assert closed.text == "FIN by the broker: idle for 600000 ms, connections.max.idle.ms is 600000"
    assert closed.fields["setting"] == "connections.max.idle.ms"
    assert closed.at.cluster_ms == START_MS + 600_000


def test_oversize_frame_is_named_by_its_setting() -> None:
    world = a_world()
    client = world.client()
    client.feed((200_000_000).to_bytes(4, "big") + b"unread")
    (closed,) = events(world, "connection closed")
    assert (closed.fields["by"], closed.fields["how"], closed.fields["setting"]) == ("broker", "RST", "socket.request.max.bytes")


def test_record_survives_a_restored_state() -> None:
    from odradek.broker.connections.core import Core

    world = a_world()
    produce(world, "orders", b"x")
    former = world.core
    world.core = Core(world.cluster, world.turns, former=former)
    produce(world, "orders", b"y")
    assert world.core.record is former.record
    assert [each.connection for each in exchanges(world)] == [1, 2]


def test_name_of_a_deleted_topic_is_still_known() -> None:
    world = a_world()
    topic = world.cluster.topics["orders"]
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    request = FetchRequest(
        max_wait_ms=0, min_bytes=0, topics=[FetchTopic(topic_id=topic.id, partitions=[partition])], forgotten_topics_data=[]
    )
    world.client().call(FETCH, 13, request)
    world.cluster.delete_topic(topic)
    assert exchanges(world)[0].topics == ("orders",)


def test_response_in_pieces_is_put_together() -> None:
    world = a_world()
    world.fault(api="Metadata", bytes_per_s=1000, chunk_bytes=10)
    client = world.client()
    client.send(METADATA, 9, MetadataRequest(topics=None))
    world.advance(1)
    (found,) = exchanges(world)
    assert found.response is None
    for _ in range(100):
        world.advance(100)
    (found,) = exchanges(world)
    assert found.response is not None and found.written is not None
    assert found.waits == ("the rate of fault 1",)
    assert found.faults == ("fault 1: api=Metadata bytes_per_s=1000 chunk_bytes=10",)


def test_damaged_response_is_recorded_as_it_was_sent() -> None:
    world = a_world()
    world.fault(api="Metadata", drop=True, cut_at_bytes=20, close="rst")
    client = world.client()
    client.send(METADATA, 9, MetadataRequest(topics=None))
    (found,) = exchanges(world)
    assert found.response_frame is not None
    assert (found.response_frame.size, found.response) == (16, None)
    assert found.ended == "RST by the broker: a fault cut the response at 20 bytes"
