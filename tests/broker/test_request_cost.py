"""The cost of a request is proportional to its size: four times the elements in any array of any API take about four times as long."""

from __future__ import annotations

import gc
from collections.abc import Callable
from time import thread_time

import pytest

from odradek.protocol.frame import encode_request
from tests.broker.harness import World
from tests.broker.requests import Maker, Naming, Place, authorized_world, named_places, populate

SIZE = 500
MOST = 8
"""The allowed ratio of times for four times the elements. Linear cost gives 4, quadratic cost 16."""
NAMINGS = {"known": Naming(), "alike": Naming(alike=True), "unknown": Naming("b."), "by-id": Naming(by_id=True)}

CASES = [pytest.param(place, naming, id=f"{place}-{key}") for place, key, naming in named_places(NAMINGS)]


@pytest.fixture(scope="module")
def world() -> World:
    return authorized_world()


def growth(small: Callable[[], float], large: Callable[[], float]) -> float:
    """Returns the ratio of the times. Measures again while it exceeds the limit, because noise only adds time."""
    small_s, large_s = min(small(), small()), large()
    for _ in range(20):
        if large_s <= MOST * small_s:
            break
        small_s, large_s = min(small_s, small()), min(large_s, large())
    return large_s / small_s


def seconds(work: Callable[[], object]) -> float:
    """Returns the CPU time of `work` on this thread, without garbage collection."""
    gc.disable()
    try:
        began = thread_time()
        work()
        return thread_time() - began
    finally:
        gc.enable()


def answering(world: World, place: Place, size: int, naming: Naming) -> float:
    """Returns the time in which a cluster answers a request with `size` elements."""
    populate(world, 4 * SIZE)
    request = Maker(world, place, size, naming).request()
    frame = b"".join(encode_request(place.api, place.version, 1, "test", request))
    client = world.client()
    took = seconds(lambda: client.feed(frame))
    client.connection.lost("the test is over")
    return took


@pytest.mark.parametrize(("place", "naming"), CASES)
def test_cost_of_a_request_is_proportional_to_its_size(world: World, place: Place, naming: Naming) -> None:
    answering(world, place, 1, naming)  # compiles the codecs
    grown = growth(lambda: answering(world, place, SIZE, naming), lambda: answering(world, place, 4 * SIZE, naming))
    assert grown <= MOST, f"{4 * SIZE} elements take {grown:.1f} times as long as {SIZE}"


def test_measurement_detects_quadratic_work() -> None:
    def compare_all(size: int) -> None:
        names = [f"a_{number}" for number in range(size)]
        assert not any(names.count(name) > 1 for name in names)

    assert growth(lambda: seconds(lambda: compare_all(SIZE)), lambda: seconds(lambda: compare_all(4 * SIZE))) > MOST
