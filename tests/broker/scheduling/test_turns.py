"""Turns of the event loop: the share of a connection, put-off work and its order, without sockets and real time."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.api.context import Context
from odradek.broker.connections.connection import TURN_REQUESTS
from odradek.broker.scheduling.turns import TURN_S, TurnTime
from odradek.broker.scheduling.waiting import NEXT_TURN, Background, Wait
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.frame import encode_request, encode_response
from odradek.protocol.messages.api_versions import API_VERSIONS
from odradek.protocol.messages.heartbeat import HEARTBEAT, HeartbeatRequest, HeartbeatResponse
from odradek.protocol.messages.leave_group import LEAVE_GROUP, LeaveGroupRequest
from odradek.protocol.messages.metadata import (
    METADATA,
    MetadataRequest,
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from tests.broker.harness import ASK, Client, World
from tests.broker.replaced_handlers import replaced

BEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
LEAVE = LeaveGroupRequest(group_id="g", member_id="m")


def requests(count: int) -> bytes:
    return b"".join(b"".join(encode_request(API_VERSIONS, 3, number, "test", ASK)) for number in range(count))


def answers(client: Client) -> list[int]:
    """Returns the correlation ids of the responses so far."""
    found, position = [], 0
    while position < len(client.sent):
        found.append(int.from_bytes(client.sent[position + 4 : position + 8]))
        position += 4 + int.from_bytes(client.sent[position : position + 4])
    return found


def long_metadata(partitions: int) -> MetadataResponse:
    described = [
        MetadataResponsePartition(partition_index=index, leader_id=1, leader_epoch=0, replica_nodes=[1], isr_nodes=[1], offline_replicas=[])
        for index in range(partitions)
    ]
    return MetadataResponse(brokers=[], controller_id=1, topics=[MetadataResponseTopic(name="t", partitions=described)])


# The share of a connection


def test_pipelined_requests_alternate_with_other_clients() -> None:
    world = World(stepwise=True)
    flood, quiet = world.client(), world.client()
    flood.feed(requests(2 * TURN_REQUESTS + 10))
    assert len(answers(flood)) == TURN_REQUESTS
    assert not flood.wants_data()
    quiet.feed(requests(1))
    assert answers(quiet) == [0]
    world.turn()
    assert len(answers(flood)) == 2 * TURN_REQUESTS
    world.turn()
    assert answers(flood) == list(range(2 * TURN_REQUESTS + 10))
    assert flood.wants_data()
    assert not world.turns.has_more


def test_pipelined_requests_are_put_off_after_turn_s() -> None:
    world = World(stepwise=True)

    def slow(request: Any, context: Context) -> HeartbeatResponse:
        world.seconds += TURN_S / 3
        return HeartbeatResponse()

    client = world.client()
    with replaced(HEARTBEAT.key, slow):
        client.feed(b"".join(b"".join(encode_request(HEARTBEAT, 0, number, "test", BEAT)) for number in range(4)))
        assert answers(client) == [0, 1, 2]
        world.turn()
    assert answers(client) == [0, 1, 2, 3]


def test_put_off_connections_are_served_in_order() -> None:
    """If the first connection uses up the turn, the others are served in the next one, and the first comes after them."""
    world = World(stepwise=True)
    order: list[str] = []

    def slow(request: HeartbeatRequest, context: Context) -> HeartbeatResponse:
        world.seconds += TURN_S
        order.append(request.group_id)
        return HeartbeatResponse()

    with replaced(HEARTBEAT.key, slow):
        for name in ("a", "b"):
            request = HeartbeatRequest(group_id=name, generation_id=1, member_id="m")
            world.client().feed(b"".join(encode_request(HEARTBEAT, 0, 1, "test", request)) * 3)
        assert order == ["a", "b"]
        for _ in range(4):
            world.turn()
    assert order == ["a", "b", "a", "b", "a", "b"]


def test_bytes_received_while_put_off_are_served_in_order() -> None:
    world = World(stepwise=True)
    client = world.client()
    client.feed(requests(TURN_REQUESTS + 1))
    client.feed(requests(1))
    assert len(answers(client)) == TURN_REQUESTS
    world.turn()
    assert answers(client) == [*range(TURN_REQUESTS + 1), 0]


def test_put_off_connection_that_is_lost_is_not_served() -> None:
    world = World(stepwise=True)
    client = world.client()
    client.feed(requests(TURN_REQUESTS + 1))
    client.connection.lost("gone")
    world.turn()
    assert len(answers(client)) == TURN_REQUESTS
    assert not world.turns.has_more


# Handlers that work in slices


def test_handler_in_slices_yields_to_other_clients() -> None:
    world, steps = World(stepwise=True), []

    def sliced(request: Any, context: Context) -> Generator[Wait, None, HeartbeatResponse]:
        for number in range(3):
            steps.append(number)
            yield NEXT_TURN
        return HeartbeatResponse(error_code=7)

    client, other = world.client(), world.client()
    with replaced(HEARTBEAT.key, sliced):
        client.send(HEARTBEAT, 0, BEAT)
        client.send(API_VERSIONS, 3, ASK)
        for done in range(1, 4):
            assert len(steps) == done
            assert client.receive() is None
            assert other.call(API_VERSIONS, 3, ASK).error_code == 0
            world.turn()
        assert client.receive().error_code == 7
        assert client.receive().api_keys
    assert len(steps) == 3


def test_handler_in_slices_may_refuse_and_wait() -> None:
    def sliced(request: Any, context: Context) -> Generator[Wait, None, HeartbeatResponse]:
        yield NEXT_TURN
        yield Wait((), context.now_ms + 5)
        yield NEXT_TURN
        raise KafkaError(ErrorCode.ILLEGAL_GENERATION)

    world = World()
    client = world.client()
    with replaced(HEARTBEAT.key, sliced):
        client.send(HEARTBEAT, 0, BEAT)
        assert client.receive() is None
        world.advance(5)
    assert client.receive().error_code == ErrorCode.ILLEGAL_GENERATION


def test_handler_in_slices_is_closed_with_its_connection() -> None:
    world, ended = World(stepwise=True), []

    def sliced(request: Any, context: Context) -> Generator[Wait, None, HeartbeatResponse]:
        try:
            while True:
                yield NEXT_TURN
        finally:
            ended.append(True)

    client = world.client()
    with replaced(HEARTBEAT.key, sliced):
        client.send(HEARTBEAT, 0, BEAT)
        world.turn()
        client.connection.lost("gone")
    assert ended == [True]
    world.turn()
    assert not world.turns.has_more


def test_long_response_is_encoded_in_slices() -> None:
    world, response = World(stepwise=True), long_metadata(5_000)

    def sliced(request: Any, context: Context) -> Generator[Wait, None, MetadataResponse]:
        yield NEXT_TURN
        return response

    client, turns = world.client(), 0
    with replaced(METADATA.key, sliced):
        client.send(METADATA, 9, MetadataRequest(topics=None))
        while world.turns.has_more:
            world.turn()
            turns += 1
    assert turns > 5
    assert client.sent == b"".join(encode_response(METADATA, 9, 1, response))


def test_sliced_encoding_error_closes_only_its_connection(caplog: pytest.LogCaptureFixture) -> None:
    def sliced(request: Any, context: Context) -> Generator[Wait, None, MetadataResponse]:
        yield NEXT_TURN
        return MetadataResponse(brokers=None, controller_id="x", topics=[])  # type: ignore[arg-type]

    world = World()
    client = world.client()
    with replaced(METADATA.key, sliced), caplog.at_level(logging.ERROR):
        client.send(METADATA, 9, MetadataRequest(topics=None))
    assert client.closed == "an internal error"
    assert "serving Metadata v9" in caplog.text


# Background work


def test_background_work_runs_a_slice_in_each_turn() -> None:
    world, steps = World(stepwise=True), []

    def work() -> Background:
        for number in range(3):
            steps.append(number)
            yield NEXT_TURN

    world.cluster.background(work())
    assert steps == []
    for done in (1, 2, 3):
        world.turn()
        assert len(steps) == done
    world.turn()
    assert not world.turns.has_more


def test_background_work_ends_when_it_is_closed() -> None:
    world, steps = World(stepwise=True), []

    def work() -> Background:
        while True:
            steps.append(1)
            yield NEXT_TURN

    running = work()
    world.cluster.background(running)
    world.turn()
    running.close()
    world.turn()
    assert steps == [1]
    assert not world.turns.has_more


def test_failing_background_work_is_logged_and_ends(caplog: pytest.LogCaptureFixture) -> None:
    def work() -> Background:
        yield NEXT_TURN
        raise RuntimeError("a bug of ours")

    world = World()
    world.cluster.background(work())
    with caplog.at_level(logging.ERROR):
        assert world.client().call(API_VERSIONS, 3, ASK).error_code == 0
    assert "background work has failed" in caplog.text
    assert "a bug of ours" in caplog.text
    assert not world.turns.has_more


def test_background_work_wakes_requests_in_the_same_turn() -> None:
    world = World(stepwise=True)

    def work() -> Background:
        world.turns.wake("key")
        yield NEXT_TURN

    def waiting(request: Any, context: Context) -> Generator[Wait, None, HeartbeatResponse]:
        yield Wait(("key",))
        return HeartbeatResponse()

    client = world.client()
    with replaced(HEARTBEAT.key, waiting):
        client.send(HEARTBEAT, 0, BEAT)
        world.cluster.background(work())
        world.turn()
    assert client.receive().error_code == 0


# All mechanisms together


def waiting_rule(request: Any, context: Context) -> Generator[Wait, None, HeartbeatResponse]:
    yield Wait((), context.now_ms + 5)
    return HeartbeatResponse()


def sliced_rule(request: Any, context: Context) -> Generator[Wait, None, HeartbeatResponse]:
    yield NEXT_TURN
    return HeartbeatResponse()


KINDS = {"short": (API_VERSIONS, 3, ASK), "waiting": (HEARTBEAT, 0, BEAT), "sliced": (LEAVE_GROUP, 0, LEAVE)}
STEPS = st.one_of(
    st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=2 * TURN_REQUESTS),
    st.sampled_from(["turn", "time", "deaf", "hearing"]),
)


@given(st.lists(STEPS, max_size=12), st.integers(1, 500))
def test_responses_are_complete_and_in_order(steps: list[Any], cut: int) -> None:
    """A client that pipelines requests of all kinds, sends only while the connection wants data, and at times does not read."""
    world = World(stepwise=True)
    client = world.client()
    unsent, count = b"", 0

    def hear(hears: bool) -> None:
        client.connection.writable = hears
        if hears:
            client.connection.ask_for_flush()

    def go_on() -> None:
        nonlocal unsent
        while unsent and client.connection.wants_data:
            client.feed(unsent[:cut])
            unsent = unsent[cut:]
        world.core.flush()

    client.connection.on_output = lambda: client._flush() if client.connection.writable else None
    actions: dict[str, Callable[[], None]] = {
        "turn": world.turn,
        "time": lambda: world.advance(5),
        "deaf": lambda: hear(False),
        "hearing": lambda: hear(True),
    }
    with replaced(HEARTBEAT.key, waiting_rule), replaced(LEAVE_GROUP.key, sliced_rule):
        for step in steps:
            if isinstance(step, str):
                actions[step]()
            else:
                for kind in step:
                    api, version, request = KINDS[kind]
                    unsent += b"".join(encode_request(api, version, count, "test", request))
                    count += 1
            go_on()
        hear(True)
        while unsent or client.connection.parked or world.turns.has_more or len(answers(client)) < count:
            world.turn()
            world.advance(5)
            go_on()
    assert answers(client) == list(range(count))
    assert client.connection.wants_data
    assert not client.connection.busy


def test_time_of_a_turn_begins_anew_in_the_next_one() -> None:
    now_s = 0.0
    turn = TurnTime(lambda: now_s)
    now_s = TURN_S
    assert not turn.is_over
    now_s = 2 * TURN_S
    assert turn.is_over
    other_work = turn.begin_next()
    other_work.send(None)
    assert turn.is_over
    with pytest.raises(StopIteration):
        other_work.send(None)
    assert not turn.is_over
