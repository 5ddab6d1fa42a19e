"""A log and its replicas: leader elections, in-sync replicas, reassignments and the high watermark.

All replicas of a partition share one log in memory, so a replica is only a position in it. A replica that follows is at the end of the log.
A replica that does not is in `lagging`, with the offset at which it stopped: a replica that is out of sync, or one that is still in sync
but does not fetch, because its node is paused or because a user made it lag (`held`). When a lagging replica is elected, the log is
truncated to its position, which has the same effect as the election of a replica that lacks the records after it.

The high watermark is the lowest position of the in-sync replicas. Usually all of them are at the end of the log and there are at least
min.insync.replicas of them; then `held_offset` is None, the high watermark is the end of the log, and nothing else has to be computed.

Each change of replicas goes through `ReplicatedLog._change`, which follows KRaft's controller (ReplicationControlManager and
PartitionChangeBuilder) in this order:

1. Complete the reassignment under way, if all added replicas are in sync.
2. Update the eligible leader replicas (ELR, KIP-966): replicas that left while fewer than min.insync.replicas remained.
3. Elect a leader, from the in-sync replicas, else from the ELR, else, in an unclean election, from any running replica.

Below min.insync.replicas the high watermark does not move. Therefore every eligible leader has all records below it, and no record that a
consumer has read is lost in a clean election.

The methods that elect take `running`, the nodes that the controller considers alive. A node whose session has not expired yet is one of
them even if it is paused; the nodes that do not fetch at present are `silent_nodes`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from ...storage.log import Log

NO_LEADER = -1


class ReplicaAssignment(NamedTuple):
    """The ids of all replicas, of the in-sync replicas, and of those that the reassignment under way adds and removes.

    The methods return the assignment after a change (Kafka's PartitionReassignmentReplicas).
    """

    replicas: list[int]
    isr: list[int]
    adding: list[int]
    removing: list[int]

    def without(self, node_id: int) -> ReplicaAssignment:
        """Returns the assignment without `node_id` in the in-sync replicas."""
        return self._replace(isr=[node for node in self.isr if node != node_id])

    def with_in_sync(self, nodes: Iterable[int]) -> ReplicaAssignment:
        """Returns the assignment with `nodes` in sync, in ascending order, because Kafka's leader sends the in-sync replicas as a set.

        Returns `self` if all of them are in sync already.
        """
        return self if set(nodes) <= set(self.isr) else self._replace(isr=sorted({*self.isr, *nodes}))

    def begin_reassignment(self, replicas: Sequence[int]) -> ReplicaAssignment:
        """Returns the assignment at the start of a reassignment to `replicas`. The replicas to remove stay, at the end of the list.

        As in Kafka, if `replicas` adds none, the additions of the reassignment under way remain; likewise for removals.
        """
        adding = sorted(set(replicas) - set(self.replicas))
        removing = sorted(set(self.replicas) - set(replicas))
        return ReplicaAssignment([*replicas, *removing], self.isr, adding or self.adding, removing or self.removing)

    def cancel_reassignment(self) -> ReplicaAssignment:
        """Returns the assignment before the reassignment under way."""
        adding = set(self.adding)
        return ReplicaAssignment(
            [node for node in self.replicas if node not in adding], [node for node in self.isr if node not in adding], [], []
        )

    def complete_reassignment(self) -> ReplicaAssignment:
        """Returns the assignment after the reassignment; `self` as long as an added replica or all remaining replicas are out of sync."""
        isr = [node for node in self.isr if node not in self.removing]
        if not (self.adding or self.removing) or not isr or not set(self.adding) <= set(isr):
            return self
        return ReplicaAssignment([node for node in self.replicas if node not in self.removing], isr, [], [])


class Hold(NamedTuple):
    """A follower that a user makes lag. It follows at a distance of `records`. If the distance is 0, it does not fetch at all.

    `high_watermark` is that of the partition when the hold began, which is the last one that a follower without fetches knows.
    """

    records: int
    high_watermark: int


class ReplicatedLog(ABC):
    """A log with its replicas.

    `lagging` maps each replica that is out of sync or does not fetch to the offset at which it stopped. `held` contains the followers that
    a user makes lag, and `lag_marks` the ends of the log at the last two checks of each in-sync replica in `lagging`. `elr` contains the
    eligible leader replicas, and `last_known_elr` the last leader while there is none. `leader` is NO_LEADER while no replica can lead.

    `held_offset` is None if all in-sync replicas are at the end of the log and there are at least `min_isr` of them. Otherwise it is an
    offset that the high watermark has reached.
    """

    __slots__ = (
        "adding",
        "elr",
        "held",
        "held_offset",
        "isr",
        "lag_marks",
        "lagging",
        "last_known_elr",
        "leader",
        "leader_epoch",
        "log",
        "removing",
        "replicas",
    )

    def __init__(
        self,
        replicas: Sequence[int],
        isr: Iterable[int],
        log: Log,
        leader_epoch: int = 0,
    ) -> None:
        self.replicas = list(replicas)
        self.isr = list(isr)
        self.adding: list[int] = []
        self.removing: list[int] = []
        self.elr: list[int] = []
        self.last_known_elr: list[int] = []
        self.leader = self.isr[0] if self.isr else NO_LEADER
        following = [node for node in self.isr if node == self.leader or node not in self.silent_nodes]
        self.lagging = {node: 0 for node in replicas if node not in following}
        self.held: dict[int, Hold] = {}
        self.lag_marks: dict[int, list[int]] = {}
        self.leader_epoch = leader_epoch
        self.log = log
        self.log.begin_epoch(leader_epoch)
        self.held_offset: int | None = None

    # Policies of the topic and the cluster

    @property
    @abstractmethod
    def min_isr(self) -> int:
        """The number of in-sync replicas that acks=all requires."""

    @property
    @abstractmethod
    def allows_unclean_election(self) -> bool:
        """Whether a replica that lacks records may be elected when no other replica can lead."""

    @property
    @abstractmethod
    def silent_nodes(self) -> Collection[int]:
        """The nodes that do not fetch, because they are stopped, paused or isolated."""

    @abstractmethod
    def truncate_to(self, offset: int) -> None:
        """Drops the records from `offset` on, because the new leader does not have them."""

    @abstractmethod
    def discard_descriptions(self) -> None:
        """Called with each change of the leader, the leader epoch, the replicas or the in-sync replicas, which Metadata contains."""

    # State

    @property
    def assignment(self) -> ReplicaAssignment:
        """The current replicas."""
        return ReplicaAssignment(self.replicas, self.isr, self.adding, self.removing)

    @property
    def has_leader(self) -> bool:
        """Whether a replica leads."""
        return self.leader != NO_LEADER

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
        """The end of what consumers can read: the lowest position of the in-sync replicas, which does not move below `min_isr` replicas."""
        reached = self.held_offset
        if reached is None:
            return self.log.end_offset
        if len(self.isr) < self.min_isr:
            return reached
        return max(reached, min(self.position(node) for node in self.isr))

    def position(self, node_id: int) -> int:
        """Returns the end of the log of one replica."""
        end_offset = self.log.end_offset
        stopped_at = self.lagging.get(node_id, end_offset)
        hold = self.held.get(node_id)
        if hold and hold.records and node_id not in self.silent_nodes:
            distant = self.log.batch_start(max(end_offset - hold.records, self.log.start_offset))  # replicas copy whole batches
            return min(end_offset, max(stopped_at, distant))
        return min(end_offset, stopped_at)

    def known_high_watermark(self, node_id: int) -> int:
        """Returns the high watermark that a replica knows: an older one if it lags (KIP-392)."""
        known = min(self.high_watermark, self.position(node_id))
        hold = self.held.get(node_id)
        return min(known, hold.high_watermark) if hold and not hold.records else known

    @property
    def in_sync_laggards(self) -> list[int]:
        """The in-sync replicas that have stopped, or that follow at a distance. They leave after replica.lag.time.max.ms."""
        return [node for node in self.isr if node in self.lagging and node != self.leader]

    @property
    def has_min_isr(self) -> bool:
        """Whether at least `min_isr` replicas are in sync, as acks=all requires."""
        return self.held_offset is None or len(self.isr) >= self.min_isr

    def behind(self, running: Collection[int]) -> list[int]:
        """Returns the running replicas that may catch up. The list is empty if there is no leader from which they could copy."""
        if self.leader == NO_LEADER or not self.lagging:
            return []
        able = set(running).difference(self.silent_nodes, self.held)
        return [node for node in self.replicas if node in self.lagging and node in able]

    # Nodes that stop and start, and followers that stop following

    def node_silenced(self, node_id: int) -> None:
        """Notes the position of a follower whose node does not fetch from now on. It must not be one of the `silent_nodes` yet."""
        if node_id in self.replicas and node_id != self.leader:
            self._stop_follower(node_id)
            self.update_held_offset()

    def node_stopped(self, node_id: int, running: Collection[int]) -> None:
        """Removes a node from the in-sync replicas, and elects another leader if it led."""
        if node_id in self.isr:
            self.lagging[node_id] = self.position(node_id)
            self._change(self.assignment.without(node_id), running, unclean=self.allows_unclean_election)

    def node_started(self, running: Collection[int]) -> None:
        """Elects a leader if there is none. Running replicas catch up at once, except those that a reassignment adds, which take longer."""
        self._change(self.assignment, running, unclean=self.allows_unclean_election)
        self.catch_up([node for node in self.behind(running) if node not in self.adding], running)

    def hold(self, node_id: int, records: int) -> None:
        """Makes a follower lag by `records`. If this is 0, it stops where it is."""
        self._stop_follower(node_id)
        self.held[node_id] = Hold(records, self.high_watermark)
        self.update_held_offset()

    def release(self, node_id: int, running: Collection[int]) -> None:
        """Ends the hold of a follower. It catches up at once if its node can fetch."""
        self._stop_follower(node_id)
        self.held.pop(node_id, None)
        self.catch_up([node for node in self.behind(running) if node == node_id], running)

    def follower_timed_out(self, node_id: int, running: Collection[int]) -> None:
        """Removes a follower that lags from the in-sync replicas."""
        self._change(self.assignment.without(node_id), running)

    def catch_up(self, nodes: Collection[int], running: Collection[int]) -> None:
        """Moves replicas to the end of the log and into the in-sync replicas, which may complete a reassignment."""
        if nodes:
            self._advance_held_offset()
            self.lagging = {node: end for node, end in self.lagging.items() if node not in nodes}
            self._change(self.assignment.with_in_sync(nodes), running)

    # Administration

    def reassign(self, replicas: Sequence[int], running: Collection[int]) -> None:
        """Starts a reassignment. It completes at once if it adds no replica and one of the remaining replicas is in sync."""
        added = set(replicas) - set(self.replicas)
        self.lagging |= dict.fromkeys(added, 0)
        # An added replica has no records, even if it was an eligible leader before it was removed.
        self.elr = [node for node in self.elr if node not in added]
        self._change(self.assignment.begin_reassignment(replicas), running)

    def cancel_reassignment(self, running: Collection[int]) -> bool:
        """Restores the replicas before the reassignment.

        Returns False without a change if that requires an unclean election, which the topic does not allow.
        """
        reverted = self.assignment.cancel_reassignment()
        unclean = not reverted.isr
        if unclean and not self.allows_unclean_election:
            return False
        self._change(reverted._replace(isr=reverted.isr or reverted.replicas[:1]), running, unclean=unclean)
        return True

    def move_leader(self, node_id: int) -> None:
        """Elects an in-sync replica. The records that it lacks, which are not committed, are truncated."""
        self._advance_held_offset()
        self._begin_epoch(node_id)
        self.update_held_offset()

    def prefer_first_replica(self) -> bool:
        """Elects the first replica, the preferred leader. Returns False without a change if it leads already or is not in sync."""
        if not self.prefers_another_leader:
            return False
        self.move_leader(self.replicas[0])
        return True

    def elect_uncleanly(self, running: Collection[int]) -> bool:
        """Elects any running replica, which loses the records that it lacks. Returns False if no replica is running."""
        self._change(self.assignment, running, unclean=True)
        self.catch_up([node for node in self.behind(running) if node not in self.adding], running)
        return self.leader != NO_LEADER

    def min_isr_changed(self) -> None:
        """Applies a changed `min_isr` to the eligible leader replicas and the high watermark."""
        if len(self.isr) >= self.min_isr:
            self.elr = []
        self.update_held_offset()

    def update_held_offset(self) -> None:
        """Sets `held_offset` to None if the high watermark is the end of the log, and otherwise to an offset that it has reached."""
        if len(self.isr) >= self.min_isr and not any(node in self.lagging for node in self.isr):
            self.held_offset = None
        elif self.held_offset is None:
            self.held_offset = self.log.end_offset

    def _stop_follower(self, node_id: int) -> None:
        self._advance_held_offset()
        self.lagging[node_id] = self.position(node_id)

    def _advance_held_offset(self) -> None:
        """Notes the high watermark before a change on which it depends, because it never goes back without a truncation."""
        if self.held_offset is not None:
            self.held_offset = self.high_watermark

    # Transitions

    def _change(self, target: ReplicaAssignment, running: Collection[int], *, unclean: bool = False) -> None:
        """Applies a change of replicas: completes the reassignment, updates the ELR, elects, moves the high watermark."""
        self._advance_held_offset()
        self.discard_descriptions()
        former_isr, former_leader, min_isr = self.isr, self.leader, self.min_isr
        target = target.complete_reassignment()
        removed = set(self.replicas) - set(target.replicas)
        self.replicas, self.isr, self.adding, self.removing = target
        self._update_elr(former_isr, min_isr)
        leader = self._elect(running, unclean=unclean)
        if leader != former_leader or removed:
            self._begin_epoch(leader)
        if leader != NO_LEADER:
            self.last_known_elr = []
        elif former_isr and not self.isr:
            self.last_known_elr = [former_leader]
        self.lagging = {node: end for node, end in self.lagging.items() if node in self.replicas}
        self.held = {node: hold for node, hold in self.held.items() if node in self.replicas}
        self.update_held_offset()

    def _update_elr(self, former_isr: Sequence[int], min_isr: int) -> None:
        """Makes replicas that leave the in-sync replicas eligible while fewer than `min_isr` replicas are in sync (KIP-966)."""
        if len(self.isr) >= min_isr:
            self.elr = []
        else:
            self.elr = sorted({*self.elr, *former_isr} - set(self.isr))

    def _elect(self, running: Collection[int], *, unclean: bool) -> int:
        """Returns the current leader if it may stay, else the first candidate among the replicas; NO_LEADER if there is none."""
        candidates = [self.leader, *self.replicas]
        eligible = self.isr or self.elr
        found = next((node for node in candidates if node in eligible and node in running), NO_LEADER)
        if found == NO_LEADER and unclean:
            found = next((node for node in self.replicas if node in running), NO_LEADER)
        return found

    def _begin_epoch(self, leader: int) -> None:
        """Begins a leader epoch. A leader that was not in sync becomes the only in-sync replica; the log is truncated to its position."""
        position = self.position(leader)
        if leader != NO_LEADER and leader not in self.isr:
            self.elr = [node for node in self.elr if node != leader] if leader in self.elr else []
            self.isr = [leader]
        if self.leader in self.silent_nodes and self.leader in self.replicas:
            self.lagging.setdefault(self.leader, self.log.end_offset)
        if self.lagging.pop(leader, None) is not None:
            self.held.pop(leader, None)
            self.truncate_to(position)
            self.lagging = {node: min(end, position) for node, end in self.lagging.items()}
            if self.held_offset is not None:
                self.held_offset = min(self.held_offset, position)
        self.elect(leader)

    def elect(self, leader: int) -> None:
        """Makes a node the leader in a new leader epoch; NO_LEADER leaves the partition without a leader."""
        self.leader = leader
        self.begin_epoch(self.leader_epoch + 1)

    def begin_epoch(self, epoch: int) -> None:
        """Begins a leader epoch at the end of the log."""
        self.discard_descriptions()
        self.leader_epoch = epoch
        self.log.begin_epoch(epoch)
