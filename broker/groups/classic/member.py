"""One member of a classic group.

`classic_requests.py` checks the bounds of its session time-out, and `rebalance.py` sets the timer and removes a silent member.
"""

from __future__ import annotations

from ...scheduling.waiting import Reply
from .messages import Join, JoinResult, SyncResult


class Member:
    """The contents of a member's last `Join`, its assignment, and the replies that it waits for."""

    __slots__ = (
        "assignment",
        "client_host",
        "client_id",
        "group_instance_id",
        "is_new",
        "join_reply",
        "member_id",
        "protocols",
        "rebalance_timeout_ms",
        "session_timeout_ms",
        "sync_reply",
    )

    def __init__(self, member_id: str, join: Join, reply: Reply[JoinResult] | None) -> None:
        self.member_id = member_id
        self.group_instance_id = join.group_instance_id
        self.client_id, self.client_host = join.client_id, join.client_host
        self.assignment = b""
        self.is_new = True
        """Whether the member has not been part of a generation yet."""
        self.sync_reply: Reply[SyncResult] | None = None
        self.update(join, reply)

    def update(self, join: Join, reply: Reply[JoinResult] | None) -> None:
        self.protocols = join.protocols
        self.session_timeout_ms, self.rebalance_timeout_ms = join.session_timeout_ms, join.rebalance_timeout_ms
        self.join_reply = reply

    @property
    def is_static(self) -> bool:
        """Whether the member has an instance id, which stays the same when its member id changes (KIP-345)."""
        return self.group_instance_id is not None

    @property
    def is_waiting(self) -> bool:
        """Whether a JoinGroup or a SyncGroup of the member waits for its answer."""
        return self.join_reply is not None or self.sync_reply is not None

    @property
    def protocol_names(self) -> frozenset[str]:
        return frozenset([protocol.name for protocol in self.protocols])

    def metadata(self, protocol_name: str | None) -> bytes:
        """Returns the member's metadata for a protocol, b"" if it does not support the protocol."""
        return next((protocol.metadata for protocol in self.protocols if protocol.name == protocol_name), b"")

    def vote(self, candidates: frozenset[str]) -> str:
        """Returns the first of the member's protocols that is among the candidates."""
        return next(protocol.name for protocol in self.protocols if protocol.name in candidates)

    def answer_sync(self, result: SyncResult) -> bool:
        """Answers the waiting SyncGroup; returns False if none waits."""
        if self.sync_reply is None:
            return False
        self.sync_reply.set(result)
        self.sync_reply = None
        return True
