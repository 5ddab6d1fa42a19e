"""CreateAcls (30): adds access control entries.

v1 added pattern types (KIP-290), v2 the flexible encoding, v3 the resource type USER (KIP-373).
"""

from __future__ import annotations

from ..schema import Api, Int8, Int16, Int32, Message, field, versions


class CreateAclsRequest(Message):
    flexible_from = 2
    creations: list[AclCreation]


class AclCreation(Message):
    resource_type: Int8
    resource_name: str
    resource_pattern_type: Int8 = field(since=1, default=3)
    principal: str
    host: str
    operation: Int8
    permission_type: Int8


class CreateAclsResponse(Message):
    flexible_from = 2
    throttle_time_ms: Int32 = 0
    results: list[AclCreationResult]


class AclCreationResult(Message):
    error_code: Int16 = 0
    error_message: str | None


CREATE_ACLS = Api(30, versions(1, 3), CreateAclsRequest, CreateAclsResponse, 0)
