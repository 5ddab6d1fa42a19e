"""The work for a request does not grow with the cluster, unless its response describes the whole cluster. Work is counted in calls."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from odradek.protocol.frame import encode_request
from odradek.protocol.messages.list_groups import LIST_GROUPS
from odradek.protocol.messages.list_transactions import LIST_TRANSACTIONS
from tests.broker.harness import World
from tests.broker.requests import Maker, Naming, Place, authorized_world, named_places, populate

SMALL, LARGE = 20, 200
"""The numbers of topics, groups and transactions in the two clusters."""
PARTITIONS = 20
"""The number of partitions of the topic a_0 in both clusters, because requests that name it describe or delete them all."""
LISTS = {LIST_GROUPS, LIST_TRANSACTIONS}
"""The APIs whose responses describe the whole cluster. Their work may grow as the cluster does, and no faster."""
ELEMENTS = 5
MOST, SLACK = 1.1, 60
"""The allowed ratio of calls, and the calls that may be added, for example by the rows of a longer list that is sorted."""
KNOWN = {"known": Naming()}

CASES = [pytest.param(place, naming, id=str(place)) for place, _, naming in named_places(KNOWN)]


@pytest.fixture(scope="module")
def worlds() -> list[tuple[World, int]]:
    return [(authorized_world(), SMALL), (authorized_world(), LARGE)]


def calls_of(work: Callable[[], object]) -> int:
    """Returns the number of functions that are called, those of C included."""
    count = 0

    def add(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(add)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def calls_of_request(world: World, size: int, place: Place, naming: Naming) -> int:
    """Returns the calls with which a cluster of some size answers a request."""
    frame = b"".join(encode_request(place.api, place.version, 1, "test", Maker(world, place, ELEMENTS, naming).request()))
    counts = []
    for _ in range(2):  # the first request compiles codecs and imports modules
        populate(world, size)
        world.cluster.delete_topic(world.cluster.topics["a_0"])
        world.cluster.topics.create("a_0", PARTITIONS, 1)
        client = world.client()
        counts.append(calls_of(lambda feed=client.feed: feed(frame)))  # type: ignore[misc]
        client.connection.lost("the test is over")
    return min(counts)


@pytest.mark.parametrize(("place", "naming"), CASES)
def test_work_for_a_request_does_not_grow_with_the_cluster(worlds: list[tuple[World, int]], place: Place, naming: Naming) -> None:
    small, large = (calls_of_request(world, size, place, naming) for world, size in worlds)
    most = LARGE / SMALL if place.api in LISTS else MOST
    assert large <= most * small + SLACK, f"{large} calls in a cluster of {LARGE}, {small} in one of {SMALL}"


def test_calls_are_counted() -> None:
    assert calls_of(lambda: [len(name) for name in "abc"]) >= 4
