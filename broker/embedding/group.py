"""Handles of groups: `cluster.group("billing")` shows the present state of a group, and waits for one."""

from __future__ import annotations

from collections.abc import Awaitable, Generator
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from ..cluster.offset_info import OffsetInfo
from ..control_errors import InvalidControl
from ..controls.group_info import GroupInfo, MemberInfo
from ..controls.waiting import DEFAULT_TIMEOUT_S

if TYPE_CHECKING:
    from .cluster import AsyncCluster, Cluster

STABLE = "Stable"
UNKNOWN_LAG = "the lag of group {!r} is unknown, because it has committed no offset and no member subscribes to a topic"


class WaitConditions(TypedDict, total=False):
    """The conditions of `cluster.wait_for_group`."""

    members: int | None
    state: str | None
    lag: int | None
    topic: str | None
    partition: int | None
    committed: int | None
    timeout_s: float


class AsyncGroup(Awaitable[GroupInfo]):
    """A group of an `AsyncCluster`, which need not exist yet: `await cluster.group("billing")` returns its present state."""

    def __init__(self, cluster: AsyncCluster, group_id: str) -> None:
        self.group_id = group_id
        self._cluster = cluster

    def __await__(self) -> Generator[Any, None, GroupInfo]:
        return self.info().__await__()

    async def info(self) -> GroupInfo:
        """Returns the present state. Raises InvalidControl if the group does not exist."""
        return await self._cluster.show_group(self.group_id)

    async def wait_for(self, **conditions: Unpack[WaitConditions]) -> GroupInfo:
        """Waits until the group fulfils all conditions, such as `lag=0` or `topic="orders", committed=3`. Raises ControlTimeout."""
        return await self._cluster.wait_for_group(self.group_id, **conditions)

    async def wait_until_stable(self, members: int | None = None, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> GroupInfo:
        """Waits until the group is stable, with this number of members if it is given. Raises ControlTimeout with what it has instead."""
        return await self._cluster.wait_for_group(self.group_id, members=members, state=STABLE, timeout_s=timeout_s)


class Group:
    """A group of a `Cluster`, which need not exist yet. Each attribute is read from the cluster when it is used.

    The attributes raise InvalidControl while the group does not exist.
    """

    def __init__(self, cluster: Cluster, group_id: str) -> None:
        self.group_id = group_id
        self._cluster = cluster

    def __repr__(self) -> str:
        return f"<group {self.group_id}>"

    def info(self) -> GroupInfo:
        """Returns the present state as one value."""
        return self._cluster.show_group(self.group_id)

    @property
    def type(self) -> str:
        """The kind of group: classic, consumer, share or streams."""
        return self.info().type

    @property
    def state(self) -> str:
        """Kafka's name of the state, such as Stable or Empty."""
        return self.info().state

    @property
    def protocol(self) -> str:
        """The assignor that is in use."""
        return self.info().protocol

    @property
    def epoch(self) -> int:
        """The group epoch, or the generation of a classic group."""
        return self.info().epoch

    @property
    def coordinator(self) -> int:
        """The id of the node that coordinates the group, -1 while there is none."""
        return self.info().coordinator

    @property
    def members(self) -> list[MemberInfo]:
        """The members with their partitions."""
        return self.info().members

    @property
    def offsets(self) -> list[OffsetInfo]:
        """The progress in each partition of the topics to which members subscribe or in which the group has committed an offset."""
        return self.info().offsets

    @property
    def committed(self) -> dict[tuple[str, int], int]:
        """The committed offsets by topic and partition."""
        return {(each.topic, each.partition): each.committed for each in self.info().offsets if each.committed is not None}

    @property
    def lag(self) -> int:
        """The sum of the lags of all partitions; a partition without a committed offset counts from the start of its log.

        Raises InvalidControl while the lag is unknown, because no member subscribes to a topic and nothing is committed.
        """
        lag = self.info().lag
        if lag is None:
            raise InvalidControl("group", UNKNOWN_LAG.format(self.group_id))
        return lag

    def wait_for(self, **conditions: Unpack[WaitConditions]) -> GroupInfo:
        """Waits until the group fulfils all conditions, such as `lag=0` or `topic="orders", committed=3`. Raises ControlTimeout."""
        return self._cluster.wait_for_group(self.group_id, **conditions)

    def wait_until_stable(self, members: int | None = None, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> GroupInfo:
        """Waits until the group is stable, with this number of members if it is given. Raises ControlTimeout with what it has instead."""
        return self._cluster.wait_for_group(self.group_id, members=members, state=STABLE, timeout_s=timeout_s)
