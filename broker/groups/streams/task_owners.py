"""The processes that own the tasks of a streams group."""

from __future__ import annotations

from collections.abc import Iterable

from .member import StreamsMember
from .tasks import Task


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
