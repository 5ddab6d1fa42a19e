"""ListGroups (16): lists the groups that a broker coordinates.

v3 added the flexible encoding, v4 states (KIP-518), v5 types (KIP-848).
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Message, field, versions


class ListGroupsRequest(Message):
    flexible_from = 3
    states_filter: list[str] = field(since=4, default_factory=list)
    types_filter: list[str] = field(since=5, default_factory=list)


class ListGroupsResponse(Message):
    flexible_from = 3
    throttle_time_ms: Int32 = field(since=1, default=0)
    error_code: Int16 = 0
    groups: list[ListedGroup]


class ListedGroup(Message):
    group_id: str
    protocol_type: str
    group_state: str = field(since=4, default="")
    group_type: str = field(since=5, default="")


LIST_GROUPS = Api(16, versions(0, 5), ListGroupsRequest, ListGroupsResponse)
