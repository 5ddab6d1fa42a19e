"""Controls that describe groups and wait for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple

from ..control_errors import InvalidControl, unknown
from ..plurals import counted
from .declaration import Controls, control
from .group_info import GroupInfo
from .parameters import GroupId, TimeoutS
from .waiting import DEFAULT_TIMEOUT_S, until

if TYPE_CHECKING:
    from ..groups.coordinator import Group


class GroupControls(Controls):
    """The groups of a cluster."""

    @control("group list", reads=True)
    async def groups(self) -> list[GroupInfo]:
        """Returns all groups."""
        from .group_descriptions import describe_group

        cluster = self._server.cluster
        return [describe_group(group, cluster) for group in cluster.groups]

    @control("group show", reads=True)
    async def show_group(self, group: GroupId) -> GroupInfo:
        """Returns a group with its members, their partitions, the committed offsets and the lag."""
        from .group_descriptions import describe_group

        cluster = self._server.cluster
        found = cluster.groups.get(group)
        if found is None:
            raise unknown("group", "group", group, [each.group_id for each in cluster.groups])
        return describe_group(found, cluster)

    @control("group wait", reads=True)
    async def wait_for_group(
        self,
        group: GroupId,
        *,
        members: Annotated[int | None, "the number of members that the group must have"] = None,
        state: Annotated[str | None, "the state that the group must have, such as Stable or Empty"] = None,
        lag: Annotated[int | None, "the highest lag that the group may have, over all partitions"] = None,
        topic: Annotated[str | None, "the topic in which the group must have committed an offset"] = None,
        partition: Annotated[int | None, "the partition of the topic; needed if it has several"] = None,
        committed: Annotated[int | None, "the offset that the group must have committed there, or a later one"] = None,
        timeout_s: TimeoutS = DEFAULT_TIMEOUT_S,
    ) -> GroupInfo:
        """Waits until a group fulfils all given conditions, and returns it. The group need not exist yet.

        Without conditions, it waits until the group exists. No lag is low enough while the group has no subscription and no committed
        offset. Raises ControlTimeout with the members, the state and the lag of each partition at the end.
        """
        from .group_descriptions import describe_group

        for name, number in (("members", members), ("lag", lag), ("partition", partition), ("committed", committed)):
            if number is not None and number < 0:
                raise InvalidControl(name, f"must not be negative, but it is {number}")
        if topic is None and (given := "partition" if partition is not None else "committed" if committed is not None else ""):
            raise InvalidControl("topic", f"is required with {given}")
        wanted = GroupConditions(members, None if state is None else _state_in_lower_case(state), lag, topic, partition, committed)

        def reached() -> GroupInfo | None:
            found = self._server.cluster.groups.get(group)
            if found is None or not wanted.may_be_met(found):
                return None
            info = describe_group(found, self._server.cluster)
            return info if wanted.are_met(info) else None

        def missing() -> str:
            found = self._server.cluster.groups.get(group)
            if found is None:
                return f"group {group!r} does not exist" + (f", wanted {wanted}" if str(wanted) else "")
            return f"group {group!r} did not reach {wanted}: {_summary(describe_group(found, self._server.cluster))}"

        return await until(lambda: self._server, reached, missing, timeout_s)


class GroupConditions(NamedTuple):
    """The conditions that a group must meet. None accepts everything."""

    members: int | None
    state: str | None
    lag: int | None
    topic: str | None
    partition: int | None
    committed: int | None

    def __str__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self._asdict().items() if value is not None)

    def may_be_met(self, group: Group) -> bool:
        """Returns whether a group meets the conditions that are cheap to test."""
        return self.members in (None, len(group.members)) and self.state in (None, group.state.value.lower())

    def are_met(self, group: GroupInfo) -> bool:
        """Returns whether a group meets the conditions about its offsets. Raises InvalidControl for a topic of several partitions."""
        if self.lag is not None and (group.lag is None or group.lag > self.lag):
            return False
        if self.topic is None:
            return True
        found = committed_offset(group, self.topic, self.partition)
        return found is not None and found >= (self.committed or 0)


def committed_offset(group: GroupInfo, topic: str, partition: int | None) -> int | None:
    """Returns the offset that a group has committed in a partition, or in the only partition of a topic; None if there is none.

    Raises InvalidControl if the topic has several partitions and none is named.
    """
    found = {each.partition: each.committed for each in group.offsets if each.topic == topic}
    if partition is None and len(found) > 1:
        raise InvalidControl("partition", f"is required, because topic {topic!r} has {counted(len(found), 'partition')}")
    return found.get(partition) if partition is not None else next(iter(found.values()), None)


_STATES = ("Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead", "Assigning", "Reconciling", "NotReady")


def _state_in_lower_case(state: str) -> str:
    """Returns the state in lower case. Raises InvalidControl for a state that no group can have."""
    if state.lower() not in map(str.lower, _STATES):
        raise unknown("state", "state of a group", state, _STATES)
    return state.lower()


def _summary(group: GroupInfo) -> str:
    members = ", ".join(f"{member.member_id} with {_partitions(member.assignment)}" for member in group.members)
    offsets = ", ".join(f"{each.topic}-{each.partition} committed {each.committed} lag {each.lag}" for each in group.offsets)
    count = counted(len(group.members), "member")
    return f"it is {group.state} with {count} ({members or 'none'}) and {_lag_text(group)} ({offsets or 'no offsets'})"


def _lag_text(group: GroupInfo) -> str:
    return "an unknown lag" if group.lag is None else f"lag {group.lag}"


def _partitions(assignment: dict[str, list[int]]) -> str:
    return " ".join(f"{topic}-{index}" for topic, indexes in assignment.items() for index in indexes) or "no partitions"
