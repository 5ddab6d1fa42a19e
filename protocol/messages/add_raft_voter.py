"""AddRaftVoter (80): adds a controller to the voters of the metadata quorum (KIP-853).

v1 added `ack_when_committed`, so that the response need not wait until the new set of voters is committed (KIP-1186).
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Message, UInt16, Uuid, field, versions


class AddRaftVoterRequest(Message):
    flexible_from = 0
    cluster_id: str | None
    timeout_ms: Int32
    voter_id: Int32
    voter_directory_id: Uuid
    listeners: list[Listener]
    ack_when_committed: bool = field(since=1, default=True)


class Listener(Message):
    name: str
    host: str
    port: UInt16


class AddRaftVoterResponse(Message):
    flexible_from = 0
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None


ADD_RAFT_VOTER = Api(80, versions(0, 1), AddRaftVoterRequest, AddRaftVoterResponse)
