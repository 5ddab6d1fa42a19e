"""DescribeAcls, CreateAcls and DeleteAcls. Without an authorizer each says SECURITY_DISABLED, which admin tools take for an answer.

The entries and what follows from them are in broker/security/acls.py.
"""

from __future__ import annotations

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
from ..context import Context
from ..registry import CloseConnection, handles
from ..security.acls import Acl, AclFilter, Authorizer, Operation, PatternType, Permission, ResourceType

UNKNOWN = 0


@handles(DESCRIBE_ACLS)
def describe_acls(request: DescribeAclsRequest, context: Context) -> DescribeAclsResponse:
    """The entries that the filter lets pass, by the resources that they are for."""
    _check_codes(request.resource_type_filter, request.pattern_type_filter, request.operation, request.permission_type)
    context.demand(Operation.DESCRIBE)
    authorizer = _authorizer(context, "No Authorizer is configured on the broker")
    resources: dict[tuple[ResourceType, str, PatternType], list[AclDescription]] = {}
    for acl in authorizer.find(_filter(request)):
        resources.setdefault(acl[:3], []).append(
            AclDescription(principal=acl.principal, host=acl.host, operation=acl.operation, permission_type=acl.permission)
        )
    return DescribeAclsResponse(
        error_message="",
        resources=[
            DescribeAclsResource(resource_type=resource_type, resource_name=name, pattern_type=pattern_type, acls=acls)
            for (resource_type, name, pattern_type), acls in resources.items()
        ],
    )


@handles(CREATE_ACLS)
def create_acls(request: CreateAclsRequest, context: Context) -> CreateAclsResponse:
    """Each entry for itself; one that is there already is no error."""
    for each in request.creations:
        _check_codes(each.resource_type, each.resource_pattern_type, each.operation, each.permission_type)
    context.demand(Operation.ALTER)
    authorizer = _authorizer(context)
    acls = [_acl(each) for each in request.creations]
    if any(acl.is_open for acl in acls):
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)  # what is for filters alone Kafka's brokers do not expect here
    return CreateAclsResponse(results=[_create(acl, authorizer) for acl in acls])


def _acl(wanted: AclCreation) -> Acl:
    return Acl(
        ResourceType(wanted.resource_type),
        wanted.resource_name,
        PatternType(wanted.resource_pattern_type),
        wanted.principal,
        wanted.host,
        Operation(wanted.operation),
        Permission(wanted.permission_type),
    )


def _create(acl: Acl, authorizer: Authorizer) -> AclCreationResult:
    try:
        authorizer.add(acl)
    except KafkaError as error:
        return AclCreationResult(error_code=error.code, error_message=error.message)
    return AclCreationResult(error_message="")


@handles(DELETE_ACLS)
def delete_acls(request: DeleteAclsRequest, context: Context) -> DeleteAclsResponse:
    """What each filter lets pass is removed; two filters may both tell of an entry."""
    for each in request.filters:
        _check_codes(each.resource_type_filter, each.pattern_type_filter, each.operation, each.permission_type)
    context.demand(Operation.ALTER)
    authorizer = _authorizer(context)
    results, removed = [], set[Acl]()
    for each in request.filters:
        wanted = _filter(each)
        try:
            wanted.check()
        except KafkaError as error:
            results.append(DeleteAclsFilterResult(error_code=error.code, error_message=error.message, matching_acls=[]))
            continue
        found = authorizer.find(wanted)
        removed.update(found)
        results.append(DeleteAclsFilterResult(error_message=None, matching_acls=[_matching(acl) for acl in found]))
    authorizer.remove(removed)
    return DeleteAclsResponse(filter_results=results)


def _matching(acl: Acl) -> DeleteAclsMatchingAcl:
    return DeleteAclsMatchingAcl(
        error_message=None,
        resource_type=acl.resource_type,
        resource_name=acl.resource_name,
        pattern_type=acl.pattern_type,
        principal=acl.principal,
        host=acl.host,
        operation=acl.operation,
        permission_type=acl.permission,
    )


def _filter(wanted: DescribeAclsRequest | DeleteAclsFilter) -> AclFilter:
    return AclFilter(
        ResourceType(wanted.resource_type_filter),
        wanted.resource_name_filter,
        PatternType(wanted.pattern_type_filter),
        wanted.principal_filter,
        wanted.host_filter,
        Operation(wanted.operation),
        Permission(wanted.permission_type),
    )


def _authorizer(context: Context, why_not: str = "No Authorizer is configured.") -> Authorizer:
    authorizer = context.cluster.authorizer
    if authorizer is None:
        raise KafkaError(ErrorCode.SECURITY_DISABLED, why_not)
    return authorizer


def _check_codes(*codes: int) -> None:
    """Kafka takes a request that names UNKNOWN for one that it cannot read; other numbers that nobody knows it just does not find."""
    if UNKNOWN in codes:
        raise CloseConnection("a request about ACLs has an UNKNOWN element")
