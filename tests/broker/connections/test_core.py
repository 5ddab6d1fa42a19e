"""The core and its connections: framing, one request in flight, waiting, back-pressure and failures."""

from __future__ import annotations

import gc
import logging
import weakref
from collections.abc import Generator
from functools import partial
from mmap import PAGESIZE
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.api.context import Context
from odradek.broker.api.registry import CloseConnection
from odradek.broker.connections.connection import FRAME_START_BYTES, OUTPUT_LIMIT_BYTES, TURN_REQUESTS
from odradek.broker.connections.large_frame import LARGE_FRAME_BYTES, MAX_TOUCHED_BYTES
from odradek.broker.connections.output import STAGING_BYTES
from odradek.broker.handlers import HANDLERS
from odradek.broker.handlers.api_versions import TELEMETRY
from odradek.broker.network.client_protocol import WRITE_BYTES
from odradek.broker.scheduling.waiting import Wait
from odradek.protocol.errors import ErrorCode
from odradek.protocol.frame import encode_request
from odradek.protocol.messages.api_versions import API_VERSIONS
from odradek.protocol.messages.fetch import FETCH
from odradek.protocol.messages.heartbeat import HEARTBEAT, HeartbeatRequest, HeartbeatResponse
from odradek.protocol.messages.metadata import METADATA, MetadataRequest
from odradek.protocol.messages.produce import PRODUCE
from odradek.storage.blocks import TOUCH_BYTES
from tests.broker.harness import ASK, Client, World, a_batch, fetch_request, produce, produce_request
from tests.broker.replaced_handlers import replaced


@pytest.fixture
def world() -> World:
    return World().with_topic("t", 1)


def frame(correlation_id: int = 1) -> bytes:
    return b"".join(encode_request(API_VERSIONS, 3, correlation_id, "test", ASK))


def test_request_gets_its_response(world: World) -> None:
    response = world.client().call(API_VERSIONS, 3, ASK)
    assert response.error_code == 0
    assert [api.api_key for api in response.api_keys] == sorted(HANDLERS.keys() - TELEMETRY)


def test_woken_fetch_is_written_before_the_produce_response() -> None:
    world = World(stepwise=True)
    world.cluster.topics.create("t", 1)
    reader, writer = world.leader_of("t"), world.leader_of("t")
    flushed: list[str] = []
    for client, name in ((reader, "reader"), (writer, "writer")):
        client.connection.on_output = partial(flushed.append, name)
    reader.send(FETCH, 11, fetch_request("t"))
    writer.send(PRODUCE, 9, produce_request("t", a_batch(b"x")))
    assert flushed == ["reader", "writer"]


@given(cuts=st.lists(st.integers(1, 200), max_size=10), requests=st.integers(1, 4))
def test_received_bytes_may_be_split_anywhere(cuts: list[int], requests: int) -> None:
    world = World()
    client = world.client()
    stream = b"".join(frame(number) for number in range(requests))
    for cut in [*cuts, len(stream)]:
        client.feed(stream[:cut])
        stream = stream[cut:]
    whole = World().client()
    whole.feed(b"".join(frame(number) for number in range(requests)))
    assert client.sent == whole.sent
    assert len(client.sent) > 0


def test_received_single_bytes_give_the_same_responses(world: World) -> None:
    client, whole = world.client(), world.client()
    for byte in frame():
        client.feed(bytes([byte]))
    whole.feed(frame())
    assert client.sent == whole.sent != b""


@pytest.mark.parametrize("size", [-1, -(1 << 31), 104_857_601, (1 << 31) - 1])
def test_frame_of_invalid_size_closes_only_its_connection(world: World, size: int) -> None:
    client, other = world.client(), world.client()
    client.feed(size.to_bytes(4, "big", signed=True))
    assert client.closed
    assert "socket.request.max.bytes" in client.closed
    assert client.sent == b""
    client.feed(frame())
    assert client.sent == b""
    assert other.call(API_VERSIONS, 3, ASK).error_code == 0


def test_frame_above_socket_request_max_bytes_closes() -> None:
    client = World(settings={"socket.request.max.bytes": "100"}).client()
    client.feed((101).to_bytes(4, "big"))
    assert client.closed


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00\x12",
        b"\x7f\xff\x00\x00\x00\x00\x00\x01\xff\xff",  # an unknown API
        b"\x00\x24\x00\x00\x00\x00\x00\x01\xff\xff",  # an API that is not served (SaslAuthenticate)
        b"\x00\x03\x00\x63\x00\x00\x00\x01\xff\xff\x00",  # a version that is not served
        b"\x00\x03\xff\xff\x00\x00\x00\x01\xff\xff\x00",
        b"\x00\x03\x00\x01\x00\x00\x00\x01\x7f\xff",  # a client id that does not fit
        b"\x00\x03\x00\x0c\x00\x00\x00\x01\xff\xff\x01\x00\xff\xff\xff\xff\x0f",  # a tagged field that does not fit
        b"\x00\x03\x00\x01\x00\x00\x00\x01\xff\xff\x7f\xff\xff\xff",  # an array that does not fit
    ],
)
def test_malformed_request_closes_without_a_response(world: World, data: bytes) -> None:
    client = world.client()
    client.feed(len(data).to_bytes(4, "big") + data)
    assert client.closed
    assert client.sent == b""
    assert world.client().call(API_VERSIONS, 3, ASK).error_code == 0


def test_declared_length_allocates_no_memory(world: World) -> None:
    clients = [world.client() for _ in range(200)]
    for client in clients:
        client.feed((100_000_000).to_bytes(4, "big"))
    resident_bytes = int(Path("/proc/self/statm").read_text().split()[1]) * 4096
    assert resident_bytes < 2_000_000_000  # the frames declare 20 GB
    assert not any(client.closed for client in clients)


def test_api_versions_of_unknown_version_gets_version_0(world: World) -> None:
    client = world.client()
    client._asked.append((API_VERSIONS, 0))
    request = b"\x00\x12\x00\x63\x00\x00\x00\x01\x00\x04test\x00"
    client.feed(len(request).to_bytes(4, "big") + request)
    response = client.receive()
    assert response.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert [(key.api_key, key.min_version, key.max_version) for key in response.api_keys] == [(18, 0, 4)]
    assert client.closed is None


def test_waiting_request_holds_back_later_requests(world: World) -> None:
    client = world.leader_of("t")
    client.send(FETCH, 11, fetch_request("t"))
    client.send(API_VERSIONS, 3, ASK)
    assert client.receive() is None
    assert not client.connection.wants_data
    produce(world, "t", b"x")
    assert client.receive().responses[0].partitions[0].records
    assert client.receive().api_keys
    assert client.connection.wants_data


def test_produce_wakes_a_waiting_fetch_at_once(world: World) -> None:
    waiting = [world.leader_of("t") for _ in range(3)]
    for client in waiting:
        client.send(FETCH, 11, fetch_request("t"))
    produce(world, "t", b"x")
    assert all(client.receive().responses[0].partitions[0].high_watermark == 1 for client in waiting)


def test_waiting_fetch_responds_at_its_deadline(world: World) -> None:
    client = world.leader_of("t")
    timers = len(world.timers)
    client.send(FETCH, 11, fetch_request("t", max_wait_ms=500))
    world.advance(499)
    assert client.receive() is None
    world.advance(1)
    assert client.receive().responses[0].partitions[0].records == b""
    assert len(world.timers) == timers
    assert not world.turns._waiting


def test_lost_connection_releases_its_resources(world: World) -> None:
    closed: list[bool] = []

    def wait_for_ever(request: Any, context: Context) -> Generator[Wait, None, HeartbeatResponse]:
        try:
            yield Wait(("never",), context.now_ms + 10**9)
        finally:
            closed.append(True)
        return HeartbeatResponse()

    timers = len(world.timers)
    with replaced(HEARTBEAT.key, wait_for_ever):
        client = world.client()
        client.send(HEARTBEAT, 0, HeartbeatRequest(group_id="g", generation_id=1, member_id="m"))
        assert len(world.timers) == timers + 2  # the deadline of the wait, and the idle timer
        client.connection.lost("gone")
    assert closed == [True]
    assert len(world.timers) == timers
    assert not world.turns._waiting


@pytest.mark.parametrize("late", [False, True])
def test_failing_handler_closes_only_its_connection(world: World, late: bool, caplog: pytest.LogCaptureFixture) -> None:
    def broken(request: Any, context: Context) -> Any:
        raise RuntimeError("a bug of ours")

    def broken_later(request: Any, context: Context) -> Generator[Wait, None, None]:
        yield Wait((), context.now_ms + 5)
        raise RuntimeError("a bug of ours")

    client, other = world.client(), world.client()
    with replaced(HEARTBEAT.key, broken_later if late else broken), caplog.at_level(logging.INFO):
        client.feed(frame())
        client.send(HEARTBEAT, 0, HeartbeatRequest(group_id="g" * 10_000, generation_id=1, member_id="m"))
        world.advance(5)
    assert client.closed == "an internal error"
    assert len(client.sent) > 0  # the response to the earlier request
    (entry,) = caplog.records
    assert "an internal error while serving Heartbeat v0: HeartbeatRequest(group_id='ggg" in entry.getMessage()
    assert len(entry.getMessage()) < 1500
    assert entry.exc_info is not None
    assert "a bug of ours" in str(entry.exc_info[1])
    assert other.call(API_VERSIONS, 3, ASK).error_code == 0


def test_handler_may_close_the_connection_after_waiting(world: World) -> None:
    def ended(request: Any, context: Context) -> Generator[Wait, None, None]:
        yield Wait((), context.now_ms + 5)
        raise CloseConnection("enough")

    client = world.client()
    with replaced(HEARTBEAT.key, ended):
        client.send(HEARTBEAT, 0, HeartbeatRequest(group_id="g", generation_id=1, member_id="m"))
        world.advance(5)
    assert client.closed == "enough"


def test_responses_of_one_read_are_written_together(world: World) -> None:
    flushes: list[int] = []
    client = world.client()
    client.connection.on_output = lambda: flushes.append(len(client.connection.take_output()))
    client.feed(frame(1) + frame(2) + frame(3))
    assert flushes == [3]


def test_client_that_does_not_read_is_not_served(world: World) -> None:
    client = world.client()
    client.connection.writable = False
    client.feed(frame(1) + frame(2))
    assert client.sent == b""
    assert not client.connection.wants_data
    client.connection.writable = True
    client.connection.flushed()
    world.end_turn()
    assert len(client.sent) > 0


def test_output_of_pipelined_requests_is_bounded(world: World) -> None:
    produce(world, "t", bytes(500_000))
    client = world.leader_of("t")
    request = b"".join(encode_request(FETCH, 11, 1, "", fetch_request("t")))
    most: list[int] = []

    def flush() -> None:
        most.append(client.connection.output_bytes)
        client._flush()

    client.connection.on_output = flush
    client.feed(request * 100)
    assert max(most) < OUTPUT_LIMIT_BYTES + 600_000
    assert len(client.sent) > 100 * 500_000


@pytest.mark.parametrize(
    "sizes", [[5], [WRITE_BYTES], [WRITE_BYTES + 1], [3 * WRITE_BYTES], [WRITE_BYTES, 5], [600_000] * 5, [1000] * 5_000]
)
def test_take_output_with_a_limit_returns_pieces(world: World, sizes: list[int]) -> None:
    connection = world.client().connection
    parts = [bytes([number % 251]) * size for number, size in enumerate(sizes)]
    connection.write(list(parts))
    pieces = []
    while piece := connection.take_output(WRITE_BYTES):
        pieces.append(b"".join(piece))
        assert connection.output_bytes == sum(sizes) - sum(map(len, pieces))
    assert [len(piece) for piece in pieces[:-1]] == [WRITE_BYTES] * (len(pieces) - 1)
    assert b"".join(pieces) == b"".join(parts)


@pytest.mark.parametrize(
    ("start", "hint"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "this looks like TLS, but the listener is PLAINTEXT: "),
        (b"GET / HTTP/1.1\r\n\r\n", "this looks like HTTP, but the listener is PLAINTEXT: "),
        (b"PRI * HTTP/2.0\r\n\r\n", "this looks like HTTP, but the listener is PLAINTEXT: "),
        (b"\xff\xff\xff\xff", ""),
    ],
)
def test_log_names_the_protocol_of_a_foreign_client(world: World, start: bytes, hint: str, caplog: pytest.LogCaptureFixture) -> None:
    client = world.client()
    with caplog.at_level(logging.INFO):
        client.feed(start)
    assert client.closed
    message = caplog.records[-1].getMessage()
    assert f": {hint}a frame of " in message and message.endswith("socket.request.max.bytes is 104857600")


def test_reading_resumes_after_requests_without_responses(world: World) -> None:
    """Produce with acks=0 has no response, so no written output resumes reading."""
    world.stepwise = True
    client = world.leader_of("t")
    flushes: list[bool] = []
    client.connection.on_output = lambda: flushes.append(client.connection.wants_data)
    request = b"".join(encode_request(PRODUCE, 9, 1, "", produce_request("t", a_batch(b"x"), acks=0)))
    client.feed(request * (TURN_REQUESTS + 1))
    assert not client.connection.wants_data
    world.turn()
    assert flushes == [True]


@pytest.mark.parametrize("size", [LARGE_FRAME_BYTES - 200, LARGE_FRAME_BYTES, STAGING_BYTES, STAGING_BYTES * 3])
@pytest.mark.parametrize("piece", [1000, 100_000, 1 << 20])
def test_large_frame_may_be_split_anywhere(world: World, size: int, piece: int) -> None:
    client = world.leader_of("t")
    batch = a_batch(bytes(size))
    data = b"".join(encode_request(PRODUCE, 9, 1, "", produce_request("t", batch))) * 2
    for position in range(0, len(data), piece):
        client.feed(data[position : position + piece])
    client._asked += [(PRODUCE, 9)] * 2
    answers = [client.receive().responses[0].partition_responses[0] for _ in range(2)]
    assert [(answer.error_code, answer.base_offset) for answer in answers] == [(0, 0), (0, 1)]
    log = world.cluster.topics["t"].partitions[0].log
    stored = b"".join(bytes(view) for view in log.batches(0, 2))
    assert stored[16:].startswith(batch[16:])
    assert len(stored) == 2 * len(batch)


def test_frame_after_large_one_is_read_from_its_start_only(world: World) -> None:
    client = world.leader_of("t")
    large = produce_request("t", a_batch(bytes(STAGING_BYTES)))
    assert len(client.connection.buffer()) == STAGING_BYTES
    client.call(PRODUCE, 9, large)
    assert len(client.connection.buffer()) == FRAME_START_BYTES
    client.call(PRODUCE, 9, large)
    assert len(client.connection.buffer()) == FRAME_START_BYTES
    client.call(API_VERSIONS, 3, ASK)
    assert len(client.connection.buffer()) == STAGING_BYTES


def test_large_frame_takes_pages_as_its_bytes_arrive(world: World) -> None:
    client = world.client()
    client.feed((16 << 20).to_bytes(4) + b"begun")
    received, offered = 9, []
    while received < 6 << 20:
        offered.append(len(client.connection.buffer()))
        assert offered[-1] <= max(received, TOUCH_BYTES) + PAGESIZE
        client.feed(bytes(offered[-1]))
        received += offered[-1]
    assert offered == sorted(offered)
    assert offered[-1] == MAX_TOUCHED_BYTES


def test_log_is_unaffected_by_reuse_of_the_staging_buffer(world: World) -> None:
    client = world.leader_of("t")
    for value in (b"first" * 100, b"other" * 100):
        client.call(PRODUCE, 9, produce_request("t", a_batch(value)))
    log = world.cluster.topics["t"].partitions[0].log
    assert [b"first" in bytes(view) for view in log.batches(0, 2)] == [True, False]


def test_client_id_is_part_of_the_client_name(world: World) -> None:
    client = world.client()
    client.call(API_VERSIONS, 3, ASK, client_id="alice")
    assert str(client.connection.client) == "127.0.0.1:50000 on PLAINTEXT, client id 'alice'"


def test_invalid_request_gets_one_error_response(world: World) -> None:
    from odradek.protocol.messages.metadata import MetadataRequestTopic

    response = world.client().call(METADATA, 10, MetadataRequest(topics=[MetadataRequestTopic(name=None, topic_id=b"x" * 16)]))
    assert [topic.error_code for topic in response.topics] == [ErrorCode.INVALID_REQUEST]


def test_lost_connections_are_garbage_collected(world: World) -> None:
    client: Client | None = world.client()
    assert client is not None
    client.call(API_VERSIONS, 3, ASK)
    client.connection.lost("gone")
    left = weakref.ref(client)
    client = None
    gc.collect()
    assert left() is None
