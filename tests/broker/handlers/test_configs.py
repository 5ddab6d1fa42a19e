"""DescribeConfigs and ListConfigResources."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.describe_configs import DESCRIBE_CONFIGS, DescribeConfigsRequest, DescribeConfigsResource
from odradek.protocol.messages.list_config_resources import LIST_CONFIG_RESOURCES, ListConfigResourcesRequest
from tests.broker.harness import World


@pytest.fixture
def world() -> World:
    return World()


def describe(world: World, kind: int, name: str, keys: list[str] | None = None, version: int = 4, **options: Any) -> Any:
    resource = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)
    (result,) = world.client().call(DESCRIBE_CONFIGS, version, DescribeConfigsRequest(resources=[resource], **options)).results
    return result


@pytest.mark.parametrize("version", range(1, 5))
def test_describe_configs_of_topic_returns_entries(world: World, version: int) -> None:
    world.cluster.topics.create("t", 1, configs={"retention.ms": "5"})
    result = describe(world, 2, "t", ["retention.ms", "cleanup.policy"], version, include_synonyms=True, include_documentation=True)
    configs = {config.name: config for config in result.configs}
    assert {name: (config.value, config.config_source) for name, config in configs.items()} == {
        "retention.ms": ("5", 1),
        "cleanup.policy": ("delete", 5),
    }
    assert [synonym.name for synonym in configs["retention.ms"].synonyms] == ["retention.ms"]
    assert [synonym.name for synonym in configs["cleanup.policy"].synonyms] == ["log.cleanup.policy"]
    if version >= 3:
        assert configs["retention.ms"].documentation
        assert configs["retention.ms"].config_type == 5


def test_describe_configs_of_broker_and_group_returns_entries() -> None:
    world = World(settings={"num.partitions": "7", "some.plugin": "x"})
    configs = {config.name: config for config in describe(world, 4, "1").configs}
    assert (configs["num.partitions"].value, configs["num.partitions"].config_source) == ("7", 4)
    assert configs["some.plugin"].config_source == 4
    assert configs["num.partitions"].synonyms == []
    assert describe(world, 4, "").error_code == 0
    assert len(describe(world, 32, "g").configs) > 5


@pytest.mark.parametrize(
    ("kind", "name", "code"),
    [
        (2, "nope", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (2, "a b", ErrorCode.INVALID_TOPIC_EXCEPTION),
        (4, "2", ErrorCode.INVALID_REQUEST),
        (4, "x", ErrorCode.INVALID_REQUEST),
        (32, "", ErrorCode.INVALID_REQUEST),
        (99, "x", ErrorCode.INVALID_REQUEST),
    ],
)
def test_describe_configs_unknown_resource_returns_error(world: World, kind: int, name: str, code: ErrorCode) -> None:
    result = describe(world, kind, name)
    assert (result.error_code, result.configs) == (code, [])


def resources(world: World, *kinds: int, version: int = 1) -> tuple[int, list[tuple[int, str]]]:
    response = world.client().call(LIST_CONFIG_RESOURCES, version, ListConfigResourcesRequest(resource_types=list(kinds)))
    return response.error_code, [(found.resource_type, found.resource_name) for found in response.config_resources]


def test_list_config_resources_returns_resources_by_type(world: World) -> None:
    world.cluster.topics.create("t", 1)
    assert resources(world) == (0, [(8, "1"), (8, "2"), (4, "1"), (4, "2"), (2, "t")])
    assert resources(world, 4, 2, 4) == (0, [(4, "1"), (4, "2"), (2, "t")])
    assert resources(world, version=0) == (0, [])
    assert resources(world, 99) == (ErrorCode.UNSUPPORTED_VERSION, [])


@pytest.mark.parametrize(("release", "is_default"), [("2.6", True), ("2.7", False)])
def test_describe_configs_v0_states_defaults_before_2_7(release: str, is_default: bool) -> None:
    world = World(as_version=release)
    world.cluster.topics.create("t", 1, configs={"retention.ms": "5"})
    entries = {entry.name: (entry.value, entry.is_default) for entry in describe(world, 2, "t", version=0).configs}
    assert (entries["retention.ms"], entries["cleanup.policy"]) == (("5", False), ("delete", is_default))
