"""AlterConfigs and IncrementalAlterConfigs of topics, brokers and groups.

Each resource is changed or refused for itself (ConfigAdminManager, ConfigurationControlManager).
Not done: loggers and client metrics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple, TypeVar

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages import alter_configs as replacing
from ...protocol.messages import incremental_alter_configs as changing
from ...protocol.messages.alter_configs import ALTER_CONFIGS, AlterConfigsRequest, AlterConfigsResponse
from ...protocol.messages.incremental_alter_configs import (
    INCREMENTAL_ALTER_CONFIGS,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from ..cluster.broker import Broker
from ..cluster.features import ELR_VERSION
from ..context import Context
from ..registry import handles
from ..security.acls import Operation
from ..settings.dynamic import validate_broker_configs
from ..settings.rows import BROKER_SETTINGS, GROUP_SETTINGS, TOPIC_SETTINGS, ConfigType, Setting, Value
from ..settings.values import COMMA, GroupConfig, InvalidConfig, text_of, validate_group_configs, validate_topic_configs
from ..topics.names import illegal_name
from .config_resources import BROKER, GROUP, TOPIC, demand_configs

MAX_VALUE_BYTES = 32_767
Resource = replacing.AlterConfigsResource | changing.AlterConfigsResource
Answer = TypeVar("Answer", replacing.AlterConfigsResourceResponse, changing.AlterConfigsResourceResponse)


class OpType(IntEnum):
    """What to do with one setting."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class Target(NamedTuple):
    """The settings of one resource: their rows, what is set and what holds, and how to set others."""

    rows: Mapping[str, Setting]
    overrides: Mapping[str, str]
    values: Mapping[str, Value]
    alter: Callable[[dict[str, str]], None]
    missing: str | None = None
    """Why there is no such resource, which is told only to who asks for sensible settings."""


@handles(ALTER_CONFIGS)
def alter_configs(request: AlterConfigsRequest, context: Context) -> AlterConfigsResponse:
    """What is not named is unset."""
    return AlterConfigsResponse(responses=_answers(request, context, _replaced, replacing.AlterConfigsResourceResponse))


@handles(INCREMENTAL_ALTER_CONFIGS)
def incremental_alter_configs(request: IncrementalAlterConfigsRequest, context: Context) -> IncrementalAlterConfigsResponse:
    """Sets, unsets, and adds to and removes from lists."""
    return IncrementalAlterConfigsResponse(responses=_answers(request, context, _changed, changing.AlterConfigsResourceResponse))


def _answers(
    request: AlterConfigsRequest | IncrementalAlterConfigsRequest,
    context: Context,
    wanted: Callable[..., dict[str, str]],
    answer: type[Answer],
) -> list[Answer]:
    """Alters each resource; `wanted` are the overrides that it is to have."""
    repeated = _repeated(request.resources)
    answers = []
    for resource in request.resources:
        code, message = _alter(resource, context, request.validate_only, repeated, wanted)
        answers.append(
            answer(error_code=code, error_message=message, resource_type=resource.resource_type, resource_name=resource.resource_name)
        )
    return answers


def _repeated(resources: Sequence[Resource]) -> set[tuple[int, str]]:
    counts = Counter((resource.resource_type, resource.resource_name) for resource in resources)
    return {resource for resource, count in counts.items() if count > 1}


def _alter(
    resource: Resource,
    context: Context,
    validate_only: bool,
    repeated: set[tuple[int, str]],
    wanted: Callable[..., dict[str, str]],
) -> tuple[ErrorCode, str | None]:
    try:
        if (resource.resource_type, resource.resource_name) in repeated:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
        _check_request(resource)
        demand_configs(Operation.ALTER_CONFIGS, resource.resource_type, resource.resource_name, context)
        target = _target(resource, context.broker)
        overrides = wanted(resource, target)
        _validate(resource, overrides, context.broker)
        if resource.resource_type == BROKER:
            _check_min_insync_replicas(resource, overrides, target, context.broker)
        if target.missing:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, target.missing)
        if not validate_only:
            target.alter(overrides)
    except KafkaError as error:
        return error.code, error.message
    except InvalidConfig as error:
        # Kafka's brokers check their own settings, its controller those of others.
        refusal = KafkaError(ErrorCode.INVALID_REQUEST if resource.resource_type == BROKER else ErrorCode.INVALID_CONFIG, str(error))
        return refusal.code, refusal.message
    return ErrorCode.NONE, None


def _check_request(resource: Resource) -> None:
    names = [config.name for config in resource.configs]
    if len(set(names)) < len(names):
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")
    empty = [each.name for each in resource.configs if each.value is None and getattr(each, "config_operation", None) != OpType.DELETE]
    if empty:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {', '.join(empty)}")


def _replaced(resource: replacing.AlterConfigsResource, target: Target) -> dict[str, str]:
    return {config.name: config.value or "" for config in resource.configs}


def _changed(resource: changing.AlterConfigsResource, target: Target) -> dict[str, str]:
    overrides = dict(target.overrides)
    if unknown := [config.config_operation for config in resource.configs if config.config_operation not in set(OpType)]:
        if resource.resource_type != BROKER:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)  # on this Kafka's controller fails
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown operations type {unknown[0]}")
    for config in resource.configs:
        operation = OpType(config.config_operation)
        if operation is OpType.DELETE:
            overrides.pop(config.name, None)
        elif operation is OpType.SET:
            overrides[config.name] = config.value or ""
        else:
            overrides[config.name] = _edited_list(config.name, config.value or "", operation, overrides, target)
    return overrides


def _edited_list(name: str, text: str, operation: OpType, overrides: Mapping[str, str], target: Target) -> str:
    row = target.rows.get(name)
    if row is None or row.type is not ConfigType.LIST:
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"Can't {operation.name} to key {name} because its type is not LIST.")
    present = overrides[name] if name in overrides else text_of(target.values.get(name)) or ""
    before = COMMA.split(present) if present else []
    named = dict.fromkeys(COMMA.split(text))
    if operation is OpType.SUBTRACT:
        return ",".join(each for each in before if each not in named)
    return ",".join(dict.fromkeys([*before, *named]))


def _validate(resource: Resource, overrides: dict[str, str], broker: Broker) -> None:
    if any(len(text.encode()) > MAX_VALUE_BYTES for text in overrides.values()):
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"A configuration value is longer than {MAX_VALUE_BYTES} bytes.")
    if resource.resource_type == TOPIC:
        validate_topic_configs(overrides)
    elif resource.resource_type == GROUP:
        validate_group_configs(overrides, broker.config)
    else:
        validate_broker_configs(overrides, broker.config, cluster_wide=not resource.resource_name)


def _check_min_insync_replicas(resource: Resource, overrides: Mapping[str, str], target: Target, broker: Broker) -> None:
    """Eligible leader replicas need one value for all brokers (KIP-966). Raises INVALID_CONFIG."""
    name = "min.insync.replicas"
    if not broker.cluster.features.levels[ELR_VERSION]:
        return
    if not resource.resource_name and name in target.overrides.keys() - overrides.keys():
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"Cluster-level {name} cannot be removed while ELR is enabled.")
    if resource.resource_name and (name in target.overrides or any(config.name == name for config in resource.configs)):
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"Broker-level {name} cannot be altered while ELR is enabled.")


def _target(resource: Resource, broker: Broker) -> Target:
    match resource.resource_type:
        case 2:
            return _topic(resource.resource_name, broker)
        case 4:
            return _broker(resource.resource_name, broker)
        case 32:
            return _group(resource.resource_name, broker)
    raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {resource.resource_type}")


def _topic(name: str, broker: Broker) -> Target:
    if not name:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Default topic resources are not allowed.")
    if reason := illegal_name(name):
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {reason}")
    topic = broker.cluster.topics.get(name)
    if topic is None:
        return Target(TOPIC_SETTINGS, {}, {}, lambda changed: None, f"The topic '{name}' does not exist.")
    return Target(TOPIC_SETTINGS, topic.config.overrides, topic.config.values, lambda changed: broker.cluster.alter_topic(topic, changed))


def _broker(name: str, broker: Broker) -> Target:
    if name and not name.removeprefix("-").isdecimal():
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Node id must be an integer, but it is: {name}")
    if name and name != str(broker.node_id):
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unexpected broker id, expected {broker.node_id}, but received {name}")
    config = broker.config
    overrides = config.own if name else config.cluster_wide
    return Target(
        BROKER_SETTINGS, overrides, config.values, lambda changed: broker.cluster.alter_brokers(broker if name else None, changed)
    )


def _group(name: str, broker: Broker) -> Target:
    if not name:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Default group resources are not allowed.")
    config = broker.cluster.group_configs.get(name) or GroupConfig(broker.config, {})
    return Target(GROUP_SETTINGS, config.overrides, config.values, lambda changed: broker.cluster.alter_group(name, changed))
