"""DeleteGroups (42): deletes groups that have no members.

v2 added the flexible encoding.
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Message, versions


class DeleteGroupsRequest(Message):
    flexible_from = 2
    groups_names: list[str]


class DeleteGroupsResponse(Message):
    flexible_from = 2
    throttle_time_ms: Int32 = 0
    results: list[DeletableGroupResult]


class DeletableGroupResult(Message):
    group_id: str
    error_code: Int16 = 0


DELETE_GROUPS = Api(42, versions(0, 2), DeleteGroupsRequest, DeleteGroupsResponse)
