"""FindCoordinator: which broker a group's or a transaction's requests go to. The first one makes the internal topic."""

from __future__ import annotations

from collections.abc import Mapping

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.find_coordinator import FIND_COORDINATOR, Coordinator, FindCoordinatorRequest, FindCoordinatorResponse
from ..context import Context
from ..registry import handles
from ..security.acls import ACCESS_DENIED_ERRORS, Operation, ResourceType
from ..settings.listeners import Listener
from ..topics.names import CONSUMER_OFFSETS, TRANSACTION_STATE
from .metadata import reachable

TOPICS = {0: CONSUMER_OFFSETS, 1: TRANSACTION_STATE}  # by key type
RESOURCES = {0: ResourceType.GROUP, 1: ResourceType.TRANSACTIONAL_ID}


@handles(FIND_COORDINATOR)
def find_coordinator(request: FindCoordinatorRequest, context: Context) -> FindCoordinatorResponse:
    """One key at the top level up to v3, a list of them from v4 on."""
    listeners = {broker.node_id: listener for broker, listener in reachable(context)}
    if context.version >= 4:
        return FindCoordinatorResponse(coordinators=[_find(key, request.key_type, listeners, context) for key in request.coordinator_keys])
    found = _find(request.key, request.key_type, listeners, context)
    return FindCoordinatorResponse(
        error_code=found.error_code,
        error_message=found.error_message or ErrorCode(found.error_code).name,
        node_id=found.node_id,
        host=found.host,
        port=found.port,
    )


def _find(key: str, key_type: int, listeners: Mapping[int, Listener], context: Context) -> Coordinator:
    try:
        topic = TOPICS.get(key_type)
        if topic is None:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Coordinators of key type {key_type} are not emulated.")
        if not context.may(Operation.DESCRIBE, RESOURCES[key_type], key):
            raise KafkaError(ACCESS_DENIED_ERRORS[RESOURCES[key_type]])
        cluster = context.cluster
        cluster.ensure_internal(topic)
        partition = cluster.coordinator(key, topic)
        if partition is None or partition.leader not in listeners:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    except KafkaError as error:
        return Coordinator(key=key, node_id=-1, host="", port=-1, error_code=error.code, error_message=error.message or "")
    listener = listeners[partition.leader]
    return Coordinator(key=key, node_id=partition.leader, host=listener.advertised_host, port=listener.advertised_port, error_message="")
