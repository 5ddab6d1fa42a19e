"""DescribeGroups (15): describes classic groups.

v3 added authorized operations, v4 static members, v5 the flexible encoding, v6 the error GROUP_ID_NOT_FOUND for unknown groups (KIP-1043).
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Message, field, versions


class DescribeGroupsRequest(Message):
    flexible_from = 5
    groups: list[str]
    include_authorized_operations: bool = field(since=3, default=False)


class DescribeGroupsResponse(Message):
    flexible_from = 5
    throttle_time_ms: Int32 = field(since=1, default=0)
    groups: list[DescribedGroup]


class DescribedGroup(Message):
    error_code: Int16 = 0
    error_message: str | None = field(since=6, default=None)
    group_id: str
    group_state: str
    protocol_type: str
    protocol_data: str
    members: list[DescribedGroupMember]
    authorized_operations: Int32 = field(since=3, default=-(1 << 31))


class DescribedGroupMember(Message):
    member_id: str
    group_instance_id: str | None = field(since=4, default=None)
    client_id: str
    client_host: str
    member_metadata: bytes
    member_assignment: bytes


DESCRIBE_GROUPS = Api(15, versions(0, 6), DescribeGroupsRequest, DescribeGroupsResponse)
