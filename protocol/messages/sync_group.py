"""SyncGroup (14): distributes the leader's assignment to the members of a classic group.

v3 added static members (KIP-345), v4 the flexible encoding, v5 the protocol's type and name (KIP-559).
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Message, field, versions


class SyncGroupRequest(Message):
    flexible_from = 4
    group_id: str
    generation_id: Int32
    member_id: str
    group_instance_id: str | None = field(since=3, default=None)
    protocol_type: str | None = field(since=5, default=None)
    protocol_name: str | None = field(since=5, default=None)
    assignments: list[SyncGroupRequestAssignment]


class SyncGroupRequestAssignment(Message):
    member_id: str
    assignment: bytes


class SyncGroupResponse(Message):
    flexible_from = 4
    throttle_time_ms: Int32 = field(since=1, default=0)
    error_code: Int16 = 0
    protocol_type: str | None = field(since=5, default=None)
    protocol_name: str | None = field(since=5, default=None)
    assignment: bytes


SYNC_GROUP = Api(14, versions(0, 5), SyncGroupRequest, SyncGroupResponse)
