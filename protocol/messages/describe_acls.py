"""DescribeAcls (29): lists access control entries.

v1 added pattern types (KIP-290), v2 the flexible encoding, v3 the resource type USER (KIP-373).
"""

from __future__ import annotations

from ..schema import Api, Int8, Int16, Int32, Message, field, versions


class DescribeAclsRequest(Message):
    flexible_from = 2
    resource_type_filter: Int8
    resource_name_filter: str | None
    pattern_type_filter: Int8 = field(since=1, default=3)
    principal_filter: str | None
    host_filter: str | None
    operation: Int8
    permission_type: Int8


class DescribeAclsResponse(Message):
    flexible_from = 2
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None
    resources: list[DescribeAclsResource]


class DescribeAclsResource(Message):
    resource_type: Int8
    resource_name: str
    pattern_type: Int8 = field(since=1, default=3)
    acls: list[AclDescription]


class AclDescription(Message):
    principal: str
    host: str
    operation: Int8
    permission_type: Int8


DESCRIBE_ACLS = Api(29, versions(1, 3), DescribeAclsRequest, DescribeAclsResponse, 0)
