"""A heartbeat of a share group's member and its result."""

from __future__ import annotations

from typing import NamedTuple

from .assignor import Assignment

LEAVE_EPOCH = -1
"""The epoch in the heartbeat of a member that leaves."""


class ShareHeartbeat(NamedTuple):
    """A ShareGroupHeartbeat request. None means: unchanged since the last heartbeat."""

    member_id: str
    epoch: int
    rack_id: str | None = None
    topics: frozenset[str] | None = None
    client_id: str = ""
    client_host: str = ""

    @property
    def is_full(self) -> bool:
        """Whether the result contains the assignment even if it has not changed."""
        return self.epoch == 0 or self.topics is not None


class ShareHeartbeatResult(NamedTuple):
    """The result of a `ShareHeartbeat`. `assignment` is None if the assignment has not changed."""

    member_id: str
    epoch: int
    heartbeat_interval_ms: int = 0
    assignment: Assignment | None = None
