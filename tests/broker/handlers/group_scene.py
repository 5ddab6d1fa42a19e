"""Two nodes, of which the first coordinates two groups, and the requests of a member of the classic protocol."""

from __future__ import annotations

from typing import Any

from odradek.protocol.messages.describe_groups import DESCRIBE_GROUPS, DescribedGroup, DescribeGroupsRequest
from odradek.protocol.messages.find_coordinator import FIND_COORDINATOR, FindCoordinatorRequest
from odradek.protocol.messages.join_group import JOIN_GROUP, JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from odradek.protocol.messages.sync_group import SYNC_GROUP, SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from tests.broker.harness import Client, World

HERE, ELSEWHERE = 1, 2


def join_request(group_id: str, member_id: str = "", **options: Any) -> JoinGroupRequest:
    protocols = [JoinGroupRequestProtocol(name="range", metadata=b"topics")]
    defaults: dict[str, Any] = {
        "session_timeout_ms": 10_000,
        "rebalance_timeout_ms": 10_000,
        "protocol_type": "consumer",
        "protocols": protocols,
    }
    return JoinGroupRequest(group_id=group_id, member_id=member_id, **(defaults | options))


class Scene:
    """Two nodes. The first one coordinates `group` and `other`."""

    def __init__(self) -> None:
        self.world = World(nodes=2)
        self.client = self.world.client(HERE)
        self.client.call(FIND_COORDINATOR, 4, FindCoordinatorRequest(key_type=0, coordinator_keys=["any"]))
        coordinator = self.world.cluster.coordinator_log.coordinator
        names = [f"group-{number}" for number in range(100)]
        self.group, self.other = [name for name in names if coordinator(name) == HERE][:2]

    def join(self, version: int = 3, client: Client | None = None, **options: Any) -> JoinGroupResponse:
        client = client or self.client
        client.send(JOIN_GROUP, version, join_request(self.group, **options))
        self.world.advance(0)
        response = client.receive()
        assert isinstance(response, JoinGroupResponse)
        return response

    def sync(self, member_id: str, version: int = 3, **options: Any) -> SyncGroupResponse:
        assignments = [SyncGroupRequestAssignment(member_id=member_id, assignment=b"mine")]
        defaults: dict[str, Any] = {"group_id": self.group, "generation_id": 1, "member_id": member_id, "assignments": assignments}
        response = self.client.call(SYNC_GROUP, version, SyncGroupRequest(**(defaults | options)))
        assert isinstance(response, SyncGroupResponse)
        return response

    def stable(self, **options: Any) -> str:
        """Creates a stable group of one member and returns the member id."""
        member_id = self.join(5 if "group_instance_id" in options else 3, **options).member_id
        assert self.sync(member_id).error_code == 0
        return member_id

    def describe(self, version: int, *groups: str, operations: bool = False) -> list[DescribedGroup]:
        request = DescribeGroupsRequest(groups=list(groups), include_authorized_operations=operations)
        described: list[DescribedGroup] = self.client.call(DESCRIBE_GROUPS, version, request).groups
        return described
