"""Moves a member of a streams group to its target assignment, one step with each heartbeat (Kafka's CurrentAssignmentBuilder).

A member first revokes the tasks that are not in its target and stays in its epoch until it reports the revocation. Then it advances to the
target's epoch and gets the tasks of its target that are free. An active task is free if no process has it as an active task, and if the
member's own process has no standby or warm-up copy of it. A standby task is free if the member's own process has no copy of it at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from .member import MemberState, StreamsMember
from .tasks import NOTHING, CurrentTasks, Task, Tasks


class TaskOwners:
    """Task -> id of the process that has it as an active task, and task -> ids of the processes that have it in another role.

    A process owns the tasks that are assigned to its members, and those that its members have to revoke.
    """

    def __init__(self) -> None:
        self._active: dict[Task, str] = {}
        self._standby: dict[Task, set[str]] = {}
        self._warmup: dict[Task, set[str]] = {}

    def has_active_owner(self, task: Task) -> bool:
        return task in self._active

    def has_active(self, process_id: str, task: Task) -> bool:
        return self._active.get(task) == process_id

    def has_passive(self, process_id: str, task: Task) -> bool:
        """Returns whether the process has a standby or warm-up copy of the task."""
        return process_id in self._standby.get(task, ()) or process_id in self._warmup.get(task, ())

    def replace(self, before: StreamsMember | None, after: StreamsMember | None) -> None:
        """Removes the tasks of a member as it was, and adds those that it has now. None stands for no member."""
        if before is not None:
            for tasks in (before.assigned, before.revoking):
                for task in tasks.active:
                    if self._active.get(task) == before.process_id:
                        del self._active[task]
                _discard(self._standby, tasks.standby, before.process_id)
                _discard(self._warmup, tasks.warmup, before.process_id)
        if after is not None:
            for tasks in (after.assigned, after.revoking):
                self._active.update(dict.fromkeys(tasks.active, after.process_id))
                _add(self._standby, tasks.standby, after.process_id)
                _add(self._warmup, tasks.warmup, after.process_id)


def _add(owners: dict[Task, set[str]], tasks: Iterable[Task], process_id: str) -> None:
    for task in tasks:
        owners.setdefault(task, set()).add(process_id)


def _discard(owners: dict[Task, set[str]], tasks: Iterable[Task], process_id: str) -> None:
    for task in tasks:
        owners.get(task, set()).discard(process_id)
        if not owners.get(task):
            owners.pop(task, None)


class MemberTarget(NamedTuple):
    """The target assignment of a member and its epoch."""

    epoch: int
    tasks: Tasks


def reconcile(member: StreamsMember, target: MemberTarget, owners: TaskOwners, read_owned: Callable[[], Tasks | None]) -> StreamsMember:
    """Returns the member after one step. `read_owned` returns the tasks that the member reports to own, None if it reports none."""
    if member.is_reconciled_to(target.epoch):
        return member
    owned = read_owned()
    if member.state is MemberState.UNREVOKED_TASKS:
        if owned is None or owned.contains_any(member.revoking):
            return member
        return _next(member, member.epoch + 1, target, owners, owned)
    return _next(member, member.epoch, target, owners, owned)


def _next(member: StreamsMember, epoch: int, target: MemberTarget, owners: TaskOwners, owned: Tasks | None) -> StreamsMember:
    """Returns the member with tasks to revoke in `epoch` or, if there are none, with free tasks in the target's epoch."""
    present, wanted = member.assigned, target.tasks
    kept = CurrentTasks(
        {task: since for task, since in present.active.items() if task in wanted.active},
        present.standby & wanted.standby,
        present.warmup & wanted.warmup,
    )
    revoking = CurrentTasks(
        {task: since for task, since in present.active.items() if task not in wanted.active},
        present.standby - wanted.standby,
        present.warmup - wanted.warmup,
    )
    if revoking and (owned is None or owned.contains_any(revoking)):
        return member.in_epoch(epoch)._replace(state=MemberState.UNREVOKED_TASKS, assigned=kept, revoking=revoking)
    missing = Tasks(wanted.active - kept.active.keys(), wanted.standby - kept.standby, wanted.warmup - kept.warmup)
    free = _free(missing, member.process_id, target.epoch, owners)
    complete = all(len(some) == len(every) for some, every in zip(free, missing, strict=True))
    return member.in_epoch(target.epoch)._replace(
        state=MemberState.STABLE if complete else MemberState.UNRELEASED_TASKS, assigned=kept.merge(free), revoking=NOTHING
    )


def _free(missing: Tasks, process_id: str, epoch: int, owners: TaskOwners) -> CurrentTasks:
    def is_passive(task: Task) -> bool:
        return owners.has_passive(process_id, task)

    def is_free(task: Task) -> bool:
        return not owners.has_active(process_id, task) and not is_passive(task)

    active = [task for task in missing.active if not owners.has_active_owner(task) and not is_passive(task)]
    passive = (frozenset(filter(is_free, tasks)) for tasks in (missing.standby, missing.warmup))
    return CurrentTasks(dict.fromkeys(active, epoch), *passive)
