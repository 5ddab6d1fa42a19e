"""No turn does much work for one request, however many elements its arrays have. Work is counted in calls of functions, not in time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from odradek.broker.handlers import HANDLERS
from odradek.protocol.frame import encode_request
from tests.broker.harness import World
from tests.broker.requests import Maker, Naming, Place, names_ids, places, populate

SIZE = 1000
MOST_CALLS, MOST_CALLS_AN_ELEMENT = 30_000, 12
"""The calls of a slice, and those in which a request is looked through as a whole, for example for elements that occur twice."""
NAMINGS = {"known": Naming(), "unknown": Naming("b."), "by-id": Naming(by_id=True)}
SETTINGS = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
    "auto.create.topics.enable": "false",
}

CASES = [
    pytest.param(place, naming, id=f"{place}-{key}")
    for handler in HANDLERS.values()
    for place in places(handler.api)
    for key, naming in NAMINGS.items()
    if names_ids(place) or not naming.by_id
]


@pytest.fixture(scope="module")
def world() -> World:
    world = World(1, SETTINGS, stepwise=True)
    for name in ("__consumer_offsets", "__transaction_state"):
        world.cluster.ensure_internal(name)
    return world


def calls_of(work: Callable[[], object]) -> int:
    """Returns the number of functions that are called."""
    calls = 0

    def count(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def most_calls(world: World, place: Place, size: int, naming: Naming) -> int:
    """Returns the calls of the turn that does most for a request with `size` elements."""
    populate(world, SIZE)
    frame = b"".join(encode_request(place.api, place.version, 1, "test", Maker(world, place, size, naming).request()))
    client = world.client()
    turns = [calls_of(lambda: client.feed(frame))]
    while world.turns.has_more:
        turns.append(calls_of(world.turn))
    client.connection.lost("the test is over")
    return max(turns)


@pytest.mark.parametrize(("place", "naming"), CASES)
def test_work_of_a_turn_is_bounded(world: World, place: Place, naming: Naming) -> None:
    most_calls(world, place, 1, naming)  # imports the modules and compiles the codecs
    calls = most_calls(world, place, SIZE, naming)
    assert calls <= MOST_CALLS + MOST_CALLS_AN_ELEMENT * SIZE, f"{calls} calls in one turn for {SIZE} elements"
