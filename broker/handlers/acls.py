"""DescribeAcls, CreateAcls and DeleteAcls (KIP-140).

Without an authorizer they return SECURITY_DISABLED, which admin tools handle as a regular answer. Entries and their evaluation are in
broker/security/.
"""

from __future__ import annotations

from collections.abc import Generator

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.create_acls import CREATE_ACLS, AclCreation, AclCreationResult, CreateAclsRequest, CreateAclsResponse
from ...protocol.messages.delete_acls import (
    DELETE_ACLS,
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from ...protocol.messages.describe_acls import (
    DESCRIBE_ACLS,
    AclDescription,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)
from ..api.context import Context
from ..api.registry import CloseConnection, handles
from ..scheduling.slices import Slices, in_slices
from ..scheduling.waiting import Wait
from ..security.acls import Acl, AclFilter, Operation, PatternType, Permission, ResourceType
from ..security.authorizer import Authorizer

UNKNOWN = 0


@handles(DESCRIBE_ACLS)
def describe_acls(request: DescribeAclsRequest, context: Context) -> DescribeAclsResponse:
    """Returns the entries that the filter selects, grouped by pattern."""
    _check_codes(request.resource_type_filter, request.pattern_type_filter, request.operation, request.permission_type)
    context.demand(Operation.DESCRIBE)
    authorizer = _authorizer(context, "No Authorizer is configured on the broker")
    resources: dict[tuple[ResourceType, str, PatternType], list[AclDescription]] = {}
    for acl in authorizer.find(_filter(request)):
        resources.setdefault(acl[:3], []).append(
            AclDescription(principal=acl.principal, host=acl.host, operation=acl.operation, permission_type=acl.permission_type)
        )
    return DescribeAclsResponse(
        error_message="",
        resources=[
            DescribeAclsResource(resource_type=resource_type, resource_name=name, pattern_type=pattern_type, acls=acls)
            for (resource_type, name, pattern_type), acls in resources.items()
        ],
    )


@handles(CREATE_ACLS)
def create_acls(request: CreateAclsRequest, context: Context) -> Generator[Wait, None, CreateAclsResponse]:
    """Adds each entry independently of the others. An entry that already exists is not an error."""
    for each in request.creations:
        _check_codes(each.resource_type, each.resource_pattern_type, each.operation, each.permission_type)
    context.demand(Operation.ALTER)
    authorizer, slices = _authorizer(context), Slices()
    acls = yield from in_slices(_acl, request.creations, slices, 4)
    if any(acl.has_wildcard_code for acl in acls):
        # Kafka fails with an unexpected exception for codes that are valid in filters only.
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    results = yield from in_slices(lambda acl: _create(acl, authorizer), acls, slices, 4)
    context.cluster.metadata_log.add(len(acls))
    return CreateAclsResponse(results=results)


def _acl(creation: AclCreation) -> Acl:
    return Acl(
        ResourceType(creation.resource_type),
        creation.resource_name,
        PatternType(creation.resource_pattern_type),
        creation.principal,
        creation.host,
        Operation(creation.operation),
        Permission(creation.permission_type),
    )


def _create(acl: Acl, authorizer: Authorizer) -> AclCreationResult:
    try:
        authorizer.add(acl)
    except KafkaError as error:
        return AclCreationResult(error_code=error.code, error_message=error.message)
    return AclCreationResult(error_message="")


@handles(DELETE_ACLS)
def delete_acls(request: DeleteAclsRequest, context: Context) -> Generator[Wait, None, DeleteAclsResponse]:
    """Removes the entries that each filter selects. An entry is returned for each filter that selects it."""
    for each in request.filters:
        _check_codes(each.resource_type_filter, each.pattern_type_filter, each.operation, each.permission_type)
    context.demand(Operation.ALTER)
    authorizer = _authorizer(context)
    removed: set[Acl] = set()
    results = yield from in_slices(lambda each: _delete_selected(each, authorizer, removed), request.filters, Slices(), 6)
    authorizer.remove(removed)
    context.cluster.metadata_log.add(len(removed))
    return DeleteAclsResponse(filter_results=results)


def _delete_selected(wanted: DeleteAclsFilter, authorizer: Authorizer, removed: set[Acl]) -> DeleteAclsFilterResult:
    """Returns the entries that a filter selects, and adds them to `removed`."""
    acl_filter = _filter(wanted)
    try:
        acl_filter.check()
    except KafkaError as error:
        return DeleteAclsFilterResult(error_code=error.code, error_message=error.message, matching_acls=[])
    found = authorizer.find(acl_filter)
    removed.update(found)
    matching = [DeleteAclsMatchingAcl(error_message=None, **acl._asdict()) for acl in found]
    return DeleteAclsFilterResult(error_message=None, matching_acls=matching)


def _filter(request: DescribeAclsRequest | DeleteAclsFilter) -> AclFilter:
    return AclFilter(
        ResourceType(request.resource_type_filter),
        request.resource_name_filter,
        PatternType(request.pattern_type_filter),
        request.principal_filter,
        request.host_filter,
        Operation(request.operation),
        Permission(request.permission_type),
    )


def _authorizer(context: Context, message: str = "No Authorizer is configured.") -> Authorizer:
    authorizer = context.cluster.authorizer
    if authorizer is None:
        raise KafkaError(ErrorCode.SECURITY_DISABLED, message)
    return authorizer


def _check_codes(*codes: int) -> None:
    """Raises CloseConnection if a code is UNKNOWN, because Kafka then fails to parse the request. Other undefined codes match no entry."""
    if UNKNOWN in codes:
        raise CloseConnection("an ACL request contains an UNKNOWN code")
