"""DescribeConfigs."""

from __future__ import annotations

from collections.abc import Generator

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
from ..context import Context
from ..registry import handles
from ..scheduling.waiting import NEXT_TURN, Wait
from ..security.acls import ACCESS_DENIED_ERRORS, Operation
from ..settings.values import ConfigEntry, GroupConfig
from ..slices import Slices
from ..topics.names import illegal_name
from .config_resources import BROKER, GROUP, TOPIC, demand_configs


@handles(DESCRIBE_CONFIGS)
def describe_configs(request: DescribeConfigsRequest, context: Context) -> Generator[Wait, None, DescribeConfigsResponse]:
    """The settings of topics, of this broker and of groups; no names, or null, means all of them. Who may not is told last."""
    results, slices = [], Slices()
    for resource in request.resources:
        results.append(_describe(resource, request, context))
        if slices.full(1 + len(results[-1].configs)):
            yield NEXT_TURN
    refusals = set(ACCESS_DENIED_ERRORS.values())
    return DescribeConfigsResponse(results=sorted(results, key=lambda result: result.error_code in refusals))


def _describe(resource: DescribeConfigsResource, request: DescribeConfigsRequest, context: Context) -> DescribeConfigsResult:
    result = DescribeConfigsResult(error_message="", resource_type=resource.resource_type, resource_name=resource.resource_name, configs=[])
    try:
        demand_configs(Operation.DESCRIBE_CONFIGS, resource.resource_type, resource.resource_name, context)
        entries = _entries(resource, frozenset(resource.configuration_keys or ()), context)
        result.configs = [_config(entry, request) for entry in entries]
    except KafkaError as error:
        result.error_code, result.error_message = error.code, error.message or ""
    return result


def _entries(resource: DescribeConfigsResource, names: frozenset[str], context: Context) -> list[ConfigEntry]:
    broker, name = context.broker, resource.resource_name
    if resource.resource_type == TOPIC:
        if reason := illegal_name(name):
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {reason}")
        topic = broker.cluster.topics.get(name)
        if topic is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        return topic.config.describe(names)
    if resource.resource_type == BROKER:
        if not name:
            return broker.config.describe_cluster_wide(names)
        if name == str(broker.node_id):
            return broker.config.describe(names)
        if not name.lstrip("-").isdigit():
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Broker id must be an integer, but it is: {name}")
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unexpected broker id, expected {broker.node_id} or empty string, but received {name}")
    if resource.resource_type == GROUP:
        if not name:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Group name must not be empty")
        return (broker.cluster.group_configs.get(name) or GroupConfig(broker.config, {})).describe(names)
    raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unsupported resource type: {resource.resource_type}")


def _config(entry: ConfigEntry, request: DescribeConfigsRequest) -> DescribeConfigsResourceResult:
    synonyms = entry.synonyms if request.include_synonyms else []
    return DescribeConfigsResourceResult(
        name=entry.name,
        value=entry.value,
        read_only=entry.read_only,
        config_source=entry.source,
        is_sensitive=entry.is_sensitive,
        synonyms=[DescribeConfigsSynonym(name=synonym.name, value=synonym.value, source=synonym.source) for synonym in synonyms],
        config_type=entry.type,
        documentation=entry.documentation if request.include_documentation else None,
    )
