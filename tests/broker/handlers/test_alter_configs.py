"""AlterConfigs and IncrementalAlterConfigs. Expected responses were recorded from Apache Kafka 4.3.1."""

from __future__ import annotations

import pytest

from odradek.broker.settings.types import ConfigResourceType
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages import alter_configs as full
from odradek.protocol.messages import incremental_alter_configs as incremental
from odradek.protocol.messages.alter_configs import ALTER_CONFIGS, AlterConfigsRequest
from odradek.protocol.messages.describe_configs import DESCRIBE_CONFIGS, DescribeConfigsRequest, DescribeConfigsResource
from odradek.protocol.messages.incremental_alter_configs import INCREMENTAL_ALTER_CONFIGS, IncrementalAlterConfigsRequest
from odradek.protocol.messages.list_config_resources import LIST_CONFIG_RESOURCES, ListConfigResourcesRequest
from tests.broker.harness import World

TOPIC, BROKER, GROUP = ConfigResourceType.TOPIC, ConfigResourceType.BROKER, ConfigResourceType.GROUP
SET, DELETE, APPEND, SUBTRACT = range(4)
Answer = tuple[int, str | None]


class Admin:
    def __init__(self) -> None:
        self.world = World(nodes=2)
        self.world.cluster.topics.create("t", 1)
        self.client = self.world.client(1)

    def change(self, kind: int, name: str, *configs: tuple[str, int, str | None], validate_only: bool = False) -> Answer:
        alterable = [incremental.AlterableConfig(name=key, config_operation=operation, value=value) for key, operation, value in configs]
        resource = incremental.AlterConfigsResource(resource_type=kind, resource_name=name, configs=alterable)
        request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=validate_only)
        (answer,) = self.client.call(INCREMENTAL_ALTER_CONFIGS, 1, request).responses
        assert (answer.resource_type, answer.resource_name) == (kind, name)
        return answer.error_code, answer.error_message

    def replace(self, kind: int, name: str, **configs: str | None) -> Answer:
        alterable = [full.AlterableConfig(name=key.replace("_", "."), value=value) for key, value in configs.items()]
        resource = full.AlterConfigsResource(resource_type=kind, resource_name=name, configs=alterable)
        (answer,) = self.client.call(ALTER_CONFIGS, 2, AlterConfigsRequest(resources=[resource], validate_only=False)).responses
        return answer.error_code, answer.error_message

    def value(self, kind: int, name: str, key: str) -> tuple[str | None, int]:
        resource = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=[key])
        (result,) = self.client.call(DESCRIBE_CONFIGS, 4, DescribeConfigsRequest(resources=[resource])).results
        (config,) = result.configs
        return config.value, config.config_source


@pytest.fixture
def admin() -> Admin:
    return Admin()


def test_alter_topic_sets_and_deletes(admin: Admin) -> None:
    assert admin.change(TOPIC, "t", ("retention.ms", SET, "1000")) == (0, None)
    assert admin.value(TOPIC, "t", "retention.ms") == ("1000", 1)
    assert admin.change(TOPIC, "t", ("retention.ms", SET, "7"), validate_only=True) == (0, None)
    assert admin.value(TOPIC, "t", "retention.ms") == ("1000", 1)
    assert admin.change(TOPIC, "t", ("retention.ms", DELETE, None), ("unknown.setting", DELETE, None)) == (0, None)
    assert admin.value(TOPIC, "t", "retention.ms") == ("604800000", 5)


def test_alter_list_appends_and_subtracts(admin: Admin) -> None:
    seen = []
    for operation, value in ((APPEND, "compact"), (APPEND, "compact"), (SUBTRACT, "delete"), (SUBTRACT, "compact"), (SUBTRACT, "delete")):
        assert admin.change(TOPIC, "t", ("cleanup.policy", operation, value)) == (0, None)
        seen.append(admin.value(TOPIC, "t", "cleanup.policy")[0])
    assert seen == ["delete,compact", "delete,compact", "compact", "", ""]


def test_alter_list_too_long_returns_error(admin: Admin) -> None:
    name, replicas = "leader.replication.throttled.replicas", [f"{index}:1" for index in range(6000)]
    assert admin.change(TOPIC, "t", (name, SET, ",".join(replicas[:3000]))) == (0, None)
    code, _ = admin.change(TOPIC, "t", (name, APPEND, ",".join(replicas[3000:])))
    assert code == ErrorCode.INVALID_CONFIG


@pytest.mark.parametrize(
    ("kind", "name", "configs", "error", "message"),
    [
        (
            TOPIC,
            "t",
            [("retention.ms", APPEND, "1")],
            ErrorCode.INVALID_CONFIG,
            "Can't APPEND to key retention.ms because its type is not LIST.",
        ),
        (TOPIC, "t", [("retention.ms", SET, None)], ErrorCode.INVALID_REQUEST, "Null value not supported for : retention.ms"),
        (
            TOPIC,
            "t",
            [("retention.ms", DELETE, None), ("retention.ms", SET, "5")],
            ErrorCode.INVALID_REQUEST,
            "Error due to duplicate config keys",
        ),
        (TOPIC, "t", [("nope", SET, "1")], ErrorCode.INVALID_CONFIG, "Unknown topic config name: nope"),
        (
            TOPIC,
            "t",
            [("retention.ms", SET, "x")],
            ErrorCode.INVALID_CONFIG,
            "Invalid value x for configuration retention.ms: Not a number of type LONG",
        ),
        (TOPIC, "zz", [], ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "The topic 'zz' does not exist."),
        (TOPIC, "", [], ErrorCode.INVALID_REQUEST, "Default topic resources are not allowed."),
        (TOPIC, ".", [], ErrorCode.INVALID_TOPIC_EXCEPTION, "Topic name is invalid: '.' is not allowed"),
        (BROKER, "2", [], ErrorCode.INVALID_REQUEST, "Unexpected broker id, expected 1, but received 2"),
        (BROKER, "x", [], ErrorCode.INVALID_REQUEST, "Node id must be an integer, but it is: x"),
        (
            BROKER,
            "",
            [("num.partitions", SET, "3")],
            ErrorCode.INVALID_REQUEST,
            "Cannot update these configs dynamically: [num.partitions]",
        ),
        (
            BROKER,
            "",
            [("log.retention.ms", SET, "x")],
            ErrorCode.INVALID_REQUEST,
            "Invalid value x for configuration log.retention.ms: Not a number of type LONG",
        ),
        (GROUP, "", [], ErrorCode.INVALID_REQUEST, "Default group resources are not allowed."),
        (GROUP, "g", [("nope", SET, "1")], ErrorCode.INVALID_CONFIG, "Unknown group config name: nope"),
        (
            GROUP,
            "g",
            [("consumer.session.timeout.ms", SET, "500")],
            ErrorCode.INVALID_CONFIG,
            "consumer.session.timeout.ms must be greater than or equal to group.consumer.min.session.timeout.ms",
        ),
        (99, "x", [], ErrorCode.INVALID_REQUEST, "Unknown resource type 99"),
    ],
)
def test_alter_invalid_returns_error(
    admin: Admin, kind: int, name: str, configs: list[tuple[str, int, str | None]], error: ErrorCode, message: str
) -> None:
    assert admin.change(kind, name, *configs) == (error, message)


def test_alter_broker_changes_topics_that_inherit(admin: Admin) -> None:
    assert admin.change(BROKER, "", ("log.retention.ms", SET, "5000"), ("unknown.setting", SET, "1")) == (0, None)
    assert admin.value(TOPIC, "t", "retention.ms") == ("5000", 3)
    assert admin.change(BROKER, "1", ("log.retention.ms", SET, "6000")) == (0, None)
    assert admin.value(BROKER, "1", "log.retention.ms") == ("6000", 2)
    assert admin.world.cluster.brokers[2].config.integers["log.retention.ms"] == 5000
    assert admin.world.cluster.topics["t"].config.integers["retention.ms"] == 6000
    assert admin.change(BROKER, "1", ("log.retention.ms", DELETE, None)) == (0, None)
    assert admin.value(BROKER, "1", "log.retention.ms") == ("5000", 3)


def test_alter_group_sets_and_deletes(admin: Admin) -> None:
    assert admin.change(GROUP, "g", ("consumer.session.timeout.ms", SET, "50000")) == (0, None)
    assert admin.value(GROUP, "g", "consumer.session.timeout.ms") == ("50000", 8)
    assert admin.value(GROUP, "h", "consumer.session.timeout.ms") == ("45000", 5)
    assert admin.change(GROUP, "g", ("consumer.session.timeout.ms", DELETE, None)) == (0, None)
    assert not admin.world.cluster.group_configs


def test_alter_configs_replaces_all_overrides(admin: Admin) -> None:
    admin.change(TOPIC, "t", ("retention.ms", SET, "1000"))
    assert admin.replace(TOPIC, "t", retention_bytes="5") == (0, None)
    assert admin.value(TOPIC, "t", "retention.ms") == ("604800000", 5)
    assert admin.value(TOPIC, "t", "retention.bytes") == ("5", 1)
    assert admin.replace(TOPIC, "t", retention_ms=None) == (
        ErrorCode.INVALID_REQUEST,
        "Null value not supported for : retention.ms",
    )


def test_alter_several_resources_independently_but_not_twice(admin: Admin) -> None:
    def resource(name: str, key: str) -> incremental.AlterConfigsResource:
        config = incremental.AlterableConfig(name=key, config_operation=SET, value="7")
        return incremental.AlterConfigsResource(resource_type=TOPIC, resource_name=name, configs=[config])

    admin.world.cluster.topics.create("u", 1)
    request = IncrementalAlterConfigsRequest(resources=[resource("t", "retention.ms"), resource("u", "nope")], validate_only=False)
    answers = admin.client.call(INCREMENTAL_ALTER_CONFIGS, 0, request).responses
    assert [answer.error_code for answer in answers] == [0, ErrorCode.INVALID_CONFIG]
    twice = IncrementalAlterConfigsRequest(resources=[resource("t", "retention.ms"), resource("t", "segment.ms")], validate_only=False)
    answers = admin.client.call(INCREMENTAL_ALTER_CONFIGS, 0, twice).responses
    assert [answer.error_message for answer in answers] == ["Each resource must appear at most once."] * 2


def test_alter_group_adds_group_to_list_of_resources(admin: Admin) -> None:
    admin.change(GROUP, "g", ("consumer.session.timeout.ms", SET, "50000"))
    response = admin.client.call(LIST_CONFIG_RESOURCES, 1, ListConfigResourcesRequest(resource_types=[GROUP]))
    assert [(resource.resource_type, resource.resource_name) for resource in response.config_resources] == [(GROUP, "g")]


@pytest.mark.parametrize(("kind", "name", "code"), [(TOPIC, "t", ErrorCode.UNKNOWN_SERVER_ERROR), (BROKER, "1", ErrorCode.INVALID_REQUEST)])
def test_alter_unknown_operation_returns_error(admin: Admin, kind: int, name: str, code: ErrorCode) -> None:
    assert admin.change(kind, name, ("log.retention.ms", 4, "1"))[0] == code
