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
        self._since: dict[str, tuple[float, str]] = {}
        """When each group that is not settled was found unsettled first, and its present state."""
        self._limit: asyncio.TimerHandle | None = None
        self._look()

    def _look(self) -> None:
        if self._loop.is_ending or not self._cluster.is_running:
            self._end_limit()
            return
        server = self._cluster._server
        server.driver.call_after_change(self._look)
        unsettled = {group.group_id: group.state.value for group in server.cluster.groups if group.state.value not in _SETTLED}
        if unsettled or self._since:
            self._note(unsettled)

    def _note(self, unsettled: dict[str, str]) -> None:
        """Sets the timer to the time at which the first of the groups must have settled."""
        now_s = self._loop.now_s
        self._since = {group_id: (self._since.get(group_id, (now_s,))[0], state) for group_id, state in unsettled.items()}
        self._end_limit()
        if self._since:
            self._limit = self._loop.call_at(min(self._since.values())[0] + self._within_s, self._fail)

    def _end_limit(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def _fail(self) -> None:
        (_, state), group_id = min((value, group_id) for group_id, value in self._since.items())
        self._loop.fail(InvariantViolated(f"group {group_id} is {state} and has not settled within {self._within_s:g} virtual seconds"))
