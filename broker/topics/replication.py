"""One log and its replicas, which are positions in it: the leader, the in-sync ones, and what a reassignment adds and removes.

The rules are those of KRaft's controller (ReplicationControlManager, PartitionChangeBuilder): every change first completes the reassignment
if it can, then decides which replicas are eligible leaders (KIP-966), then elects.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from ...storage.log import Log
from ...storage.memory import LogMemory

NO_LEADER = -1


class Assignment(NamedTuple):
    """Which nodes have a replica, which of those are in sync, and which of them a reassignment under way adds and removes."""

    replicas: list[int]
    isr: list[int]
    adding: list[int]
    removing: list[int]

    def without(self, node_id: int) -> Assignment:
        """The same with one in-sync replica less."""
        return self._replace(isr=[node for node in self.isr if node != node_id])

    def with_in_sync(self, nodes: Iterable[int]) -> Assignment:
        """The same with more in-sync replicas; a leader reports them as a set, so they end up in ascending order."""
        return self._replace(isr=sorted({*self.isr, *nodes}))

    def reassigned(self, replicas: Sequence[int]) -> Assignment:
        """The reassignment to `replicas`: until it completes, those it removes stay behind those it keeps.

        A further reassignment replaces what is being added only if it adds something itself, and likewise for what is being removed.
        """
        adding = sorted(set(replicas) - set(self.replicas))
        removing = sorted(set(self.replicas) - set(replicas))
        return Assignment([*replicas, *removing], self.isr, adding or self.adding, removing or self.removing)

    def reverted(self) -> Assignment:
        """The assignment before the reassignment: without what it adds, with what it removes."""
        adding = set(self.adding)
        return Assignment([node for node in self.replicas if node not in adding], [node for node in self.isr if node not in adding], [], [])

    def completed(self) -> Assignment:
        """The assignment after the reassignment, once all that it adds is in sync and somebody in sync stays; the same until then."""
        isr = [node for node in self.isr if node not in self.removing]
        if not (self.adding or self.removing) or not isr or not set(self.adding) <= set(isr):
            return self
        return Assignment([node for node in self.replicas if node not in self.removing], isr, [], [])


class ReplicatedLog(ABC):
    """A log with its replicas. An in-sync replica stands at the log's end; `lagging` has the positions of all others.

    `elr` has the eligible leader replicas: those that left the in-sync ones while fewer than `min_isr` remained. They have everything below
    the high watermark, because that stands still meanwhile, so one of them may lead when nobody in sync is left.
    """

    __slots__ = (
        "_held_offset",
        "adding",
        "elr",
        "isr",
        "lagging",
        "last_known_elr",
        "leader",
        "leader_epoch",
        "log",
        "removing",
        "replicas",
    )

    def __init__(self, replicas: Sequence[int], isr: Iterable[int], memory: LogMemory | None = None) -> None:
        self.replicas = list(replicas)
        self.isr = list(isr)
        self.adding: list[int] = []
        self.removing: list[int] = []
        self.elr: list[int] = []
        self.last_known_elr: list[int] = []
        self.lagging = {node: 0 for node in replicas if node not in self.isr}
        self.leader = self.isr[0] if self.isr else NO_LEADER
        self.leader_epoch = 0
        self.log = Log(memory)
        self.log.begin_epoch(self.leader_epoch)
        self._held_offset: int | None = None

    # What a partition adds

    @property
    @abstractmethod
    def min_isr(self) -> int:
        """How many in-sync replicas acks=all demands."""

    @property
    @abstractmethod
    def allows_unclean_election(self) -> bool:
        """Whether a replica that lacks records may lead as soon as no other can."""

    @abstractmethod
    def truncate_to(self, offset: int) -> None:
        """Drops what is at and behind `offset`, because the new leader does not have it."""

    # What can be asked

    @property
    def assignment(self) -> Assignment:
        """The replicas as they are."""
        return Assignment(self.replicas, self.isr, self.adding, self.removing)

    @property
    def is_reassigned(self) -> bool:
        """Whether a reassignment is under way."""
        return bool(self.adding or self.removing)

    @property
    def prefers_another_leader(self) -> bool:
        """Whether the first replica is in sync and another one leads."""
        return self.leader not in (self.replicas[0], NO_LEADER) and self.replicas[0] in self.isr

    @property
    def high_watermark(self) -> int:
        """How far clients may read: the log's end, but where it stood before as long as fewer than `min_isr` replicas are in sync."""
        return self.log.end_offset if self._held_offset is None else self._held_offset

    def behind(self, running: Collection[int]) -> list[int]:
        """The running replicas that are not in sync and can copy from a leader."""
        return [] if self.leader == NO_LEADER else [node for node in self.replicas if node in running and node not in self.isr]

    # What happens to nodes

    def node_stopped(self, node_id: int, running: Collection[int]) -> None:
        """Drops a node from the in-sync replicas; what it led is led by the next one."""
        if node_id in self.isr:
            self.lagging[node_id] = self.log.end_offset
            self._change(self.assignment.without(node_id), running, unclean=self.allows_unclean_election)

    def node_started(self, running: Collection[int]) -> None:
        """Elects a leader if there is none and one is eligible; with a leader, what runs catches up. What is being added takes longer."""
        self._change(self.assignment, running, unclean=self.allows_unclean_election)
        self.catch_up([node for node in self.behind(running) if node not in self.adding], running)

    def catch_up(self, nodes: Collection[int], running: Collection[int]) -> None:
        """Has these replicas reach the log's end and join the in-sync ones, which may complete a reassignment."""
        if nodes:
            self.lagging = {node: end for node, end in self.lagging.items() if node not in nodes}
            self._change(self.assignment.with_in_sync(nodes), running)

    # What administrators do

    def reassign(self, replicas: Sequence[int], running: Collection[int]) -> None:
        """Begins to give the partition other replicas; it is over at once if nothing is to be added and somebody in sync stays."""
        added = set(replicas) - set(self.replicas)
        self.lagging |= dict.fromkeys(added, 0)
        self.elr = [node for node in self.elr if node not in added]  # a removed one may still be named, but it has no records any more
        self._change(self.assignment.reassigned(replicas), running)

    def cancel_reassignment(self, running: Collection[int]) -> bool:
        """Goes back to the replicas before the reassignment. False, and nothing has changed, if that takes a forbidden unclean election."""
        reverted = self.assignment.reverted()
        unclean = not reverted.isr
        if unclean and not self.allows_unclean_election:
            return False
        self._change(reverted._replace(isr=reverted.isr or reverted.replicas[:1]), running, unclean=unclean)
        return True

    def elect(self, leader: int) -> None:
        """Makes a node the leader, -1 for none, in a new leader epoch."""
        self.leader = leader
        self.leader_epoch += 1
        self.log.begin_epoch(self.leader_epoch)

    def prefer_first_replica(self) -> bool:
        """Gives the leadership back to the first replica where it is in sync; whether anything changed."""
        if not self.prefers_another_leader:
            return False
        self.elect(self.replicas[0])
        return True

    def elect_uncleanly(self, running: Collection[int]) -> bool:
        """Makes any running replica the leader, at the cost of what it has not got; False if there is none."""
        self._change(self.assignment, running, unclean=True)
        self.catch_up([node for node in self.behind(running) if node not in self.adding], running)
        return self.leader != NO_LEADER

    def min_isr_changed(self) -> None:
        """Adapts to another `min_isr`: no replica is kept as eligible when enough are in sync."""
        if len(self.isr) >= self.min_isr:
            self.elr = []
        self.hold_high_watermark()

    def hold_high_watermark(self) -> None:
        """Has the high watermark stand still, or move again, when the in-sync replicas or their least number have changed."""
        if len(self.isr) >= self.min_isr:
            self._held_offset = None
        elif self._held_offset is None:
            self._held_offset = self.log.end_offset

    # How it follows

    def _change(self, target: Assignment, running: Collection[int], *, unclean: bool = False) -> None:
        """Gives the replicas another state, with all that follows from it."""
        former_isr, former_leader, min_isr = self.isr, self.leader, self.min_isr
        target = target.completed()
        removed = set(self.replicas) - set(target.replicas)
        self.replicas, self.isr, self.adding, self.removing = target
        self._note_eligible(former_isr, min_isr)
        leader = self._elected(running, unclean=unclean)
        if leader != former_leader or removed:
            self._follow(leader)
        if leader != NO_LEADER:
            self.last_known_elr = []
        elif former_isr and not self.isr:
            self.last_known_elr = [former_leader]
        self.lagging = {node: end for node, end in self.lagging.items() if node in self.replicas}
        self.hold_high_watermark()

    def _note_eligible(self, former_isr: Sequence[int], min_isr: int) -> None:
        """Below the least number of in-sync replicas, those that leave stay eligible."""
        if len(self.isr) >= min_isr:
            self.elr = []
        else:
            self.elr = sorted({*self.elr, *former_isr} - set(self.isr))

    def _elected(self, running: Collection[int], *, unclean: bool) -> int:
        """The present leader if it may stay, else the first replica that is in sync, eligible or, uncleanly, running; or -1."""
        candidates = [self.leader, *self.replicas]
        eligible = self.isr or self.elr
        found = next((node for node in candidates if node in eligible and node in running), NO_LEADER)
        if found == NO_LEADER and unclean:
            found = next((node for node in self.replicas if node in running), NO_LEADER)
        return found

    def _follow(self, leader: int) -> None:
        """Begins a leader's epoch. A leader that was not in sync is the only one that is, and the others drop what it does not have."""
        if leader != NO_LEADER and leader not in self.isr:
            self.elr = [node for node in self.elr if node != leader] if leader in self.elr else []
            self.isr = [leader]
        if leader in self.lagging:
            position = min(self.lagging.pop(leader), self.log.end_offset)
            self.truncate_to(position)
            self.lagging = {node: min(end, position) for node, end in self.lagging.items()}
            if self._held_offset is not None:
                self._held_offset = min(self._held_offset, position)
        self.elect(leader)
