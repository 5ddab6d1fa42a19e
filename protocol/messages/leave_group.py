"""LeaveGroup (13): leaves a classic group.

v3 added several members at once (KIP-345), v4 the flexible encoding, v5 reasons (KIP-800).
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Message, field, versions


class LeaveGroupRequest(Message):
    flexible_from = 4
    group_id: str
    member_id: str = field(until=2, default="")
    members: list[MemberIdentity] = field(since=3, default_factory=list)


class MemberIdentity(Message):
    member_id: str
    group_instance_id: str | None = None
    reason: str | None = field(since=5, default=None)


class LeaveGroupResponse(Message):
    flexible_from = 4
    throttle_time_ms: Int32 = field(since=1, default=0)
    error_code: Int16 = 0
    members: list[MemberResponse] = field(since=3, default_factory=list)


class MemberResponse(Message):
    member_id: str
    group_instance_id: str | None
    error_code: Int16 = 0


LEAVE_GROUP = Api(13, versions(0, 5), LeaveGroupRequest, LeaveGroupResponse)
