"""DescribeConfigs."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.describe_configs import DESCRIBE_CONFIGS, DescribeConfigsRequest, DescribeConfigsResource
from tests.broker.harness import World


@pytest.fixture
def world() -> World:
    return World()


def describe(world: World, kind: int, name: str, keys: list[str] | None = None, version: int = 4, **options: Any) -> Any:
    resource = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)
    (result,) = world.client().call(DESCRIBE_CONFIGS, version, DescribeConfigsRequest(resources=[resource], **options)).results
    return result


@pytest.mark.parametrize("version", range(1, 5))
def test_describe_configs_of_topic(world: World, version: int) -> None:
    world.cluster.create_topic("t", 1, configs={"retention.ms": "5"})
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


def test_describe_configs_of_broker_and_group() -> None:
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
def test_describe_configs_of_unknown_resource_is_refused(world: World, kind: int, name: str, code: ErrorCode) -> None:
    result = describe(world, kind, name)
    assert (result.error_code, result.configs) == (code, [])
