"""ApiVersions, FindCoordinator, InitProducerId, DescribeConfigs, and the answer to a request that fails as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.failure import failure
from odradek.broker.handlers import HANDLERS
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages import APIS
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest
from odradek.protocol.messages.find_coordinator import FIND_COORDINATOR, FindCoordinatorRequest
from odradek.protocol.messages.get_telemetry_subscriptions import GET_TELEMETRY_SUBSCRIPTIONS
from odradek.protocol.messages.produce import PRODUCE
from odradek.protocol.messages.push_telemetry import PUSH_TELEMETRY
from odradek.protocol.schema import Api, Message, specs
from tests.broker.harness import World


@pytest.fixture
def world() -> World:
    return World()


def test_every_api_of_the_protocol_has_a_rule() -> None:
    assert {key: handler.api for key, handler in HANDLERS.items()} == APIS


@pytest.mark.parametrize("version", range(5))
def test_api_versions_says_what_is_served(world: World, version: int) -> None:
    request = ApiVersionsRequest(client_software_name="a", client_software_version="1.0")
    response = world.client().call(API_VERSIONS, version, request)
    served = {key.api_key: (key.min_version, key.max_version) for key in response.api_keys}
    assert served.pop(PRODUCE.key) == (0, 13)  # KAFKA-18659
    unlisted = (PRODUCE, GET_TELEMETRY_SUBSCRIPTIONS, PUSH_TELEMETRY)
    assert served == {key: tuple(api.versions) for key, api in APIS.items() if api not in unlisted}
    if version >= 3:
        finalized = {feature.name: feature.max_version_level for feature in response.finalized_features}
        levels = {"group.version": 1, "metadata.version": 30, "transaction.version": 2, "eligible.leader.replicas.version": 1}
        assert finalized == levels
        supported = {feature.name: (feature.min_version, feature.max_version) for feature in response.supported_features}
        from_zero = dict.fromkeys(("group.version", "kraft.version", "eligible.leader.replicas.version"), (0, 1))
        from_zero["transaction.version"] = (0, 2)
        assert supported == {"metadata.version": (7, 30)} | (from_zero if version >= 4 else {})  # KAFKA-17011


@pytest.mark.parametrize("name", ["", "-", "a b", "ä", "a-"])
def test_software_names_are_checked(world: World, name: str) -> None:
    response = world.client().call(API_VERSIONS, 3, ApiVersionsRequest(client_software_name=name, client_software_version="1"))
    assert (response.error_code, response.api_keys) == (ErrorCode.INVALID_REQUEST, [])


def find(world: World, *keys: str, version: int = 6, key_type: int = 0) -> Any:
    request = FindCoordinatorRequest(key=keys[0], key_type=key_type, coordinator_keys=list(keys))
    return world.client().call(FIND_COORDINATOR, version, request)


@pytest.mark.parametrize("version", range(7))
def test_coordinators_are_spread_by_hash(world: World, version: int) -> None:
    nodes = set()
    for group in ("a", "b", "c", "d"):
        response = find(world, group, version=version)
        found = response.coordinators[0] if version >= 4 else response
        assert found.error_code == 0
        assert (found.host, found.port) == ("127.0.0.1", 9091 + found.node_id)
        assert [node for node, broker in world.cluster.brokers.items() if broker.is_coordinator(group)] == [found.node_id]
        nodes.add(found.node_id)
    assert nodes == {1, 2}


def test_several_keys_at_once(world: World) -> None:
    assert [found.key for found in find(world, "a", "", "b").coordinators] == ["a", "", "b"]


def test_a_coordinator_moves_when_its_node_stops(world: World) -> None:
    node = find(world, "g").coordinators[0].node_id
    world.cluster.stop_node(node)
    request = FindCoordinatorRequest(coordinator_keys=["g"])
    found = world.client(3 - node).call(FIND_COORDINATOR, 4, request).coordinators[0]
    assert found.node_id == 3 - node
    assert world.cluster.brokers[3 - node].is_coordinator("g")


def test_no_coordinator_without_a_leader() -> None:
    world = World(settings={"offsets.topic.replication.factor": "1"})
    node = find(world, "g").coordinators[0].node_id
    world.cluster.stop_node(node)
    found = world.client(3 - node).call(FIND_COORDINATOR, 4, FindCoordinatorRequest(coordinator_keys=["g"])).coordinators[0]
    assert (found.error_code, found.node_id, found.host, found.port) == (ErrorCode.COORDINATOR_NOT_AVAILABLE, -1, "", -1)


def test_other_kinds_of_coordinators_are_refused(world: World) -> None:
    assert find(world, "t", key_type=2).coordinators[0].error_code == ErrorCode.INVALID_REQUEST
    assert find(world, "t", key_type=2, version=3).error_code == ErrorCode.INVALID_REQUEST


def error_codes(message: Message) -> list[int]:
    """All error codes in a response, however deep."""
    found = []
    for spec in specs(type(message)):
        value = getattr(message, spec.name)
        if spec.name.endswith("error_code"):
            found.append(value)
        elif spec.array and isinstance(spec.kind, type):
            found += [code for item in value or [] for code in error_codes(item)]
    return found


def example(cls: type[Message], version: int) -> Message:
    """A request with one item in every list."""
    values: dict[str, Any] = {}
    for spec in specs(cls):
        if isinstance(spec.kind, type):
            item: Any = example(spec.kind, version)
        else:
            item = {"str": "x", "bytes": b"x", "records": b"x", "16s": b"x" * 16, "?": True}.get(spec.kind, 7)
        present = spec.present(version)
        values[spec.name] = ([item] if present else []) if spec.array else item if present and not isinstance(spec.kind, type) else None
        if values[spec.name] is None:
            del values[spec.name]
    return cls(**values)


@pytest.mark.parametrize(("api", "version"), [(api, v) for api in APIS.values() for v in range(api.versions.first, api.versions.last + 1)])
def test_a_request_that_fails_as_a_whole_is_told_so_in_every_item(api: Api, version: int) -> None:
    response = failure(api, example(api.request, version), ErrorCode.UNKNOWN_SERVER_ERROR, "a bug")
    codes = error_codes(api.response.decode(version, response.encode(version)))
    assert codes
    assert set(codes) <= {-1, 0}
    assert -1 in codes


def test_the_items_of_a_failure_are_those_of_the_request() -> None:
    request = example(PRODUCE.request, 9)
    response: Any = failure(PRODUCE, request, ErrorCode.UNKNOWN_SERVER_ERROR, "a bug")
    (topic,) = response.responses
    (partition,) = topic.partition_responses
    assert (topic.name, partition.index, partition.error_code, partition.error_message) == ("x", 7, -1, "a bug")
