"""AddRaftVoter and RemoveRaftVoter: both are refused, with the error of the first failing check."""

from __future__ import annotations

from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.add_raft_voter import ADD_RAFT_VOTER, AddRaftVoterRequest, Listener
from odradek.protocol.messages.remove_raft_voter import REMOVE_RAFT_VOTER, RemoveRaftVoterRequest
from tests.broker.harness import World

VOTER = b"v" * 16


def add(world: World, voter_id: int = 9, directory: bytes = VOTER, cluster_id: str | None = None, listener: str = "CONTROLLER") -> int:
    request = AddRaftVoterRequest(
        cluster_id=cluster_id,
        timeout_ms=1000,
        voter_id=voter_id,
        voter_directory_id=directory,
        listeners=[Listener(name=listener, host="h", port=1)],
    )
    return int(world.client().call(ADD_RAFT_VOTER, 0, request).error_code)


def remove(world: World, voter_id: int = 9) -> int:
    request = RemoveRaftVoterRequest(cluster_id=None, voter_id=voter_id, voter_directory_id=VOTER)
    return int(world.client().call(REMOVE_RAFT_VOTER, 0, request).error_code)


def test_raft_voters_invalid_are_refused() -> None:
    world = World()
    assert add(world, cluster_id="other") == ErrorCode.INCONSISTENT_CLUSTER_ID
    assert add(world, voter_id=-1) == ErrorCode.INVALID_REQUEST
    assert add(world, directory=bytes(16)) == ErrorCode.INVALID_REQUEST
    assert add(world, listener="OTHER") == ErrorCode.INVALID_REQUEST


def test_raft_voters_without_kraft_version_are_unsupported() -> None:
    world = World()
    assert (add(world), remove(world)) == (ErrorCode.UNSUPPORTED_VERSION, ErrorCode.UNSUPPORTED_VERSION)


def test_raft_voters_with_kraft_version_are_refused() -> None:
    world = World()
    world.cluster.features.levels["kraft.version"] = 1
    assert add(world, voter_id=1) == ErrorCode.DUPLICATE_VOTER
    assert add(world) == ErrorCode.REQUEST_TIMED_OUT
    assert remove(world) == ErrorCode.VOTER_NOT_FOUND
