"""JoinGroup (11): lets a member join a classic group. The response comes when the group has a new generation.

v1 added the rebalance time-out, v4 the error MEMBER_ID_REQUIRED (KIP-394), v5 static members (KIP-345), v6 the flexible encoding,
v7 the protocol's type and name in the response, v8 reasons (KIP-800), v9 `skip_assignment` (KIP-814).
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Message, field, versions


class JoinGroupRequest(Message):
    flexible_from = 6
    group_id: str
    session_timeout_ms: Int32
    rebalance_timeout_ms: Int32 = field(since=1, default=-1)
    member_id: str
    group_instance_id: str | None = field(since=5, default=None)
    protocol_type: str
    protocols: list[JoinGroupRequestProtocol]
    reason: str | None = field(since=8, default=None)


class JoinGroupRequestProtocol(Message):
    name: str
    metadata: bytes


class JoinGroupResponse(Message):
    flexible_from = 6
    throttle_time_ms: Int32 = field(since=2, default=0)
    error_code: Int16 = 0
    generation_id: Int32 = -1
    protocol_type: str | None = field(since=7, default=None)
    protocol_name: str | None = field(nullable_since=7)
    leader: str
    skip_assignment: bool = field(since=9, default=False)
    member_id: str
    members: list[JoinGroupResponseMember]


class JoinGroupResponseMember(Message):
    member_id: str
    group_instance_id: str | None = field(since=5, default=None)
    metadata: bytes


JOIN_GROUP = Api(11, versions(0, 9), JoinGroupRequest, JoinGroupResponse)
