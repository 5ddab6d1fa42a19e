"""Assigns the tasks of a streams group to its members (Kafka's StickyTaskAssignor).

Active tasks are assigned first: to the member that had the task, then to one that had a standby copy of it, as long as the member has less
than its share; the remaining ones to the least loaded members of the least loaded processes. Then each stateful task gets its standby
copies: on the process that had the active task, on one that had a standby copy, and the remaining ones again by load. A process never has
two copies of a task, so that there are fewer standby copies than wanted if there are too few processes.

The share of a member (`_Quota`) is the number of tasks divided by the number of members, rounded up. It is computed anew for the remaining
members whenever a member has reached it, so that a remainder does not go to the first members only.

Kafka takes processes and members in the order of its hash tables and priority queues, which decides between equal ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ...kafka_quirks.java_hash import hash_map_order
from ...kafka_quirks.java_priority_queue import PriorityQueue
from .configuration import ConfiguredSubtopology
from .tasks import Task, Tasks


class Process:
    """The tasks that an assignment gives to one process and its members (Kafka's ProcessState). Its `load` is the tasks per member."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        """Member id -> number of tasks."""
        self.active: dict[str, set[Task]] = {}
        self.standby: dict[str, set[Task]] = {}
        self._tasks: set[Task] = set()
        self._total = 0
        self._by_load: PriorityQueue[str] | None = None

    @property
    def load(self) -> float:
        return self._total / len(self.counts)

    def add_member(self, member_id: str) -> None:
        self.counts[member_id] = 0
        self.active[member_id], self.standby[member_id] = set(), set()

    def has(self, task: Task) -> bool:
        return task in self._tasks

    def add(self, member_id: str, task: Task, *, active: bool) -> int:
        """Gives a task to a member and returns the member's number of tasks."""
        self._by_load = None
        return self._add(member_id, task, active=active)

    def add_to_least_loaded(self, task: Task, *, active: bool) -> int:
        """Gives a task to the member with the fewest tasks and returns its number of tasks."""
        if len(self.counts) == 1:
            return self._add(next(iter(self.counts)), task, active=active)
        if self._by_load is None:
            self._by_load = PriorityQueue(hash_map_order(self.counts), self.counts.__getitem__)
        member_id = self._by_load.poll()
        count = self._add(member_id, task, active=active)
        self._by_load.add(member_id)
        return count

    def _add(self, member_id: str, task: Task, *, active: bool) -> int:
        (self.active if active else self.standby)[member_id].add(task)
        self._tasks.add(task)
        self._total += 1
        self.counts[member_id] += 1
        return self.counts[member_id]


class MemberSpec(NamedTuple):
    """A member with its process and its former target assignment."""

    process_id: str
    former: Tasks


class _Holder(NamedTuple):
    """A member that had a task."""

    process: Process
    member_id: str

    @property
    def tasks(self) -> int:
        """The number of tasks that the member has now."""
        return self.process.counts[self.member_id]


class _Quota:
    """The number of tasks that a member may have. `reached` is called with the new number of tasks of a member."""

    def __init__(self, tasks: int, members: int) -> None:
        self._tasks, self._members = tasks, members
        self.share = 0
        self._divide()

    def _divide(self) -> None:
        self.share = -(-self._tasks // self._members) if self._members else 0

    def reached(self, count: int) -> None:
        if count == self.share:
            self._members -= 1
            self._tasks -= count
            self._divide()


def assign(members: Mapping[str, MemberSpec], subtopologies: Mapping[str, ConfiguredSubtopology], standbys: int) -> dict[str, Tasks]:
    """Returns the target assignment by member id. `subtopologies` are in ascending order, `standbys` is the number of standby copies."""
    return _Assignment(members, subtopologies, standbys).run()


class _Assignment:
    def __init__(self, members: Mapping[str, MemberSpec], subtopologies: Mapping[str, ConfiguredSubtopology], standbys: int) -> None:
        self._standbys = standbys
        self._active = [(name, index) for name, part in subtopologies.items() for index in range(part.tasks)]
        self._stateful = [task for task in self._active if subtopologies[task[0]].is_stateful]
        self._active_quota = _Quota(len(self._active), len(members))
        self._quota = _Quota(len(self._active) + standbys * len(self._stateful), len(members))
        self._holders: dict[str, _Holder] = {}
        self._former_active: dict[Task, _Holder] = {}
        self._former_standby: dict[Task, list[_Holder]] = {}
        processes: dict[str, Process] = {}
        for member_id in hash_map_order(members):
            process_id, former = members[member_id]
            process = processes.setdefault(process_id, Process())
            process.add_member(member_id)
            holder = self._holders[member_id] = _Holder(process, member_id)
            self._former_active.update(dict.fromkeys(former.active, holder))
            for task in former.standby:
                self._former_standby.setdefault(task, []).append(holder)
        self._processes = [processes[name] for name in hash_map_order(processes, capacity=len(members))]

    def run(self) -> dict[str, Tasks]:
        self._assign_active()
        if self._standbys:
            self._assign_standby()
        return {
            member_id: Tasks(frozenset(process.active[member_id]), frozenset(process.standby[member_id]))
            for member_id, (process, _) in self._holders.items()
        }

    def _assign_active(self) -> None:
        rest = [task for task in sorted(self._active, key=_by_partition) if not self._keep(task, self._former_active.get(task))]
        rest = [task for task in rest if not self._keep(task, _least_loaded(self._former_standby.get(task, ()), None))]
        by_load = PriorityQueue(self._processes, _load)
        for task in sorted(rest):
            process = by_load.poll()
            self._count_active(process.add_to_least_loaded(task, active=True))
            by_load.add(process)

    def _keep(self, task: Task, holder: _Holder | None) -> bool:
        """Assigns an active task to a member that had it or a copy of it, if the member has less than its share."""
        if holder is None or holder.tasks >= self._active_quota.share:
            return False
        self._count_active(holder.process.add(holder.member_id, task, active=True))
        return True

    def _count_active(self, count: int) -> None:
        self._active_quota.reached(count)
        self._quota.reached(count)

    def _assign_standby(self) -> None:
        rest = []
        for task in sorted(self._stateful, key=_by_partition, reverse=True):
            kept = 0
            while kept < self._standbys and self._keep_standby(task):
                kept += 1
            rest.append((task, self._standbys - kept))
        by_load = PriorityQueue(self._processes, _load)
        for task, copies in sorted(rest, reverse=True):
            for _ in range(copies):
                if not self._add_standby(by_load, task):
                    break  # every process has a copy of the task

    def _keep_standby(self, task: Task) -> bool:
        active = self._former_active.get(task)
        if active is not None and self._fits(task, active):
            return True
        former = _least_loaded(self._former_standby.get(task, ()), task)
        return former is not None and self._fits(task, former, checked=True)

    def _fits(self, task: Task, holder: _Holder, *, checked: bool = False) -> bool:
        """Assigns a standby task to a member with less than its share, unless its process has a copy.

        With `checked`, Kafka has compared the copies of another candidate and does not look again.
        """
        if (not checked and holder.process.has(task)) or holder.tasks >= self._quota.share:
            return False
        self._quota.reached(holder.process.add(holder.member_id, task, active=False))
        return True

    def _add_standby(self, by_load: PriorityQueue[Process], task: Task) -> bool:
        """Assigns a standby task to the least loaded process that has no copy of it. Returns False if there is none."""
        taken = [by_load.poll()]
        while taken[-1].has(task) and by_load:
            taken.append(by_load.poll())
        found = not taken[-1].has(task)
        if found:
            self._quota.reached(taken[-1].add_to_least_loaded(task, active=False))
        for process in reversed(taken):
            by_load.add(process)
        return found


def _by_partition(task: Task) -> tuple[int, str]:
    return task[1], task[0]


def _load(process: Process) -> float:
    return process.load


def _least_loaded(holders: Iterable[_Holder], task: Task | None) -> _Holder | None:
    """Returns a member whose process and which itself have the least load, as Kafka's `findPrevMemberWithLeastLoad` chooses it.

    With a task, members of processes that have a copy of it are passed over; there is no result if the first member is one of them.
    """
    candidate: _Holder | None = None
    first: _Holder | None = None
    for holder in holders:
        if candidate is None:
            first = candidate = holder
        elif (
            holder.process.load < candidate.process.load
            and (task is None or not holder.process.has(task))
            and holder.tasks < candidate.tasks
        ):
            candidate = holder
    return None if first is None or (task is not None and first.process.has(task)) else candidate
