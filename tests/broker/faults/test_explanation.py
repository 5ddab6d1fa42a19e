"""The texts of a fault about its hits and misses."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.faults.explanation import describe_fault, describe_misses
from odradek.protocol.messages.api_versions import API_VERSIONS
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import ASK, World, a_batch, produce_request


@pytest.fixture
def world() -> World:
    world = World(nodes=1)
    for name in ("orders", "payments"):
        world.cluster.topics.create(name, 2)
    return world


def produce(world: World, topic: str, count: int = 1, **options: Any) -> None:
    client = world.client()
    for _ in range(count):
        client.send(PRODUCE, 9, produce_request(topic, a_batch(b"x"), **options))


def why(world: World, fault: Any) -> str:
    world.core.faults.settle()
    return describe_misses(fault, world.cluster.topics)


def test_explanation_suggests_a_topic_of_the_requests(world: World) -> None:
    fault = world.fault(api="Produce", topic="order", delay_ms=0)
    produce(world, "orders", 12)
    assert why(world, fault) == "12 Produce requests seen, none to topic 'order'; did you mean 'orders'?"


def test_explanation_suggests_a_topic_that_exists(world: World) -> None:
    fault = world.fault(api="Produce", topic="order", delay_ms=0)
    produce(world, "payments")
    assert why(world, fault) == "1 Produce request seen, none to topic 'order'; did you mean 'orders'?"


def test_explanation_lists_what_the_requests_had(world: World) -> None:
    fault = world.fault(api="Produce", topic="orders", partitions=[5, 6], delay_ms=0)
    produce(world, "orders", 2, partition=1)
    produce(world, "payments")
    assert why(world, fault) == (
        "3 Produce requests seen, 2 not to partitions 5, 6 but to partitions 1, 1 not to topic 'orders' but to topic payments"
    )


def test_explanation_counts_requests_of_other_apis(world: World) -> None:
    fault = world.fault(api="Produce", delay_ms=0)
    assert why(world, fault) == "no Produce request seen"
    world.client().call(API_VERSIONS, 3, ASK)
    assert why(world, fault) == "no Produce request seen, 1 of other APIs"


def test_explanation_names_the_schedule(world: World) -> None:
    fault = world.fault(api="Produce", skip=1, times=1, delay_ms=0)
    produce(world, "orders", 4)
    assert why(world, fault) == "4 Produce requests seen, 1 were let pass by `skip`, 2 came after the last of the `times`"


def test_explanation_of_connections_says_connections(world: World) -> None:
    fault = world.fault(refuse="closed", peer="10.*")
    world.client()
    assert why(world, fault) == "1 connection seen, none from peer '10.*' but from peer 127.0.0.1"


def test_description_has_options_hits_and_state(world: World) -> None:
    fault = world.fault(api="Produce", delay_ms=0)
    produce(world, "orders")
    assert describe_fault(fault, []) == "fault 1 (api=Produce delay_ms=0): 1 hit; 1 Produce request seen"
    world.core.faults.remove(fault)
    assert describe_fault(fault, []) == "fault 1 (api=Produce delay_ms=0): removed, 1 hit; 1 Produce request seen"
