"""FindCoordinator."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.find_coordinator import FIND_COORDINATOR, FindCoordinatorRequest
from tests.broker.harness import World


@pytest.fixture
def world() -> World:
    return World()


def find(world: World, *keys: str, version: int = 6, key_type: int = 0) -> Any:
    request = FindCoordinatorRequest(key=keys[0], key_type=key_type, coordinator_keys=list(keys))
    return world.client().call(FIND_COORDINATOR, version, request)


@pytest.mark.parametrize("version", range(7))
def test_find_coordinator_selects_by_hash(world: World, version: int) -> None:
    nodes = set()
    for group in ("a", "b", "c", "d"):
        response = find(world, group, version=version)
        found = response.coordinators[0] if version >= 4 else response
        assert found.error_code == 0
        assert (found.host, found.port) == ("127.0.0.1", 9091 + found.node_id)
        assert world.cluster.coordinator_log.coordinator(group) == found.node_id
        nodes.add(found.node_id)
    assert nodes == {1, 2}


def test_find_coordinator_answers_several_keys_in_order(world: World) -> None:
    assert [found.key for found in find(world, "a", "", "b").coordinators] == ["a", "", "b"]


def test_find_coordinator_after_stop_moves(world: World) -> None:
    node = find(world, "g").coordinators[0].node_id
    world.cluster.nodes.stop(node)
    request = FindCoordinatorRequest(coordinator_keys=["g"])
    found = world.client(3 - node).call(FIND_COORDINATOR, 4, request).coordinators[0]
    assert found.node_id == 3 - node
    assert world.cluster.coordinator_log.coordinator("g") == 3 - node


def test_find_coordinator_without_leader_is_not_available() -> None:
    world = World(settings={"offsets.topic.replication.factor": "1"})
    node = find(world, "g").coordinators[0].node_id
    world.cluster.nodes.stop(node)
    found = world.client(3 - node).call(FIND_COORDINATOR, 4, FindCoordinatorRequest(coordinator_keys=["g"])).coordinators[0]
    assert (found.error_code, found.node_id, found.host, found.port) == (ErrorCode.COORDINATOR_NOT_AVAILABLE, -1, "", -1)


def test_find_coordinator_of_unsupported_type_is_refused(world: World) -> None:
    assert find(world, "t", key_type=2).coordinators[0].error_code == ErrorCode.INVALID_REQUEST
    assert find(world, "t", key_type=2, version=3).error_code == ErrorCode.INVALID_REQUEST


def test_share_partition_is_coordinated_by_its_state_partition(world: World) -> None:
    found = find(world, f"g:{'A' * 22}:0", key_type=2).coordinators[0]
    assert found.error_code == 0
    assert "__share_group_state" in world.cluster.topics
