"""The replicas of a partition as lists of node ids, and how reassignments change them (Kafka's PartitionReassignmentReplicas)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Assignment(NamedTuple):
    """Node ids: of all replicas, of the in-sync replicas, and of the replicas that the reassignment under way adds and removes."""

    replicas: list[int]
    isr: list[int]
    adding: list[int]
    removing: list[int]

    def without(self, node_id: int) -> Assignment:
        """Returns the assignment without `node_id` in the in-sync replicas."""
        return self._replace(isr=[node for node in self.isr if node != node_id])

    def with_in_sync(self, nodes: Iterable[int]) -> Assignment:
        """Returns the assignment with `nodes` in sync, in ascending order, because Kafka's leader sends the in-sync replicas as a set.

        Returns `self` if all of them are in sync already.
        """
        return self if set(nodes) <= set(self.isr) else self._replace(isr=sorted({*self.isr, *nodes}))

    def reassigned(self, replicas: Sequence[int]) -> Assignment:
        """Returns the assignment at the start of a reassignment to `replicas`. The replicas to remove stay, at the end of the list.

        As in Kafka, if `replicas` adds none, the additions of the reassignment under way remain; likewise for removals.
        """
        adding = sorted(set(replicas) - set(self.replicas))
        removing = sorted(set(self.replicas) - set(replicas))
        return Assignment([*replicas, *removing], self.isr, adding or self.adding, removing or self.removing)

    def reverted(self) -> Assignment:
        """Returns the assignment before the reassignment under way."""
        adding = set(self.adding)
        return Assignment([node for node in self.replicas if node not in adding], [node for node in self.isr if node not in adding], [], [])

    def completed(self) -> Assignment:
        """Returns the assignment after the reassignment; `self` as long as an added replica or all remaining replicas are out of sync."""
        isr = [node for node in self.isr if node not in self.removing]
        if not (self.adding or self.removing) or not isr or not set(self.adding) <= set(isr):
            return self
        return Assignment([node for node in self.replicas if node not in self.removing], isr, [], [])
