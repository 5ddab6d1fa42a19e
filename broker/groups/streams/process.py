"""The tasks that an assignment gives to one process and its members (Kafka's ProcessState)."""

from __future__ import annotations

from ...kafka_quirks.java_hash import hash_map_order
from ...kafka_quirks.java_priority_queue import PriorityQueue
from .tasks import Task


class Process:
    """One process. Its `load` is the number of tasks per member."""

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
