"""AlterClientQuotas and DescribeClientQuotas (KIP-546). `cluster/quotas.py` stores the quotas and checks alterations."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages import alter_client_quotas as altering
from ...protocol.messages import describe_client_quotas as describing
from ...protocol.messages.alter_client_quotas import ALTER_CLIENT_QUOTAS, AlterClientQuotasRequest, AlterClientQuotasResponse
from ...protocol.messages.describe_client_quotas import (
    DESCRIBE_CLIENT_QUOTAS,
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)
from ..api.context import Context
from ..api.registry import handles
from ..cluster.quotas import ENTITY_TYPES, IP, Entity, Match, entity_of
from ..scheduling.slices import Slices
from ..scheduling.waiting import NEXT_TURN, Wait
from ..security.acls import Operation, ResourceType

EXACT, DEFAULT, ANY = 0, 1, 2
"""How a component of a filter matches the name of an entity part."""


@handles(ALTER_CLIENT_QUOTAS)
def alter_client_quotas(request: AlterClientQuotasRequest, context: Context) -> Generator[Wait, None, AlterClientQuotasResponse]:
    """Alters each entity independently of the others. For a duplicate entity, the first changes apply but the response has an error."""
    if not context.may(Operation.ALTER_CONFIGS, ResourceType.CLUSTER):
        return AlterClientQuotasResponse(entries=[_refuse(entry) for entry in request.entries])
    results: dict[Entity, KafkaError | None] = {}
    slices = Slices()
    for entry in request.entries:
        entity = entity_of({part.entity_type: part.entity_name for part in entry.entity})
        changes = {op.key: None if op.remove else op.value for op in entry.ops}
        if entity in results or len(changes) < len(entry.ops):
            results[entity] = KafkaError(ErrorCode.INVALID_REQUEST, f"Ignoring duplicate entity {_text(entity)}")
        else:
            results[entity] = _alter(entity, changes, request.validate_only, context)
        if slices.full(3):
            yield NEXT_TURN
    return AlterClientQuotasResponse(
        entries=[
            altering.EntryResponseData(
                error_code=error.code if error else ErrorCode.NONE,
                error_message=error.message if error else None,
                entity=[altering.EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
            )
            for entity, error in results.items()
        ]
    )


def _alter(entity: Entity, changes: Mapping[str, float | None], validate_only: bool, context: Context) -> KafkaError | None:
    """Returns the error if the alteration is refused, else None."""
    try:
        context.cluster.alter_quotas(entity, changes, validate_only=validate_only)
    except KafkaError as error:
        return error
    return None


def _refuse(entry: altering.EntryData) -> altering.EntryResponseData:
    return altering.EntryResponseData(
        error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        error_message="not allowed to ALTER_CONFIGS CLUSTER",
        entity=entry.entity,
    )


def _text(entity: Entity) -> str:
    return "ClientQuotaEntity(entries={" + ", ".join(f"{kind}={name}" for kind, name in entity) + "})"


@handles(DESCRIBE_CLIENT_QUOTAS)
def describe_client_quotas(request: DescribeClientQuotasRequest, context: Context) -> DescribeClientQuotasResponse:
    try:
        if not context.may(Operation.DESCRIBE_CONFIGS, ResourceType.CLUSTER):
            raise KafkaError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
        found = context.cluster.quotas.find(_match(request.components, request.strict))
    except KafkaError as error:
        return DescribeClientQuotasResponse(error_code=error.code, error_message=error.message, entries=None)
    return DescribeClientQuotasResponse(error_message="", entries=[_entry(entity, quotas) for entity, quotas in found])


def _entry(entity: Entity, quotas: Mapping[str, float]) -> describing.EntryData:
    return describing.EntryData(
        entity=[describing.EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
        values=[describing.ValueData(key=key, value=value) for key, value in quotas.items()],
    )


def _match(components: Sequence[ComponentData], strict: bool) -> Match:
    """Returns the filter. Raises KafkaError with INVALID_REQUEST, or UNSUPPORTED_VERSION for an unknown entity type."""
    exact: dict[str, str | None] = {}
    any_of: set[str] = set()
    for component in components:
        _check_component(component, exact.keys() | any_of)
        if component.match_type == ANY:
            any_of.add(component.entity_type)
        else:
            exact[component.entity_type] = component.match
    if IP in exact.keys() | any_of and len(exact) + len(any_of) > 1:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            "Invalid entity filter component combination. IP filter component should not be used with user or clientId filter component.",
        )
    return Match(exact, any_of, strict)


def _check_component(component: ComponentData, previous: set[str]) -> None:
    """Raises KafkaError for an invalid component. `previous` contains the entity types of the components before it."""
    kind, match = component.entity_type, component.match
    if not kind:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Invalid empty entity type.")
    if kind in previous:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Entity type {kind} cannot appear more than once in the filter.")
    if kind not in ENTITY_TYPES:
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, f"Unsupported entity type {kind}")
    if component.match_type not in (EXACT, DEFAULT, ANY):
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown match type {component.match_type}")
    if component.match_type == EXACT and match is None:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Request specified MATCH_TYPE_EXACT, but set match string to null.")
    if component.match_type != EXACT and match is not None:
        wanted = "MATCH_TYPE_DEFAULT" if component.match_type == DEFAULT else "MATCH_TYPE_SPECIFIED"
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Request specified {wanted}, but also specified a match string.")
