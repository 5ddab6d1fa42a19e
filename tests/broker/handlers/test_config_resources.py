"""ListConfigResources (KIP-1142)."""

from __future__ import annotations

import pytest

from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.list_config_resources import LIST_CONFIG_RESOURCES, ListConfigResourcesRequest
from tests.broker.harness import World


@pytest.fixture
def world() -> World:
    world = World()
    world.cluster.create_topic("t", assignments=[[1, 2]])
    return world


def resources(world: World, *kinds: int, version: int = 1) -> tuple[int, list[tuple[int, str]]]:
    response = world.client().call(LIST_CONFIG_RESOURCES, version, ListConfigResourcesRequest(resource_types=list(kinds)))
    return response.error_code, [(found.resource_type, found.resource_name) for found in response.config_resources]


def test_list_config_resources_has_requested_types(world: World) -> None:
    assert resources(world) == (0, [(8, "1"), (8, "2"), (4, "1"), (4, "2"), (2, "t")])
    assert resources(world, 4, 2, 4) == (0, [(4, "1"), (4, "2"), (2, "t")])
    assert resources(world, version=0) == (0, [])
    assert resources(world, 99) == (ErrorCode.UNSUPPORTED_VERSION, [])
