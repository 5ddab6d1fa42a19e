"""A cluster whose elements faults hit."""

from __future__ import annotations

import pytest

from tests.broker.harness import World


@pytest.fixture
def world() -> World:
    world = World(nodes=2)
    world.cluster.topics.create("a", 2)
    world.cluster.topics.create("b", 1)
    return world
