"""FindCoordinator: the broker that handles the requests of a group, a transactional id or a share partition (KIP-932).

The first request for a coordinator creates the internal topic whose partition leaders are the coordinators.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from functools import partial

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.find_coordinator import FIND_COORDINATOR, Coordinator, FindCoordinatorRequest, FindCoordinatorResponse
from ..api.context import Context, reachable_brokers
from ..api.registry import handles
from ..scheduling.slices import Slices, in_slices
from ..scheduling.waiting import Wait
from ..security.acls import ACCESS_DENIED_ERRORS, Operation, ResourceType
from ..settings.listeners import Listener
from ..topics.names import CONSUMER_OFFSETS, SHARE_GROUP_STATE, TRANSACTION_STATE

SHARE, SHARE_SINCE = 2, 6
INTERNAL_TOPICS = {0: CONSUMER_OFFSETS, 1: TRANSACTION_STATE, SHARE: SHARE_GROUP_STATE}  # by key type
RESOURCE_TYPES = {0: ResourceType.GROUP, 1: ResourceType.TRANSACTIONAL_ID}


@handles(FIND_COORDINATOR)
def find_coordinator(
    request: FindCoordinatorRequest, context: Context
) -> FindCoordinatorResponse | Generator[Wait, None, FindCoordinatorResponse]:
    """Returns one coordinator in the response's own fields up to v3, and a list of coordinators from v4 on (KIP-699)."""
    listeners = {broker.node_id: listener for broker, listener in reachable_brokers(context)}
    if context.version >= 4:
        return _find_all(request, listeners, context)
    found = _find(request.key, request.key_type, listeners, context)
    return FindCoordinatorResponse(
        error_code=found.error_code,
        error_message=found.error_message or ErrorCode(found.error_code).name,
        node_id=found.node_id,
        host=found.host,
        port=found.port,
    )


def _find_all(
    request: FindCoordinatorRequest, listeners: Mapping[int, Listener], context: Context
) -> Generator[Wait, None, FindCoordinatorResponse]:
    find = partial(_find, key_type=request.key_type, listeners=listeners, context=context)
    return FindCoordinatorResponse(coordinators=(yield from in_slices(find, request.coordinator_keys, Slices(), 3)))


def _find(key: str, key_type: int, listeners: Mapping[int, Listener], context: Context) -> Coordinator:
    try:
        topic = INTERNAL_TOPICS.get(key_type)
        if topic is None:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"There are no coordinators of key type {key_type}.")
        if key_type == SHARE:
            _check_share_key(key, context)
        elif not context.may(Operation.DESCRIBE, RESOURCE_TYPES[key_type], key):
            raise KafkaError(ACCESS_DENIED_ERRORS[RESOURCE_TYPES[key_type]])
        cluster = context.cluster
        cluster.topics.ensure_internal(topic)
        node_id = cluster.coordinator_log.coordinator(key, topic)
        if node_id not in listeners:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    except KafkaError as error:
        return Coordinator(key=key, node_id=-1, host="", port=-1, error_code=error.code, error_message=error.message or "")
    listener = listeners[node_id]
    return Coordinator(key=key, node_id=node_id, host=listener.advertised_host, port=listener.advertised_port, error_message="")


def _check_share_key(key: str, context: Context) -> None:
    """Raises KafkaError unless the key is `group:topic id:partition` and the client may act as a broker."""
    from ..share_partitions.records import SharePartitionKey  # most clusters have no share groups

    if context.version < SHARE_SINCE:
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    context.demand(Operation.CLUSTER_ACTION)
    try:
        SharePartitionKey.parse(key)
    except ValueError:
        raise KafkaError(ErrorCode.INVALID_REQUEST) from None
