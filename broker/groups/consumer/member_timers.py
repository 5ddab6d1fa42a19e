"""The timers that remove members of a consumer group.

* ("session", group, member): the member has not sent a heartbeat within its session timeout.
* ("revocation", group, member): the member has not reported a revocation within its rebalance timeout.
* ("join", group, member) and ("sync", group, member): a member of the classic protocol has not sent JoinGroup or SyncGroup within its
  rebalance timeout.
"""

from __future__ import annotations

from collections.abc import Callable

from ...scheduling.timers import Timers
from .member import ConsumerMember, MemberState

REASONS = {
    "session": "has been silent for too long",
    "revocation": "has not revoked its partitions in time",
    "join": "has not joined in time",
    "sync": "has not synced in time",
}
"""The reasons for the log, by the kind of timer."""


class MemberTimers:
    """The timers of one group. `action` returns the action of a timer by its kind and the member id."""

    def __init__(self, timers: Timers, group_id: str, action: Callable[[str, str], Callable[[], None]]) -> None:
        self._timers, self._group_id, self._action = timers, group_id, action

    def set(self, kind: str, member: ConsumerMember, delay_ms: int) -> None:
        """Sets a timer that removes the member after `delay_ms`."""
        member_id = member.member_id
        self._timers.set((kind, self._group_id, member_id), delay_ms, self._action(kind, member_id))

    def is_set(self, kind: str, member: ConsumerMember) -> bool:
        return (kind, self._group_id, member.member_id) in self._timers

    def cancel(self, kind: str, member: ConsumerMember) -> None:
        self._timers.cancel((kind, self._group_id, member.member_id))

    def cancel_all(self, member: ConsumerMember) -> None:
        for kind in REASONS:
            self.cancel(kind, member)

    def update_revocation(self, member: ConsumerMember) -> None:
        """Sets or cancels the revocation timer according to the member's state.

        Members of the classic protocol have no such timer, because they revoke by joining again.
        """
        if member.classic is not None:
            return
        if member.state is MemberState.UNREVOKED_PARTITIONS:
            self.set("revocation", member, member.rebalance_timeout_ms)
        else:
            self.cancel("revocation", member)
