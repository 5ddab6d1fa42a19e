"""The results of the controls of groups."""

from __future__ import annotations

from ..cluster.offset_info import OffsetInfo, total_lag
from ..frozen_data import FrozenData


class MemberInfo(FrozenData):
    """One member of a group. `assignment` contains the indexes of its partitions by topic; `instance_id` is None for a dynamic member."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    topics: list[str]
    assignment: dict[str, list[int]]


class GroupInfo(FrozenData):
    """A group. `epoch` is the generation of a classic group; `coordinator` is a node id, -1 while no node coordinates the group.

    The members of a streams group have the partitions that their active tasks read. `offsets` contains all partitions of the topics to
    which members subscribe or in which the group has committed an offset.
    """

    group_id: str
    type: str
    state: str
    protocol: str
    epoch: int
    coordinator: int
    members: list[MemberInfo]
    offsets: list[OffsetInfo]

    @property
    def lag(self) -> int | None:
        """The sum of the lags of all partitions; None while the group has no subscription and no committed offset."""
        return total_lag(self.offsets)
