"""Requests to a classic group and their results, without the differences between protocol versions.

A request that may have to wait is passed together with a `Reply`. The group sets the reply at once or later: that of a `Join` when the
group has waited for its members to join, that of a `Sync` when the leader has sent the assignments.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ....protocol.errors import ErrorCode

CONSUMER_PROTOCOL_TYPE = "consumer"


class Protocol(NamedTuple):
    """An assignment strategy that a member supports, with the member's metadata for the leader."""

    name: str
    metadata: bytes


class Join(NamedTuple):
    """A JoinGroup request. An empty `member_id` means that the coordinator generates one."""

    protocol_type: str
    protocols: tuple[Protocol, ...]
    session_timeout_ms: int
    rebalance_timeout_ms: int
    member_id: str = ""
    group_instance_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    reason: str = "not provided"
    requires_known_member_id: bool = False
    """Whether a new dynamic member first gets MEMBER_ID_REQUIRED with its id, and joins with that id (v4 and later, KIP-394)."""
    supports_skip_assignment: bool = False
    """Whether the leader understands `skip_assignment` in the result (v9 and later, KIP-814)."""


class Sync(NamedTuple):
    """A SyncGroup request. A protocol type or name of None is not checked.

    `assignments` maps member ids to assignments; it is used only if the member is the leader.
    """

    member_id: str
    generation_id: int
    assignments: Mapping[str, bytes]
    group_instance_id: str | None = None
    protocol_type: str | None = None
    protocol_name: str | None = None


class Leave(NamedTuple):
    """One member of a LeaveGroup request. To remove a static member, an administrator gives its instance id and an empty `member_id`."""

    member_id: str
    group_instance_id: str | None = None
    reason: str = "not provided"


class JoinedMember(NamedTuple):
    """A member in the list that the leader receives."""

    member_id: str
    group_instance_id: str | None
    metadata: bytes


class JoinResult(NamedTuple):
    """The result of a `Join`. `members` is empty for all members but the leader."""

    error: ErrorCode
    member_id: str = ""
    generation_id: int = -1
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader: str = ""
    members: tuple[JoinedMember, ...] = ()
    skip_assignment: bool = False


class SyncResult(NamedTuple):
    """The result of a `Sync`."""

    error: ErrorCode
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""
