"""DescribeAcls, CreateAcls and DeleteAcls on a cluster without an authorizer: SECURITY_DISABLED, as Apache Kafka 4.3.1 answered."""

from __future__ import annotations

from typing import Any

from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.create_acls import CREATE_ACLS, AclCreation, CreateAclsRequest
from odradek.protocol.messages.delete_acls import DELETE_ACLS, DeleteAclsFilter, DeleteAclsRequest
from odradek.protocol.messages.describe_acls import DESCRIBE_ACLS, DescribeAclsRequest
from tests.broker.harness import World

ANY: dict[str, Any] = {"pattern_type_filter": 1, "principal_filter": None, "host_filter": None, "operation": 1, "permission_type": 1}


def test_acls_without_authorizer_are_refused() -> None:
    client = World().client()
    described = client.call(DESCRIBE_ACLS, 3, DescribeAclsRequest(resource_type_filter=1, resource_name_filter=None, **ANY))
    assert (described.error_code, described.error_message) == (ErrorCode.SECURITY_DISABLED, "No Authorizer is configured on the broker")
    entry = AclCreation(resource_type=2, resource_name="t", principal="User:a", host="*", operation=3, permission_type=3)
    created = client.call(CREATE_ACLS, 3, CreateAclsRequest(creations=[entry, entry]))
    assert [result.error_code for result in created.results] == [ErrorCode.SECURITY_DISABLED] * 2
    wanted = DeleteAclsFilter(resource_type_filter=1, resource_name_filter=None, **ANY)
    deleted = client.call(DELETE_ACLS, 3, DeleteAclsRequest(filters=[wanted]))
    assert [(result.error_code, result.matching_acls) for result in deleted.filter_results] == [(ErrorCode.SECURITY_DISABLED, [])]
