"""IncrementalAlterConfigs of loggers (KIP-412): checks in the order of Kafka's RuntimeLoggerManager."""

from __future__ import annotations

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.incremental_alter_configs import AlterConfigsResource
from ..api.context import Context
from ..cluster.log_levels import LEVELS, LOGGERS, ROOT
from ..settings.types import OpType


def alter_levels(resource: AlterConfigsResource, context: Context, *, validate_only: bool) -> None:
    """Sets and removes the levels of loggers of the broker that serves the request. Raises KafkaError and changes nothing."""
    node_id = context.broker.node_id
    name = resource.resource_name
    if not name.removeprefix("-").isdecimal():
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Node id must be an integer, but it is: {name}")
    if name != str(node_id):
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unexpected node id. Expected {node_id}, but received {name}")
    for config in resource.configs:
        _check(config.name, config.value or "", config.config_operation)
    if not validate_only:
        for config in resource.configs:
            context.cluster.log_levels.set(config.name, config.value if config.config_operation == OpType.SET else None)


def _check(logger: str, level: str, operation: int) -> None:
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
