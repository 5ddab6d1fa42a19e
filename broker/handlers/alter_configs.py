"""AlterConfigs and IncrementalAlterConfigs (KIP-339) of topics, brokers, groups, client metrics and loggers.

Each resource is altered or rejected independently of the others (Kafka's ConfigAdminManager and ConfigurationControlManager).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages import alter_configs as full
from ...protocol.messages import incremental_alter_configs as incremental
from ...protocol.messages.alter_configs import ALTER_CONFIGS, AlterConfigsRequest, AlterConfigsResponse
from ...protocol.messages.incremental_alter_configs import (
    INCREMENTAL_ALTER_CONFIGS,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from ..api.context import Context
from ..api.registry import handles
from ..cluster.client_metrics import validate_subscription
from ..cluster.features import ELR_VERSION
from ..cluster.log_levels import LEVELS, LOGGERS, ROOT
from ..scheduling.slices import Slices, in_slices
from ..scheduling.waiting import Wait
from ..security.acls import Operation
from ..settings.properties import InvalidConfig
from ..settings.rows import GROUP_SETTINGS
from ..settings.types import ConfigResourceType, ConfigType, OpType, Setting, Value
from ..settings.validation import validate_broker_configs, validate_group_configs, validate_topic_configs
from ..settings.values import COMMA, ClientMetricsConfig, GroupConfig, text_of
from ..topics.topics import illegal_name
from .configs import demand_configs

MAX_VALUE_BYTES = 32_767
NO_LISTS: Mapping[str, Setting] = {}
"""The rows of client metrics: Kafka's controller does not know which of their configs are lists, so it appends to none."""
_OPERATIONS = frozenset(OpType)
Resource = full.AlterConfigsResource | incremental.AlterConfigsResource
Response = TypeVar("Response", full.AlterConfigsResourceResponse, incremental.AlterConfigsResourceResponse)


class Target(NamedTuple):
    """A resource to alter: the rows of its settings, its overrides, its effective values, and a function that replaces the overrides."""

    rows: Mapping[str, Setting]
    overrides: Mapping[str, str]
    values: Mapping[str, Value]
    alter: Callable[[dict[str, str]], None]
    missing: str | None = None
    """Error message if the resource does not exist. Kafka returns it only after the settings have been validated."""


@handles(ALTER_CONFIGS)
def alter_configs(request: AlterConfigsRequest, context: Context) -> Generator[Wait, None, AlterConfigsResponse]:
    """Replaces all overrides of each resource; settings that the request does not contain are removed."""
    return AlterConfigsResponse(responses=(yield from _responses(request, context, _replace_overrides, full.AlterConfigsResourceResponse)))


@handles(INCREMENTAL_ALTER_CONFIGS)
def incremental_alter_configs(
    request: IncrementalAlterConfigsRequest, context: Context
) -> Generator[Wait, None, IncrementalAlterConfigsResponse]:
    """Sets and removes single overrides, and appends to and subtracts from lists."""
    responses = yield from _responses(request, context, _change_overrides, incremental.AlterConfigsResourceResponse)
    return IncrementalAlterConfigsResponse(responses=responses)


def _responses(
    request: AlterConfigsRequest | IncrementalAlterConfigsRequest,
    context: Context,
    new_overrides: Callable[..., dict[str, str]],
    response: type[Response],
) -> Generator[Wait, None, list[Response]]:
    """Alters each resource. `new_overrides` computes the overrides from a resource of the request and its target."""
    repeated = _repeated_resources(request.resources)

    def respond(resource: Resource) -> Response:
        code, message = _alter(resource, context, request.validate_only, repeated, new_overrides)
        return response(error_code=code, error_message=message, resource_type=resource.resource_type, resource_name=resource.resource_name)

    return (yield from in_slices(respond, list[Resource](request.resources), Slices(), 24))


def _repeated_resources(resources: Sequence[Resource]) -> set[tuple[int, str]]:
    counts = Counter((resource.resource_type, resource.resource_name) for resource in resources)
    return {resource for resource, count in counts.items() if count > 1}


def _alter(
    resource: Resource,
    context: Context,
    validate_only: bool,
    repeated: set[tuple[int, str]],
    new_overrides: Callable[..., dict[str, str]],
) -> tuple[ErrorCode, str | None]:
    try:
        if (resource.resource_type, resource.resource_name) in repeated:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
        _check_request(resource)
        demand_configs(Operation.ALTER_CONFIGS, resource.resource_type, resource.resource_name, context)
        if isinstance(resource, incremental.AlterConfigsResource) and resource.resource_type == ConfigResourceType.BROKER_LOGGER:
            alter_levels(resource, context, validate_only=validate_only)
            return ErrorCode.NONE, None
        target = _target(resource, context)
        overrides = new_overrides(resource, target)
        _validate(resource, overrides, context)
        if resource.resource_type == ConfigResourceType.BROKER:
            _check_min_insync_replicas(resource, overrides, target, context)
        if target.missing:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, target.missing)
        if not validate_only:
            target.alter(overrides)
            context.cluster.metadata_log.add()
    except KafkaError as error:
        return error.code, error.message
    except InvalidConfig as error:
        # The codes differ because in Kafka a broker validates its own settings, and the controller those of all others.
        code = ErrorCode.INVALID_REQUEST if resource.resource_type == ConfigResourceType.BROKER else ErrorCode.INVALID_CONFIG
        return code, KafkaError(code, str(error)).message
    return ErrorCode.NONE, None


def _check_request(resource: Resource) -> None:
    names = [config.name for config in resource.configs]
    if len(set(names)) < len(names):
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")
    empty = [each.name for each in resource.configs if each.value is None and getattr(each, "config_operation", None) != OpType.DELETE]
    if empty:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {', '.join(empty)}")


def _replace_overrides(resource: full.AlterConfigsResource, _: Target) -> dict[str, str]:
    return {config.name: config.value or "" for config in resource.configs}


def _change_overrides(resource: incremental.AlterConfigsResource, target: Target) -> dict[str, str]:
    overrides = dict(target.overrides)
    if unknown := [config.config_operation for config in resource.configs if config.config_operation not in _OPERATIONS]:
        if resource.resource_type != ConfigResourceType.BROKER:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)  # Kafka's controller fails with an unexpected exception.
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown operations type {unknown[0]}")
    for config in resource.configs:
        operation = OpType(config.config_operation)
        if operation is OpType.DELETE:
            overrides.pop(config.name, None)
        elif operation is OpType.SET:
            overrides[config.name] = config.value or ""
        else:
            overrides[config.name] = _edit_list(config.name, config.value or "", operation, overrides, target)
    return overrides


def _edit_list(name: str, text: str, operation: OpType, overrides: Mapping[str, str], target: Target) -> str:
    row = target.rows.get(name)
    if row is None or row.type is not ConfigType.LIST:
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"Can't {operation.name} to key {name} because its type is not LIST.")
    text_before = overrides[name] if name in overrides else text_of(target.values.get(name)) or ""
    before = COMMA.split(text_before) if text_before else []
    elements = dict.fromkeys(COMMA.split(text))
    if operation is OpType.SUBTRACT:
        return ",".join(each for each in before if each not in elements)
    return ",".join(dict.fromkeys([*before, *elements]))


def _validate(resource: Resource, overrides: dict[str, str], context: Context) -> None:
    config = context.broker.config
    if any(len(text.encode()) > MAX_VALUE_BYTES for text in overrides.values()):
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"A configuration value is longer than {MAX_VALUE_BYTES} bytes.")
    if resource.resource_type == ConfigResourceType.TOPIC:
        validate_topic_configs(overrides, config.rows)
    elif resource.resource_type == ConfigResourceType.CLIENT_METRICS:
        validate_subscription(resource.resource_name, overrides)
    elif resource.resource_type == ConfigResourceType.GROUP:
        validate_group_configs(overrides, config)
    else:
        validate_broker_configs(overrides, config, cluster_wide=not resource.resource_name)
        context.cluster.check_security(context.broker, overrides, cluster_wide=not resource.resource_name)


def _check_min_insync_replicas(resource: Resource, overrides: Mapping[str, str], target: Target, context: Context) -> None:
    """Raises KafkaError with INVALID_CONFIG if brokers could then differ in min.insync.replicas, which ELR does not permit (KIP-966)."""
    name = "min.insync.replicas"
    if not context.cluster.features.level(ELR_VERSION):
        return
    if not resource.resource_name and name in target.overrides.keys() - overrides.keys():
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"Cluster-level {name} cannot be removed while ELR is enabled.")
    if resource.resource_name and (name in target.overrides or any(config.name == name for config in resource.configs)):
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"Broker-level {name} cannot be altered while ELR is enabled.")


def _target(resource: Resource, context: Context) -> Target:
    match resource.resource_type:
        case ConfigResourceType.TOPIC:
            return _topic(resource.resource_name, context)
        case ConfigResourceType.BROKER:
            return _broker(resource.resource_name, context)
        case ConfigResourceType.GROUP:
            return _group(resource.resource_name, context)
        case ConfigResourceType.CLIENT_METRICS:
            return _client_metrics(resource.resource_name, context)
    raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {resource.resource_type}")


def _topic(name: str, context: Context) -> Target:
    if not name:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Default topic resources are not allowed.")
    if reason := illegal_name(name):
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {reason}")
    rows, topic = context.broker.config.rows.topic, context.cluster.topics.get(name)
    if topic is None:
        return Target(rows, {}, {}, lambda _: None, f"The topic '{name}' does not exist.")
    return Target(rows, topic.config.overrides, topic.config.values, lambda changed: context.cluster.alter_topic(topic, changed))


def _broker(name: str, context: Context) -> Target:
    if name and not name.removeprefix("-").isdecimal():
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Node id must be an integer, but it is: {name}")
    broker = context.broker
    if name and name != str(broker.node_id):
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unexpected broker id, expected {broker.node_id}, but received {name}")
    config = broker.config
    overrides = config.own if name else config.cluster_wide
    return Target(
        config.rows.broker, overrides, config.values, lambda changed: context.cluster.alter_brokers(broker if name else None, changed)
    )


def _group(name: str, context: Context) -> Target:
    if not name:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Default group resources are not allowed.")
    config = context.cluster.group_configs.get(name) or GroupConfig(context.broker.config, {})
    return Target(GROUP_SETTINGS, config.overrides, config.values, lambda changed: context.cluster.alter_group(name, changed))


def _client_metrics(name: str, context: Context) -> Target:
    config = context.cluster.metric_subscriptions.configs.get(name) or ClientMetricsConfig(context.broker.config, {})
    alter = partial(context.cluster.alter_client_metrics, name)
    return Target(NO_LISTS, config.overrides, config.values, alter)


def alter_levels(resource: AlterConfigsResource, context: Context, *, validate_only: bool) -> None:
    """Sets and removes the levels of loggers of the broker that serves the request. Raises KafkaError and changes nothing."""
    node_id = context.broker.node_id
    name = resource.resource_name
    if not name.removeprefix("-").isdecimal():
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Node id must be an integer, but it is: {name}")
    if name != str(node_id):
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unexpected node id. Expected {node_id}, but received {name}")
    for config in resource.configs:
        _check_level(config.name, config.value or "", config.config_operation)
    if not validate_only:
        for config in resource.configs:
            context.cluster.log_levels.set(config.name, config.value if config.config_operation == OpType.SET else None)


def _check_level(logger: str, level: str, operation: int) -> None:
    if operation not in set(OpType):
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)  # Kafka fails with an unexpected exception.
    if operation in (OpType.APPEND, OpType.SUBTRACT):
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"{OpType(operation).name} operation is not allowed for the BROKER_LOGGER resource")
    if logger not in (*LOGGERS, ROOT):
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"Logger {logger} does not exist!")
    if operation == OpType.SET and level not in LEVELS:
        text = f"Cannot set the log level of {logger} to {level} as it is not a supported log level."
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"{text} Valid log levels are {', '.join(sorted(LEVELS))}")
    if operation == OpType.DELETE and logger == ROOT:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Removing the log level of the root logger is not allowed")
