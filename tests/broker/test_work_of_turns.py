"""No turn does much work for one request, however many elements its arrays have.

Work is counted in calls of functions, and in characters whose Java hash code is computed, not in time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from odradek.broker.handlers import HANDLERS
from odradek.broker.kafka_quirks.java_hash import java_hash
from odradek.protocol.frame import encode_request
from odradek.protocol.messages.add_partitions_to_txn import ADD_PARTITIONS_TO_TXN
from odradek.protocol.messages.alter_configs import ALTER_CONFIGS
from odradek.protocol.messages.alter_share_group_offsets import ALTER_SHARE_GROUP_OFFSETS
from odradek.protocol.messages.delete_share_group_offsets import DELETE_SHARE_GROUP_OFFSETS
from odradek.protocol.messages.incremental_alter_configs import INCREMENTAL_ALTER_CONFIGS
from odradek.protocol.messages.offset_delete import OFFSET_DELETE
from odradek.protocol.messages.update_features import UPDATE_FEATURES
from tests.broker.harness import World
from tests.broker.requests import Maker, Naming, Place, authorized_world, named_places, places, populate

SIZE = 1000
MAX_CALLS, MAX_CALLS_AN_ELEMENT = 30_000, 12
"""The calls of a slice, and those in which a request is looked through as a whole, for example for elements that occur twice."""
MAX_CALLS_OF_STEPS = {
    ADD_PARTITIONS_TO_TXN: 8,  # its step looks for a topic and a right for each partition
    ALTER_CONFIGS: 3,
    ALTER_SHARE_GROUP_OFFSETS: 3,
    DELETE_SHARE_GROUP_OFFSETS: 3,
    INCREMENTAL_ALTER_CONFIGS: 3,
    OFFSET_DELETE: 3,
    UPDATE_FEATURES: 3,
}
"""The calls for an element of the APIs that change the state of the cluster in one step, after they have checked the elements in slices."""
LONG, LONG_NAMES, MAX_CHARACTERS = Naming("b" * 500 + "."), 300, 40_000
NAMINGS = {"known": Naming(), "unknown": Naming("b."), "by-id": Naming(by_id=True)}

CASES = [pytest.param(place, naming, id=f"{place}-{key}") for place, key, naming in named_places(NAMINGS)]


@pytest.fixture(scope="module")
def world() -> World:
    return authorized_world(stepwise=True)


Counter = Callable[[FrameType, str], int]


def calls(frame: FrameType, event: str) -> int:
    return event in ("call", "c_call")


def hashed_characters(frame: FrameType, event: str) -> int:
    return len(frame.f_locals["text"]) if event == "call" and frame.f_code is java_hash.__code__ else 0


def counted(work: Callable[[], object], counter: Counter) -> int:
    """Returns the sum of what `counter` returns for each call of a function."""
    total = 0

    def count(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal total
        total += counter(frame, event)

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return total


def most(counter: Counter, world: World, place: Place, size: int, naming: Naming) -> int:
    """Returns the count of the turn that does most for a request with `size` elements."""
    populate(world, SIZE)
    frame = b"".join(encode_request(place.api, place.version, 1, "test", Maker(world, place, size, naming).request()))
    client = world.client()
    turns = [counted(lambda: client.feed(frame), counter)]
    while world.turns.has_more:
        turns.append(counted(world.turn, counter))
    client.connection.lost("the test is over")
    return max(turns)


@pytest.mark.parametrize(("place", "naming"), CASES)
def test_work_of_a_turn_is_bounded(world: World, place: Place, naming: Naming) -> None:
    most(calls, world, place, 1, naming)  # imports the modules and compiles the codecs
    found = most(calls, world, place, SIZE, naming)
    assert found <= MAX_CALLS + MAX_CALLS_AN_ELEMENT * SIZE, f"{found} calls in one turn for {SIZE} elements"


@pytest.mark.parametrize("place", [pytest.param(each, id=str(each)) for handler in HANDLERS.values() for each in places(handler.api)])
def test_hashed_characters_of_a_turn_are_bounded(world: World, place: Place) -> None:
    found = most(hashed_characters, world, place, LONG_NAMES, LONG)
    assert found <= MAX_CHARACTERS, f"the hash codes of {found} characters in one turn"


@pytest.mark.parametrize(
    ("place", "limit"), [pytest.param(place, limit, id=str(place)) for api, limit in MAX_CALLS_OF_STEPS.items() for place in places(api)]
)
def test_step_for_unknown_elements_is_short(world: World, place: Place, limit: int) -> None:
    few, many = (most(calls, world, place, size, NAMINGS["unknown"]) for size in (SIZE, 4 * SIZE))
    assert many - few <= limit * 3 * SIZE, f"{few} calls in one turn for {SIZE} elements, {many} for {4 * SIZE}"
