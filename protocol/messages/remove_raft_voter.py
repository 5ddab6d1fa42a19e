"""RemoveRaftVoter (81): removes a controller from the voters of the metadata quorum (KIP-853).

There is one version so far.
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Message, Uuid, versions


class RemoveRaftVoterRequest(Message):
    flexible_from = 0
    cluster_id: str | None
    voter_id: Int32
    voter_directory_id: Uuid


class RemoveRaftVoterResponse(Message):
    flexible_from = 0
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None


REMOVE_RAFT_VOTER = Api(81, versions(0, 0), RemoveRaftVoterRequest, RemoveRaftVoterResponse)
