"""The rule that groups settle: a group with members becomes stable within a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .errors import InvariantViolated

if TYPE_CHECKING:
    from ..broker.cluster.state import ClusterState

_SETTLED = {"Stable", "Empty", "Dead"}


class GroupsSettle:
    """Raises InvariantViolated if a group has been in another state than Stable, Empty and Dead for more than `within_s` seconds."""

    def __init__(self, clusters: Callable[[], Sequence[ClusterState]], clock: Callable[[], float], within_s: float) -> None:
        self._clusters, self._clock, self._within_s = clusters, clock, within_s
        self._since: dict[str, float] = {}

    def __call__(self) -> None:
        for cluster in self._clusters():
            for group in cluster.groups:
                self._look_at(group.group_id, group.state.value)

    def _look_at(self, group_id: str, state: str) -> None:
        if state in _SETTLED:
            self._since.pop(group_id, None)
        elif self._clock() - self._since.setdefault(group_id, self._clock()) > self._within_s:
            raise InvariantViolated(f"group {group_id} is {state} and has not settled within {self._within_s:g} virtual seconds")
