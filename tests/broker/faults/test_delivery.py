"""Requests that hang; delays, throttling, trickling and dropping of responses."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from odradek.protocol.frame import encode_request
from odradek.protocol.messages.api_versions import API_VERSIONS
from odradek.protocol.messages.fetch import FETCH
from odradek.protocol.messages.heartbeat import HEARTBEAT, HeartbeatRequest
from odradek.protocol.messages.produce import PRODUCE
from odradek.protocol.messages.sasl_handshake import SASL_HANDSHAKE, SaslHandshakeRequest
from tests.broker.harness import ASK, Client, World, a_batch, fetch_request, produce, produce_request

BEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")


@pytest.fixture
def world() -> World:
    return World(nodes=1).with_topic("t", 1)


def send(client: Client) -> None:
    client.send(PRODUCE, 9, produce_request("t", a_batch(b"x")))


def end_offset(world: World) -> int:
    return world.cluster.topics["t"].partitions[0].log.end_offset


def test_delay_holds_the_response_and_what_follows(world: World) -> None:
    """The work is done at once, and another connection is not delayed."""
    fault = world.fault(api="Produce", delay_ms=100, times=1)
    client, other = world.client(), world.client()
    send(client)
    client.send(API_VERSIONS, 3, ASK)
    assert end_offset(world) == 1
    assert other.call(PRODUCE, 9, produce_request("t", a_batch(b"y"))).responses[0].partition_responses[0].base_offset == 1
    world.advance(99)
    assert not client.sent
    world.advance(1)
    assert client.receive().responses[0].partition_responses[0].base_offset == 0
    assert client.receive().error_code == 0
    assert fault.hits == 1


def test_jitter_delays_at_most_by_its_length(world: World) -> None:
    world.fault(api="ApiVersions", delay_ms=10, jitter_ms=20)
    delays = set()
    for _ in range(30):
        client, began_ms = world.client(), world.timers.now_ms
        client.send(API_VERSIONS, 3, ASK)
        while not client.sent:
            world.advance(1)
        delays.add(world.timers.now_ms - began_ms)
    assert min(delays) >= 10
    assert max(delays) <= 30
    assert len(delays) > 5


def test_delays_of_two_faults_add_up(world: World) -> None:
    world.fault(delay_ms=10)
    world.fault(api="ApiVersions", delay_ms=5)
    client = world.client()
    client.send(API_VERSIONS, 3, ASK)
    world.advance(10)
    world.advance(4)
    assert not client.sent
    world.advance(1)
    assert client.receive().error_code == 0


def test_throttle_answers_at_once_and_mutes_the_channel(world: World) -> None:
    world.fault(api="ApiVersions", throttle_ms=500, times=1)
    client = world.client()
    assert client.call(API_VERSIONS, 3, ASK).throttle_time_ms == 500
    client.send(API_VERSIONS, 3, ASK)
    world.advance(499)
    assert not client.sent
    world.advance(1)
    assert client.receive().throttle_time_ms == 0


def test_throttle_mutes_without_a_field_for_it(world: World) -> None:
    world.fault(api=["SaslHandshake", "Heartbeat"], throttle_ms=500)
    client = world.client()
    client.call(SASL_HANDSHAKE, 1, SaslHandshakeRequest(mechanism="PLAIN"))
    client.send(HEARTBEAT, 0, BEAT)
    assert not client.sent
    world.advance(500)
    assert client.receive().error_code


def test_throttle_is_said_by_an_error_response(world: World) -> None:
    world.fault(api="Produce", throttle_ms=7, error="THROTTLING_QUOTA_EXCEEDED")
    response = world.client().call(PRODUCE, 9, produce_request("t", a_batch(b"x")))
    assert (response.throttle_time_ms, response.responses[0].partition_responses[0].error_code) == (7, 89)


@pytest.mark.parametrize(("stage", "end"), [("before", 0), ("after", 1)])
@pytest.mark.parametrize(("close", "is_closed", "resets"), [(None, False, False), ("fin", True, False), ("rst", True, True)])
def test_drop_writes_nothing(world: World, stage: str, end: int, close: str | None, is_closed: bool, resets: bool) -> None:
    options = {} if close is None else {"close": close}
    world.fault(api="Produce", drop=True, stage=stage, **options)
    client = world.client()
    send(client)
    assert not client.sent
    assert end_offset(world) == end
    assert (client.closed is not None, client.connection.resets) == (is_closed, resets)


def test_drop_without_closing_serves_nothing_more(world: World) -> None:
    """A response to the next request would look like the response that is missing."""
    fault = world.fault(api="Produce", drop=True)
    client = world.client()
    send(client)
    world.core.faults.remove(fault)
    client.send(API_VERSIONS, 3, ASK)
    world.advance(1000)
    assert (bytes(client.sent), client.closed) == (b"", None)


def test_drop_of_a_produce_without_acks_loses_the_record(world: World) -> None:
    world.fault(api="Produce", drop=True, acks=0)
    client = world.client()
    client.send(PRODUCE, 9, produce_request("t", a_batch(b"x"), acks=0))
    assert (end_offset(world), client.closed) == (0, None)
    client._asked.clear()
    assert client.call(API_VERSIONS, 3, ASK).error_code == 0


@pytest.mark.parametrize(("close", "resets"), [("fin", False), ("rst", True)])
def test_cut_writes_the_beginning_and_closes(world: World, close: str, resets: bool) -> None:
    world.fault(api="Produce", drop=True, close=close, cut_at_bytes=7)
    client = world.client()
    send(client)
    assert len(client.sent) == 7
    assert client.sent[4:] == b"\0\0\0"
    assert end_offset(world) == 1
    assert client.closed == "a fault cut the response at 7 bytes"
    assert client.connection.resets is resets


def test_delay_precedes_a_drop_that_closes(world: World) -> None:
    world.fault(api="Produce", drop=True, close="fin", delay_ms=100)
    client = world.client()
    send(client)
    assert client.closed is None
    world.advance(100)
    assert client.closed == "a fault dropped the response"


def arrivals(world: World, client: Client, milliseconds: int) -> list[int]:
    """Returns how many bytes have arrived after each of so many milliseconds."""
    sizes = [len(client.sent)]
    for _ in range(milliseconds):
        world.advance(1)
        sizes.append(len(client.sent))
    return sizes


def test_trickle_writes_chunks_at_the_rate(world: World) -> None:
    world.fault(api="ApiVersions", bytes_per_s=10_000, chunk_bytes=50, times=1)
    client = world.client()
    client.send(API_VERSIONS, 3, ASK)
    sizes = arrivals(world, client, 100)
    assert all(size <= 50 + 10 * millisecond for millisecond, size in enumerate(sizes))
    assert {after - before for before, after in pairwise(sizes)} <= {0, 50, sizes[-1] % 50}
    assert client.receive().error_code == 0


def test_trickle_without_a_rate_writes_a_chunk_per_turn(world: World) -> None:
    world.fault(api="ApiVersions", chunk_bytes=100)
    client = world.client()
    client.send(API_VERSIONS, 3, ASK)
    sizes = arrivals(world, client, 10)
    assert sizes[:4] == [100, 200, 300, 400]
    assert client.receive().error_code == 0


def test_trickle_before_a_cut_ends_at_the_cut(world: World) -> None:
    world.fault(api="ApiVersions", drop=True, close="fin", cut_at_bytes=250, chunk_bytes=100)
    client = world.client()
    client.send(API_VERSIONS, 3, ASK)
    assert arrivals(world, client, 3) == [100, 200, 250, 250]
    assert client.closed is not None


@pytest.mark.parametrize("act", [{"delay_ms": 50}, {"hang": True, "hang_ms": 50}])
def test_delayed_fetch_reads_the_buffer_of_its_own_request(world: World, act: dict[str, int]) -> None:
    """The receive buffer, which connections share, is used for another request before the fault serves the first."""
    world.fault(api="Produce", **act)
    client, other = world.client(), world.client()
    client.send(PRODUCE, 9, produce_request("t", a_batch(b"kept")))
    other.feed(b"".join(encode_request(API_VERSIONS, 3, 1, "x" * 200, ASK)))
    world.advance(50)
    assert client.receive().responses[0].partition_responses[0].error_code == 0
    (data,) = world.client().call(FETCH, 11, fetch_request("t")).responses[0].partitions
    assert b"kept" in bytes(data.records)


@pytest.mark.parametrize("act", [{"delay_ms": 50}, {"throttle_ms": 50}, {"chunk_bytes": 1}, {"hang": True}])
def test_closed_connection_ends_the_act(world: World, act: dict[str, int]) -> None:
    world.fault(api="Produce", **act)
    client = world.client()
    send(client)
    parked: Callable[[], object] = lambda: client.connection.parked  # noqa: E731
    assert parked() is not None
    client.connection.lost("the client has disconnected")
    assert parked() is None
    timers = len(world.timers)
    world.advance(1000)
    assert len(world.timers) <= timers
    assert not world.turns._waiting


def test_hang_neither_reads_nor_serves_nor_closes(world: World) -> None:
    world.fault(api="Produce", hang=True)
    client = world.client()
    client.send(PRODUCE, 9, produce_request("t", a_batch(b"x")))
    client.send(API_VERSIONS, 3, ASK)
    world.advance(500_000)
    assert not client.sent
    assert not client.wants_data()
    assert client.closed is None
    assert world.cluster.topics["t"].partitions[0].log.end_offset == 0


def test_hang_ends_after_its_time(world: World) -> None:
    world.fault(api="Produce", hang=True, hang_ms=100)
    client = world.client()
    client.send(PRODUCE, 9, produce_request("t", a_batch(b"x")))
    world.advance(99)
    assert not client.sent
    world.advance(1)
    assert client.receive().responses[0].partition_responses[0].base_offset == 0


def test_hang_ends_when_the_fault_is_removed(world: World) -> None:
    fault = world.fault(api="Produce", hang=True)
    clients = [world.client(), world.client()]
    for client in clients:
        client.send(PRODUCE, 9, produce_request("t", a_batch(b"x")))
    world.core.faults.remove(fault)
    world.advance(0)
    assert [client.receive().responses[0].partition_responses[0].base_offset for client in clients] == [0, 1]


def test_hang_holds_the_responses_of_requests_in_flight(world: World) -> None:
    """A fetch that waits when the fault begins gets no response either, as behind a firewall."""
    client = world.client()
    client.send(FETCH, 11, fetch_request("t", max_wait_ms=10_000))
    fault = world.fault(node=1, hang=True, api=["Fetch"])
    assert fault.hits == 1
    produce(world, "t", b"x")
    world.advance(20_000)
    assert not client.sent
    world.core.faults.remove(fault)
    world.advance(0)
    assert b"x" in bytes(client.receive().responses[0].partitions[0].records)


def test_hang_leaves_other_requests_in_flight(world: World) -> None:
    client = world.client()
    client.send(FETCH, 11, fetch_request("t", max_wait_ms=10_000))
    fault = world.fault(api="Fetch", topic="other", hang=True)
    produce(world, "t", b"x")
    assert client.receive() is not None
    assert fault.hits == 0


@pytest.mark.parametrize("act", [{"hang": True}, {"drop": True}])
def test_silent_connection_is_not_closed_as_idle(act: dict[str, bool]) -> None:
    world = World(nodes=1, settings={"connections.max.idle.ms": "1000"})
    world.fault(api="ApiVersions", **act)
    client, idle = world.client(), world.client()
    client.send(API_VERSIONS, 3, ASK)
    for _ in range(20):
        world.advance(250)
    assert client.closed is None
    assert idle.closed == "idle for 1000 ms, connections.max.idle.ms is 1000"
