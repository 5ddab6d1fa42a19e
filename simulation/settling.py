"""The rule that groups settle: a group with members becomes stable within a time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from .errors import InvariantViolated

if TYPE_CHECKING:
    from ..broker.embedding.cluster import AsyncCluster
    from .loop import SimulatedLoop

_SETTLED = {"Stable", "Empty", "Dead"}


class GroupsSettle:
    """Ends a run with InvariantViolated if a group is in another state than Stable, Empty and Dead for `within_s` seconds.

    The groups of a cluster are looked at after each of its turns, because they change at no other time.
    """

    def __init__(self, loop: SimulatedLoop, cluster: AsyncCluster, within_s: float) -> None:
        self._loop, self._cluster, self._within_s = loop, cluster, within_s
        self._since: dict[str, float] = {}
        """When each group that is not settled was found unsettled first."""
        self._limit: asyncio.TimerHandle | None = None
        self._look()

    def _look(self) -> None:
        if self._loop.is_ending or not self._cluster.is_running:
            self._note([])
            return
        server = self._cluster._server
        server.driver.call_after_change(self._look)
        unsettled = [group.group_id for group in server.cluster.groups if group.state.value not in _SETTLED]
        if unsettled != list(self._since):
            self._note(unsettled)

    def _note(self, unsettled: list[str]) -> None:
        """Sets the timer to the time at which the first of the groups must have settled."""
        now_s = self._loop.now_s
        self._since = {group_id: self._since.get(group_id, now_s) for group_id in unsettled}
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None
        if self._since:
            self._limit = self._loop.call_at(min(self._since.values()) + self._within_s, self._fail)

    def _fail(self) -> None:
        group_id = min(self._since, key=lambda each: self._since[each])
        group = self._cluster._server.cluster.groups.get(group_id)
        state = "not there any more" if group is None else group.state.value
        self._loop.fail(InvariantViolated(f"group {group_id} is {state} and has not settled within {self._within_s:g} virtual seconds"))
