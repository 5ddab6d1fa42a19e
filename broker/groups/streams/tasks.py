"""Tasks of a streams group, and sets of tasks by role.

A task processes one partition of the source topics of a subtopology. Its active copy processes records, a standby copy maintains the same
state, and a warm-up copy builds the state up for a later active copy. Kafka 4.3 assigns no warm-up tasks, but its records and messages have
them, and members may own them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

Task = tuple[str, int]
"""(subtopology id, partition)."""
NO_TASKS: frozenset[Task] = frozenset()


class Tasks(NamedTuple):
    """Tasks by role (Kafka's TasksTuple)."""

    active: frozenset[Task] = NO_TASKS
    standby: frozenset[Task] = NO_TASKS
    warmup: frozenset[Task] = NO_TASKS

    def contains_any(self, other: CurrentTasks) -> bool:
        """Returns whether any task is contained in `other` in the same role."""
        return not (
            self.active.isdisjoint(other.active) and self.standby.isdisjoint(other.standby) and self.warmup.isdisjoint(other.warmup)
        )


class CurrentTasks(NamedTuple):
    """Tasks by role; active ones with the member epoch in which each was assigned (Kafka's TasksTupleWithEpochs, KIP-1251)."""

    active: Mapping[Task, int]
    standby: frozenset[Task] = NO_TASKS
    warmup: frozenset[Task] = NO_TASKS

    def __bool__(self) -> bool:
        return bool(self.active or self.standby or self.warmup)

    def merge(self, other: CurrentTasks) -> CurrentTasks:
        return CurrentTasks({**self.active, **other.active}, self.standby | other.standby, self.warmup | other.warmup)


NOTHING = CurrentTasks({})


def by_subtopology(tasks: Iterable[Task]) -> dict[str, list[int]]:
    """Returns the partitions by subtopology id, both in ascending order."""
    grouped: dict[str, list[int]] = {}
    for subtopology_id, partition in sorted(tasks):
        grouped.setdefault(subtopology_id, []).append(partition)
    return grouped
