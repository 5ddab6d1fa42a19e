"""Heartbeat (12): keeps a member of a classic group in it.

v1 added the throttle time, v3 static members (KIP-345), v4 the flexible encoding.
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Message, field, versions


class HeartbeatRequest(Message):
    flexible_from = 4
    group_id: str
    generation_id: Int32
    member_id: str
    group_instance_id: str | None = field(since=3, default=None)


class HeartbeatResponse(Message):
    flexible_from = 4
    throttle_time_ms: Int32 = field(since=1, default=0)
    error_code: Int16 = 0


HEARTBEAT = Api(12, versions(0, 4), HeartbeatRequest, HeartbeatResponse)
