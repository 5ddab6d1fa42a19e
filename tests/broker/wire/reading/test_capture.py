"""Entries of captures, which the clients of the test harness write in process."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from random import Random

import pytest

from odradek.broker.wire.exchange import Entry, Event, Exchange, Frame, Moment
from odradek.broker.wire.packets import INBOUND, Address, TcpPackets, interface, packet, section_header
from odradek.broker.wire.reading import capture
from odradek.broker.wire.reading.capture import CaptureReader, in_order
from odradek.protocol.frame import encode_request
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.heartbeat import HEARTBEAT, HeartbeatRequest
from odradek.protocol.messages.metadata import METADATA, MetadataRequest
from odradek.protocol.messages.produce import PRODUCE
from odradek.protocol.messages.sasl_authenticate import SASL_AUTHENTICATE, SaslAuthenticateRequest
from tests.broker.harness import a_batch, produce_request
from tests.broker.wire.captures import CapturedWorld

CLIENT = Address(b"\x7f\0\0\1", 40_000)
VERSIONS = ApiVersionsRequest(client_software_name="librdkafka", client_software_version="2.16.0")
BEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")


def read(data: bytes) -> list[Entry]:
    found = CaptureReader(BytesIO(data))
    entries = list(found.entries())
    assert found.problem is None
    return entries


def entries_of(world: CapturedWorld) -> list[Entry]:
    return read(b"".join(world.section.blocks))


def exchanges(entries: list[Entry]) -> list[Exchange]:
    return [entry for entry in entries if isinstance(entry, Exchange)]


def from_ethernet(packets: list[bytes]) -> bytes:
    """Returns a capture as tcpdump writes it of a connection to a port that is not Kafka's."""
    ethernet = bytearray(interface("lo", ""))
    ethernet[8:10] = b"\1\0"
    blocks = [packet(0, 10**18 + number, bytes(12) + b"\x08\0" + data, INBOUND) for number, data in enumerate(packets)]
    return section_header("dumpcap") + bytes(ethernet) + b"".join(blocks)


def requests(*messages: tuple[int, HeartbeatRequest | ApiVersionsRequest]) -> bytes:
    apis = {HeartbeatRequest: (HEARTBEAT, 4), ApiVersionsRequest: (API_VERSIONS, 3)}
    return b"".join(part for number, message in messages for part in encode_request(*apis[type(message)], number, "c", message))


def test_capture_has_exchanges_and_events_in_order() -> None:
    world = CapturedWorld(nodes=2)
    client = world.client(2)
    client.call(API_VERSIONS, 3, VERSIONS)
    client.call(HEARTBEAT, 4, BEAT)
    client.disconnect()
    opened, versions, beat, closed = entries_of(world)
    assert isinstance(opened, Event) and isinstance(closed, Event)
    assert isinstance(versions, Exchange) and isinstance(beat, Exchange)
    assert [entry.sequence for entry in (opened, versions, beat, closed)] == [1, 2, 3, 4]
    assert opened.text == "127.0.0.1:40001 connects to 127.0.0.2:9092"
    assert (closed.kind, closed.text) == ("connection closed", "FIN by the client")
    assert (beat.api, beat.version, beat.correlation_id, beat.node, beat.connection) == ("Heartbeat", 4, 1, 2, 1)
    assert (beat.peer, beat.client_id, beat.software) == ("127.0.0.1:40001", "test", "librdkafka 2.16.0")
    assert beat.request == BEAT
    assert beat.errors == ("NOT_COORDINATOR",)
    assert beat.answered is not None and beat.written is not None
    assert beat.received < beat.answered <= beat.written


def test_pipelined_requests_are_answered_in_order() -> None:
    world = CapturedWorld()
    client = world.client()
    client.feed(requests((1, VERSIONS), (2, BEAT), (3, BEAT)))
    found = exchanges(entries_of(world))
    assert [(each.api, each.correlation_id, each.response is not None) for each in found] == [
        ("ApiVersions", 1, True),
        ("Heartbeat", 2, True),
        ("Heartbeat", 3, True),
    ]


def test_requests_with_acks_0_are_answered_without_response() -> None:
    world = CapturedWorld()
    world.cluster.topics.create("t", 1, 1)
    client = world.leader_of("t")
    for _ in range(3):
        client.send(PRODUCE, 9, produce_request("t", a_batch(b"v"), acks=0))
    client.send(API_VERSIONS, 3, VERSIONS)
    *produced, versions = exchanges(entries_of(world))
    assert [(each.api, each.answered is not None, each.response_frame) for each in produced] == [("Produce", True, None)] * 3
    assert versions.response is not None


def test_refused_request_has_the_end_of_the_connection() -> None:
    world = CapturedWorld(settings={"message.max.bytes": "100"})
    world.cluster.topics.create("t", 1, 1)
    client = world.leader_of("t")
    for size in (1, 200):
        client.send(PRODUCE, 9, produce_request("t", a_batch(bytes(size)), acks=0))
    first, second = exchanges(entries_of(world))
    assert first.ended == ""
    assert second.ended == "FIN by the broker: Produce with acks=0 failed with MESSAGE_TOO_LARGE: message.max.bytes is 100"


def test_waiting_request_is_not_answered() -> None:
    world = CapturedWorld()
    world.cluster.topics.create("t", 1, 1)
    client = world.leader_of("t")
    topics = [FetchTopic(topic="t", partitions=[FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=100)])]
    client.send(FETCH, 11, FetchRequest(max_wait_ms=500, min_bytes=1, topics=topics))
    (fetch,) = exchanges(entries_of(world))
    assert (fetch.api, fetch.answered, fetch.response_frame) == ("Fetch", None, None)
    world.advance(500)
    (fetch,) = exchanges(entries_of(world))
    assert fetch.answered is not None


def test_topic_ids_get_the_names_of_metadata() -> None:
    world = CapturedWorld()
    topic = world.cluster.topics.create("orders", 1, 1)
    client = world.leader_of("orders")
    client.call(METADATA, 12, MetadataRequest(topics=None))
    client.call(PRODUCE, 13, produce_request("", a_batch(b"v"), topic_id=topic.id))
    _, produce = exchanges(entries_of(world))
    assert produce.topics == ("orders",)


def test_secrets_of_a_foreign_capture_are_redacted() -> None:
    packets = TcpPackets(CLIENT, Address(CLIENT.ip, 19_092))
    token = SaslAuthenticateRequest(auth_bytes=b"\0alice\0the-password")
    sent = b"".join(encode_request(SASL_AUTHENTICATE, 2, 1, "c", token))
    (exchange,) = exchanges(read(from_ethernet([*packets.handshake(), *packets.data(True, sent)])))
    assert exchange.request == SaslAuthenticateRequest(auth_bytes=b"*" * 19)
    assert b"password" not in exchange.request_frame.head
    assert exchange.node is None and exchange.listener == "127.0.0.1:19092"


def test_capture_that_begins_later_is_read_from_a_frame() -> None:
    packets = TcpPackets(CLIENT, Address(CLIENT.ip, 19_092))
    packets.skip_handshake()
    data = [*packets.data(False, b"the end of a response"), *packets.data(True, b"of a request"), *packets.data(True, requests((7, BEAT)))]
    (exchange,) = exchanges(read(from_ethernet(data)))
    assert (exchange.api, exchange.correlation_id) == ("Heartbeat", 7)


def test_gap_is_followed_by_the_next_frame() -> None:
    packets = TcpPackets(CLIENT, Address(CLIENT.ip, 9092))
    sent = [*packets.handshake()]
    lost = list(packets.data(True, requests((2, BEAT))))
    sent += [*packets.data(True, requests((3, BEAT))[:-4]), *packets.data(False, b"")]
    sent += [*packets.data(True, requests((3, BEAT))[-4:]), *packets.data(True, requests((4, BEAT)))]
    del lost
    assert [each.correlation_id for each in exchanges(read(from_ethernet(sent)))] == [3, 4]


def test_other_protocols_are_left_out() -> None:
    http = TcpPackets(CLIENT, Address(CLIENT.ip, 80))
    tls = TcpPackets(Address(CLIENT.ip, 40_001), Address(CLIENT.ip, 19_093))
    hello = b"\x16\x03\x01\x02\0" + bytes(512)
    data = [
        *http.handshake(),
        *http.data(True, b"GET / HTTP/1.1\r\n\r\n"),
        *tls.handshake(),
        *tls.data(True, hello),
        *tls.data(False, hello),
    ]
    found = CaptureReader(BytesIO(from_ethernet(data)))
    assert list(found.entries()) == []
    assert found.encrypted == 1


def test_port_that_is_used_again_is_another_connection() -> None:
    world = CapturedWorld()
    for _ in range(2):
        client = world.client()
        client.call(HEARTBEAT, 4, BEAT)
        client.disconnect()
        world._port -= 1
    entries = entries_of(world)
    assert [entry.connection for entry in entries] == [1, 1, 1, 2, 2, 2]


def test_many_connections_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture, "MAX_CONNECTIONS", 3)
    world = CapturedWorld()
    clients = [world.client() for _ in range(10)]
    for client in clients:
        client.feed(requests((1, BEAT)))
    assert len(exchanges(entries_of(world))) == 10


def test_large_incomplete_frames_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture, "MAX_HELD_BYTES", 50_000)
    world = CapturedWorld()
    for _ in range(5):
        client = world.client()
        client.feed(b"\0\1\0\0" + bytes(20_000))
    found = CaptureReader(BytesIO(b"".join(world.section.blocks)))
    assert len(list(found.entries())) >= 3
    assert len(found._conversations) == 0


def an_event(sequence: int) -> Event:
    return Event(sequence=sequence, at=Moment(0, 0), kind="group")


def test_entries_wait_for_those_before_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture, "MAX_WAITING", 3)
    assert [each.sequence for each in in_order(map(an_event, (2, 1, 4, 3, 5)))] == [1, 2, 3, 4, 5]
    assert [each.sequence for each in in_order(map(an_event, (2, 3, 4, 5, 1)))] == [2, 3, 4, 5, 1]


def test_damaged_captures_raise_nothing(tmp_path: Path) -> None:
    world = CapturedWorld()
    world.cluster.topics.create("t", 1, 1)
    client = world.leader_of("t")
    client.call(API_VERSIONS, 3, VERSIONS)
    client.call(METADATA, 12, MetadataRequest(topics=None))
    client.call(PRODUCE, 9, produce_request("t", a_batch(b"v")))
    data, random = b"".join(world.section.blocks), Random(3)
    for _ in range(300):
        damaged = bytearray(data)
        for _ in range(10):
            damaged[random.randrange(4, len(damaged))] = random.randrange(256)
        found = CaptureReader(BytesIO(bytes(damaged)))
        for exchange in exchanges(list(found.entries())):
            assert exchange.errors is not None and isinstance(exchange.request_frame, Frame)
