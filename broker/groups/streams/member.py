"""One member of a streams group, as an immutable value (Kafka's StreamsGroupMember)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

from ....protocol.errors import ErrorCode
from .tasks import NOTHING, CurrentTasks, Task


class MemberState(IntEnum):
    """The progress of a member towards its target assignment. The numbers are those in `__consumer_offsets`."""

    STABLE = 0
    """The member owns its target assignment of its epoch. A newer target assignment -> any of the three states."""

    UNREVOKED_TASKS = 1
    """The member has to revoke tasks and stays in its epoch until it reports the revocation.

    It reports the revocation -> STABLE or UNRELEASED_TASKS; its rebalance timeout ends -> it is removed.
    """

    UNRELEASED_TASKS = 2
    """The member is in the target's epoch, but other members still own some of its tasks.

    Each heartbeat assigns the tasks that have become free; all are assigned -> STABLE.
    """


class Endpoint(NamedTuple):
    """The address of an application for interactive queries."""

    host: str
    port: int


class StreamsMember(NamedTuple):
    """One member. The members of one process share its `process_id`."""

    member_id: str
    epoch: int = 0
    previous_epoch: int = 0
    state: MemberState = MemberState.STABLE
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = -1
    topology_epoch: int = -1
    process_id: str = ""
    endpoint: Endpoint | None = None
    client_tags: Mapping[str, str] = {}
    assigned: CurrentTasks = NOTHING
    revoking: CurrentTasks = NOTHING

    def as_fenced(self, epoch: int) -> StreamsMember:
        """Returns the member in an epoch that it does not know, from which on its tasks count, so that it cannot commit before."""
        assigned, revoking = (tasks._replace(active=dict.fromkeys(tasks.active, epoch)) for tasks in (self.assigned, self.revoking))
        return self._replace(epoch=epoch, previous_epoch=epoch, assigned=assigned, revoking=revoking)

    def is_reconciled_to(self, epoch: int) -> bool:
        """Returns whether the member owns its target assignment of that epoch."""
        return self.state is MemberState.STABLE and self.epoch == epoch

    def in_epoch(self, epoch: int) -> StreamsMember:
        """Returns the member in this epoch, which may be the same as before, and with the former one as previous epoch."""
        return self._replace(epoch=epoch, previous_epoch=self.epoch)

    def epoch_of(self, task: Task) -> int | None:
        """Returns the epoch in which the member got an active task, None if the member does not own it or has revoked it."""
        return self.assigned.active.get(task, self.revoking.active.get(task))

    def check_fetch(self, epoch: int) -> ErrorCode:
        """Returns NONE if `epoch` is the member's current one, in which it may read offsets; otherwise an error."""
        return ErrorCode.NONE if self.epoch == epoch else ErrorCode.STALE_MEMBER_EPOCH
