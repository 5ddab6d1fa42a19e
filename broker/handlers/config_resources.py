"""ListConfigResources: which topics, brokers and groups have configs (KIP-1142). Client metrics have none."""

from __future__ import annotations

from collections.abc import Generator

from ...protocol.errors import ErrorCode
from ...protocol.messages.list_config_resources import (
    LIST_CONFIG_RESOURCES,
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from ..context import Context
from ..registry import handles
from ..scheduling.waiting import NEXT_TURN, Wait
from ..security.acls import Operation, ResourceType
from ..slices import Slices, chunks

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32


def demand_configs(operation: Operation, resource_type: int, name: str, context: Context) -> None:
    """Raises the KafkaError of a client who may not do that to a resource's configs; all but topics' and groups' are the cluster's."""
    if resource_type == TOPIC:
        context.demand(operation, ResourceType.TOPIC, name)
    elif resource_type == GROUP:
        context.demand(operation, ResourceType.GROUP, name)
    elif resource_type in (BROKER, BROKER_LOGGER, CLIENT_METRICS):
        context.demand(operation)


@handles(LIST_CONFIG_RESOURCES)
def list_config_resources(request: ListConfigResourcesRequest, context: Context) -> Generator[Wait, None, ListConfigResourcesResponse]:
    """The resources of the types that were asked for, or of all; in version 0 of client metrics."""
    context.demand(Operation.DESCRIBE_CONFIGS)
    cluster = context.cluster
    nodes = [str(node_id) for node_id in sorted(cluster.brokers)]
    groups = list(cluster.group_configs)
    names = {BROKER_LOGGER: nodes, BROKER: nodes, TOPIC: list(cluster.topics), CLIENT_METRICS: [], GROUP: groups}
    wanted = {CLIENT_METRICS} if context.version == 0 else set(request.resource_types) or set(names)
    if wanted - set(names):
        return ListConfigResourcesResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, config_resources=[])
    response, slices = ListConfigResourcesResponse(config_resources=[]), Slices()
    for kind in (kind for kind in names if kind in wanted):
        for some in chunks(names[kind]):
            response.config_resources += [ConfigResource(resource_name=name, resource_type=kind) for name in some]
            if slices.full(len(some)):
                yield NEXT_TURN
    return response
