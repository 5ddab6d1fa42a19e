"""DescribeConfigs and ListConfigResources (KIP-1142): the settings of resources, and the resources that have any."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.describe_configs import (
    DESCRIBE_CONFIGS,
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from ...protocol.messages.list_config_resources import (
    LIST_CONFIG_RESOURCES,
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from ..api.context import Context
from ..api.registry import handles
from ..scheduling.slices import Slices, chunks
from ..scheduling.waiting import NEXT_TURN, Wait
from ..security.acls import ACCESS_DENIED_ERRORS, Operation, ResourceType
from ..settings.types import ConfigResourceType, ConfigType
from ..settings.values import ClientMetricsConfig, ConfigEntry, ConfigSource, GroupConfig
from ..topics.topics import illegal_name

if TYPE_CHECKING:
    from ..releases.release import Release

NEVER_DEFAULT_SINCE = (2, 7)
"""The release since which DescribeConfigs v0 says of no value that it is the default, because Kafka no longer fills the field."""

if TYPE_CHECKING:
    pass

NEVER_DEFAULT_SINCE = (2, 7)
"""The release since which DescribeConfigs v0 says of no value that it is the default, because Kafka no longer fills the field."""


def demand_configs(operation: Operation, resource_type: int, name: str, context: Context) -> None:
    """Raises KafkaError if the client may not perform an operation on a resource's settings.

    Access to the settings of topics and groups depends on the resource; for all other types it depends on the cluster.
    """
    match resource_type:
        case ConfigResourceType.TOPIC:
            context.demand(operation, ResourceType.TOPIC, name)
        case ConfigResourceType.GROUP:
            context.demand(operation, ResourceType.GROUP, name)
        case ConfigResourceType.BROKER | ConfigResourceType.BROKER_LOGGER | ConfigResourceType.CLIENT_METRICS:
            context.demand(operation)


@handles(DESCRIBE_CONFIGS)
def describe_configs(request: DescribeConfigsRequest, context: Context) -> Generator[Wait, None, DescribeConfigsResponse]:
    """Returns the requested settings of each resource, or all of them if the keys are null or empty.

    Resources that the client may not access come last, as in Kafka.
    """
    results, slices = [], Slices()
    for resource in request.resources:
        results.append(_describe(resource, request, context))
        if slices.full(1 + len(results[-1].configs)):
            yield NEXT_TURN
    access_denied = set(ACCESS_DENIED_ERRORS.values())
    return DescribeConfigsResponse(results=sorted(results, key=lambda result: result.error_code in access_denied))


def _describe(resource: DescribeConfigsResource, request: DescribeConfigsRequest, context: Context) -> DescribeConfigsResult:
    result = DescribeConfigsResult(error_message="", resource_type=resource.resource_type, resource_name=resource.resource_name, configs=[])
    try:
        demand_configs(Operation.DESCRIBE_CONFIGS, resource.resource_type, resource.resource_name, context)
        entries = _entries(resource, frozenset(resource.configuration_keys or ()), context)
        result.configs = [_config(entry, request, context.cluster.release) for entry in entries]
    except KafkaError as error:
        result.error_code, result.error_message = error.code, error.message or ""
    return result


def _entries(resource: DescribeConfigsResource, names: frozenset[str], context: Context) -> list[ConfigEntry]:
    match resource.resource_type:
        case ConfigResourceType.TOPIC:
            return _topic_entries(resource.resource_name, names, context)
        case ConfigResourceType.BROKER:
            return _broker_entries(resource.resource_name, names, context)
        case ConfigResourceType.GROUP:
            return _group_entries(resource.resource_name, names, context)
        case ConfigResourceType.CLIENT_METRICS:
            return _client_metrics_entries(resource.resource_name, names, context)
        case ConfigResourceType.BROKER_LOGGER:
            return _logger_entries(resource.resource_name, names, context)
    raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unsupported resource type: {resource.resource_type}")


def _topic_entries(name: str, names: frozenset[str], context: Context) -> list[ConfigEntry]:
    if reason := illegal_name(name):
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {reason}")
    topic = context.cluster.topics.get(name)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return topic.config.describe(names)


def _broker_entries(name: str, names: frozenset[str], context: Context) -> list[ConfigEntry]:
    broker = context.broker
    if not name:
        return broker.config.describe_cluster_wide(names)
    _check_broker_id(name, context)
    return broker.config.describe(names)


def _check_broker_id(name: str, context: Context) -> None:
    node_id = context.broker.node_id
    if name == str(node_id):
        return
    if not name.lstrip("-").isdigit():
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Broker id must be an integer, but it is: {name}")
    raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unexpected broker id, expected {node_id} or empty string, but received {name}")


def _group_entries(name: str, names: frozenset[str], context: Context) -> list[ConfigEntry]:
    if not name:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Group name must not be empty")
    return (context.cluster.group_configs.get(name) or GroupConfig(context.broker.config, {})).describe(names)


def _client_metrics_entries(name: str, names: frozenset[str], context: Context) -> list[ConfigEntry]:
    if not name:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Client metrics subscription name must not be empty")
    config = context.cluster.metric_subscriptions.configs.get(name) or ClientMetricsConfig(context.broker.config, {})
    return config.describe(names)


def _logger_entries(name: str, names: frozenset[str], context: Context) -> list[ConfigEntry]:
    if not name:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Broker id must not be empty")
    _check_broker_id(name, context)
    source, levels = ConfigSource.DYNAMIC_BROKER_LOGGER, context.cluster.log_levels.describe()
    return [
        ConfigEntry(logger, level, False, source, False, ConfigType.UNKNOWN, "", [])
        for logger, level in levels.items()
        if not names or logger in names
    ]


def _config(entry: ConfigEntry, request: DescribeConfigsRequest, release: Release | None) -> DescribeConfigsResourceResult:
    synonyms = entry.synonyms if request.include_synonyms else []
    return DescribeConfigsResourceResult(
        name=entry.name,
        value=entry.value,
        read_only=entry.read_only,
        is_default=entry.source is ConfigSource.DEFAULT and release is not None and release.number < NEVER_DEFAULT_SINCE,
        config_source=entry.source,
        is_sensitive=entry.is_sensitive,
        synonyms=[DescribeConfigsSynonym(name=synonym.name, value=synonym.value, source=synonym.source) for synonym in synonyms],
        config_type=entry.type,
        documentation=entry.documentation if request.include_documentation or not entry.documentation else None,
    )


@handles(LIST_CONFIG_RESOURCES)
def list_config_resources(request: ListConfigResourcesRequest, context: Context) -> Generator[Wait, None, ListConfigResourcesResponse]:
    """Returns the resources of the requested types, or of all types if the request names none.

    Version 0 is ListClientMetricsResources (KIP-714), which returns client metrics only.
    """
    context.demand(Operation.DESCRIBE_CONFIGS)
    cluster = context.cluster
    nodes = [str(node_id) for node_id in sorted(cluster.brokers)]
    names: dict[int, list[str]] = {
        ConfigResourceType.CLIENT_METRICS: list(cluster.metric_subscriptions.configs),
        ConfigResourceType.BROKER_LOGGER: nodes,
        ConfigResourceType.BROKER: nodes,
        ConfigResourceType.TOPIC: list(cluster.topics),
        ConfigResourceType.GROUP: list(cluster.group_configs),
    }
    types = {ConfigResourceType.CLIENT_METRICS} if context.version == 0 else set(request.resource_types) or set(names)
    if types - set(names):
        return ListConfigResourcesResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, config_resources=[])
    response, slices = ListConfigResourcesResponse(config_resources=[]), Slices()
    for resource_type in (each for each in names if each in types):
        for some in chunks(names[resource_type]):
            response.config_resources += [ConfigResource(resource_name=name, resource_type=resource_type) for name in some]
            if slices.full(len(some)):
                yield NEXT_TURN
    return response
