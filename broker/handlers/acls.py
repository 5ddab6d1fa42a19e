"""DescribeAcls, CreateAcls and DeleteAcls: there is no authorizer, and each says so. Admin tools take that for an answer."""

from __future__ import annotations

from ...protocol.errors import ErrorCode
from ...protocol.messages.create_acls import CREATE_ACLS, AclCreationResult, CreateAclsRequest, CreateAclsResponse
from ...protocol.messages.delete_acls import DELETE_ACLS, DeleteAclsFilterResult, DeleteAclsRequest, DeleteAclsResponse
from ...protocol.messages.describe_acls import DESCRIBE_ACLS, DescribeAclsRequest, DescribeAclsResponse
from ..context import Context
from .registry import handles

NO_AUTHORIZER = "No Authorizer is configured."


@handles(DESCRIBE_ACLS)
def describe_acls(request: DescribeAclsRequest, context: Context) -> DescribeAclsResponse:
    """SECURITY_DISABLED at the top level."""
    return DescribeAclsResponse(
        error_code=ErrorCode.SECURITY_DISABLED, error_message="No Authorizer is configured on the broker", resources=[]
    )


@handles(CREATE_ACLS)
def create_acls(request: CreateAclsRequest, context: Context) -> CreateAclsResponse:
    """SECURITY_DISABLED for each entry."""
    refused = AclCreationResult(error_code=ErrorCode.SECURITY_DISABLED, error_message=NO_AUTHORIZER)
    return CreateAclsResponse(results=[refused for _ in request.creations])


@handles(DELETE_ACLS)
def delete_acls(request: DeleteAclsRequest, context: Context) -> DeleteAclsResponse:
    """SECURITY_DISABLED for each filter."""
    refused = DeleteAclsFilterResult(error_code=ErrorCode.SECURITY_DISABLED, error_message=NO_AUTHORIZER, matching_acls=[])
    return DeleteAclsResponse(filter_results=[refused for _ in request.filters])
