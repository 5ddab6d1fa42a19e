"""DescribeClientQuotas: nobody has a quota, and a filter that makes no sense is told so."""

from __future__ import annotations

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.describe_client_quotas import (
    DESCRIBE_CLIENT_QUOTAS,
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)
from ..acls import CLUSTER, DESCRIBE_CONFIGS
from ..context import Context
from .registry import handles

EXACT, DEFAULT, SPECIFIED = 0, 1, 2
ENTITY_TYPES = ("user", "client-id", "ip")


@handles(DESCRIBE_CLIENT_QUOTAS)
def describe_client_quotas(request: DescribeClientQuotasRequest, context: Context) -> DescribeClientQuotasResponse:
    """No entries."""
    try:
        if not context.may(DESCRIBE_CONFIGS, CLUSTER):
            raise KafkaError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
        for component in request.components:
            _check(component)
        types = [component.entity_type for component in request.components]
        if twice := next((name for name in types if types.count(name) > 1), None):
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Entity type {twice} cannot appear more than once in the filter.")
        if "ip" in types and len(types) > 1:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Invalid entity filter component combination: ip goes with no other.")
    except KafkaError as error:
        return DescribeClientQuotasResponse(error_code=error.code, error_message=error.message, entries=None)
    return DescribeClientQuotasResponse(error_message="", entries=[])


def _check(component: ComponentData) -> None:
    if component.match_type not in (EXACT, DEFAULT, SPECIFIED):
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown match type {component.match_type}")
    if component.match_type == EXACT and component.match is None:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Request specified MATCH_TYPE_EXACT, but set match string to null.")
    if component.match_type != EXACT and component.match is not None:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Request specified MATCH_TYPE_DEFAULT or _SPECIFIED, but set a match string.")
    if not component.entity_type:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Unexpected empty filter component entity type")
    if component.entity_type not in ENTITY_TYPES:
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, f"Unsupported entity type {component.entity_type}")
