"""The consequences of a change of replicas: waking requests, reassignments, and preferred leaders (Kafka's ReplicationControlManager).

`topics/replication.py` changes the replicas of one partition. After each change, `ReplicaControl.changed` must be called. It sets two
kinds of timers for partitions and nodes, and two for the whole cluster:

* ("reassignment", partition), at which replicas that are out of sync catch up, unless a user holds reassignments,
* ("replica lag", partition, node), at which an in-sync replica that does not follow is checked,
* "leader rebalance", at which leaderships return to preferred leaders,
* "unclean elections", at which partitions without a leader are elected uncleanly if their topics permit that by now.

Kafka's leader removes a follower from the in-sync replicas if it has not been at the end of the log for replica.lag.time.max.ms, which it
checks twice in that time. Here a check compares the follower's position with the end of the log at the check before the last one.

`ReplicationThrottle` computes the time that throttled replicas need to copy a partition (Kafka's ReplicationQuotaManager, KIP-73). A
throttle has two sides. `leader.replication.throttled.rate` limits what a node sends, and `follower.replication.throttled.rate` what it
receives, both for the replicas that the topic's configs `leader.` and `follower.replication.throttled.replicas` name. As in Kafka, it acts
only on replicas that are not in sync. Here these are the replicas that a reassignment adds, because all others catch up at once. In Kafka
the copies of one side share its rate. Here they run one after another, which takes the same time for all of them together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from ..scheduling.timers import Check, Timers
from ..settings.types import LONG_MAX
from ..settings.values import BrokerConfig
from ..topics.partition import Partition, ThrottledCopy
from ..topics.replication import NO_LEADER
from ..topics.topics import Topics
from .controller import Brokers, MetadataLog
from .coordinator_log import CoordinatorMoves

if TYPE_CHECKING:
    from .broker import Broker

LEADER_REPLICAS, LEADER_RATE = "leader.replication.throttled.replicas", "leader.replication.throttled.rate"
FOLLOWER_REPLICAS, FOLLOWER_RATE = "follower.replication.throttled.replicas", "follower.replication.throttled.rate"
Side = tuple[str, int]
"""LEADER_RATE or FOLLOWER_RATE, and the id of the node."""


class ReplicationThrottle:
    """The sides that are in use: `free_at_ms` is the time at which the last copy of each side ends."""

    def __init__(self, timers: Timers, brokers: Mapping[int, Broker]) -> None:
        self._timers, self._brokers = timers, brokers
        self.free_at_ms: dict[Side, int] = {}

    def plan(self, partition: Partition, nodes: Sequence[int]) -> ThrottledCopy | None:
        """Returns when the added replicas on `nodes` copy a partition, or what is left of it; None if the copy is not throttled.

        A rate of 0 lets the copy wait until the rate is changed.
        """
        now_ms, sides = self._timers.now_ms, list(self._sides(partition, nodes))
        if not sides:
            return None
        size = partition.log.size if partition.copy is None else partition.copy.bytes_left(now_ms)
        if not all(rate for _, _, rate in sides):
            return ThrottledCopy(size, now_ms, None)
        self.free_at_ms = {side: end_ms for side, end_ms in self.free_at_ms.items() if end_ms > now_ms}
        start_ms = max(now_ms, *(self.free_at_ms.get(side, now_ms) for side, _, _ in sides))
        end_ms = start_ms + max(size * copies * 1000 // rate for _, copies, rate in sides)
        self.free_at_ms |= dict.fromkeys([side for side, _, _ in sides], end_ms)
        return ThrottledCopy(size, start_ms, end_ms)

    def end(self, copy: ThrottledCopy) -> None:
        """Gives the rest of a copy's time to the next copy, if it is the last one of its sides."""
        self.free_at_ms = {side: copy.start_ms if end_ms == copy.end_ms else end_ms for side, end_ms in self.free_at_ms.items()}

    def _sides(self, partition: Partition, nodes: Sequence[int]) -> Iterator[tuple[Side, int, int]]:
        """Yields each side that limits the copy, the number of copies that pass it, and its rate in bytes per second."""
        leader = LEADER_REPLICAS, LEADER_RATE, partition.leader, len(nodes)
        followers = [(FOLLOWER_REPLICAS, FOLLOWER_RATE, node_id, 1) for node_id in nodes]
        for replicas, rate_name, node_id, copies in (leader, *followers):
            named, rate = partition.topic.config.lists[replicas], self._brokers[node_id].config.integers[rate_name]
            if copies and rate < LONG_MAX and ("*" in named or f"{partition.index}:{node_id}" in named):
                yield (rate_name, node_id), copies, rate


_REBALANCE_TIMER = "leader rebalance"
_UNCLEAN_TIMER = "unclean elections"


class ControllerParts(NamedTuple):
    """The parts of a cluster that `ReplicaControl` and `Nodes`, which are its controller, read and change."""

    timers: Timers
    config: BrokerConfig
    topics: Topics
    brokers: Brokers
    metadata_log: MetadataLog
    coordinator_moves: CoordinatorMoves


class ReplicaControl:
    """Changes the replicas of partitions, and carries out the consequences of such changes.

    While `reassignments_held` is set, replicas that a reassignment adds do not catch up. `write_missing_markers` lets the transaction
    coordinator write the markers that waited for a leader, and `wake` resumes the requests that wait for a partition.
    """

    def __init__(self, parts: ControllerParts, write_missing_markers: Callable[[], None], wake: Callable[[Partition], None]) -> None:
        self._timers, self._config, self._topics, self._brokers, self._metadata_log, self._coordinator_moves = parts
        self._write_missing_markers = write_missing_markers
        self._wake = wake
        self.reassignments_held = False
        self.throttle = ReplicationThrottle(parts.timers, parts.brokers)

    # Nodes

    def node_silenced(self, node_id: int) -> None:
        """Stops the followers on a node. They stay in sync until they have lagged for too long, or the node's session expires."""
        for partition in self._replicas_on(node_id):
            partition.node_silenced(node_id)
            self._followers_changed(partition)

    def node_stopped(self, node_id: int) -> None:
        """Removes a node, which is fenced or no longer registered, from the in-sync replicas and leaders of its partitions."""
        running = self._brokers.running
        for partition in self._replicas_on(node_id):
            partition.node_stopped(node_id, running)
            self.changed(partition)
        self._write_missing_markers()

    def node_started(self, node_id: int) -> None:
        """Adds a started node to the in-sync replicas of its partitions, and elects leaders for partitions without one."""
        running = self._brokers.running
        for partition in self._replicas_on(node_id):
            partition.node_started(running)
            self.changed(partition)
        self._write_missing_markers()

    def _replicas_on(self, node_id: int) -> Iterator[Partition]:
        return (partition for partition in self._topics.partitions() if node_id in partition.replicas)

    # Reassignments

    def reassign(self, partition: Partition, replicas: Sequence[int]) -> None:
        """Starts a reassignment of a partition to other replicas."""
        self._end_copy(partition)
        partition.reassign(replicas, self._brokers.running)
        self.changed(partition)

    def replace(self, partition: Partition, replicas: Sequence[int]) -> None:
        """Reassigns a partition to other replicas, which copy its records at once."""
        self.reassign(partition, replicas)
        self.catch_up(partition)

    def evacuate(self, partition: Partition, replicas: Sequence[int]) -> None:
        """Reassigns a partition because one of its nodes is removed. Followers that a user makes lag, or holds, catch up as well."""
        running = self._brokers.running
        for node_id in list(partition.held):
            partition.release(node_id, running)
        partition.reassign(replicas, running)
        partition.catch_up(partition.behind(running), running)
        self.changed(partition)

    def hold_reassignments(self) -> None:
        """Keeps replicas that reassignments add from catching up."""
        self.reassignments_held = True
        for partition in self._topics.partitions():
            if partition.adding:
                self._schedule_catch_up(partition)

    def release_reassignments(self) -> None:
        """Brings the replicas that reassignments add in sync at once, which completes the reassignments."""
        self.reassignments_held = False
        for partition in self._topics.partitions():
            if partition.adding:
                self.catch_up(partition)

    def deleted(self, partition: Partition) -> None:
        """Ends the reassignment of a partition that is deleted, and the checks of its followers."""
        self._end_copy(partition)
        self._coordinator_moves.deleted(partition)
        self._unload_share_partitions(partition)
        for node_id in partition.replicas:
            self._timers.cancel(("replica lag", partition, node_id))

    # Followers

    def lag(self, partition: Partition, node_id: int, records: int) -> None:
        """Makes a follower stop, or follow at a distance of `records`."""
        partition.hold(node_id, records)
        self._followers_changed(partition)

    def end_lag(self, partition: Partition, node_id: int) -> None:
        """Lets a follower catch up."""
        partition.release(node_id, self._brokers.running)
        self.changed(partition)
        self._write_missing_markers()

    def move_leader(self, partition: Partition, node_id: int) -> None:
        """Elects an in-sync replica."""
        partition.move_leader(node_id)
        self.changed(partition)
        self._write_missing_markers()

    # Consequences

    def changed(self, partition: Partition) -> None:
        """Wakes the requests that wait for a partition whose replicas have changed, and sets the timers that the change requires."""
        self._metadata_log.add()
        self._coordinator_moves.changed(partition)
        self._unload_share_partitions(partition)
        if partition.prefers_another_leader:
            self._schedule_rebalance()
        self._schedule_catch_up(partition)
        self._followers_changed(partition)

    def _unload_share_partitions(self, partition: Partition) -> None:
        for broker in self._brokers.values():
            if broker.loaded_share_partitions is not None:
                broker.loaded_share_partitions.leader_changed(partition)

    def _schedule_catch_up(self, partition: Partition) -> None:
        """Sets the timer at which replicas catch up, or cancels it.

        A follower includes an added partition in its fetches only when its current fetch is complete. Therefore replicas need
        replica.fetch.wait.max.ms to catch up, and longer if their replication is throttled.
        """
        if not self._able_to_catch_up(partition):
            self._end_copy(partition)
        elif partition.copy is None and ("reassignment", partition) not in self._timers:
            self._set_copy(partition, self.throttle.plan(partition, self._copying(partition)))

    def _set_copy(self, partition: Partition, copy: ThrottledCopy | None) -> None:
        timers, key, wait_ms = self._timers, ("reassignment", partition), self._config.integers["replica.fetch.wait.max.ms"]
        partition.copy = copy
        if copy is not None and copy.end_ms is None:
            timers.cancel(key)
        else:
            left_ms = copy.end_ms - timers.now_ms if copy is not None and copy.end_ms is not None else 0
            timers.set(key, max(wait_ms, left_ms), lambda: self.catch_up(partition))

    def _end_copy(self, partition: Partition) -> None:
        self._timers.cancel(("reassignment", partition))
        if partition.copy is not None:
            self.throttle.end(partition.copy)
            partition.copy = None

    def _copying(self, partition: Partition) -> list[int]:
        return [node for node in self._able_to_catch_up(partition) if node in partition.adding]

    def throttles_changed(self) -> None:
        """Continues the copies under way with the present throttles, after settings have changed."""
        self.throttle.free_at_ms.clear()
        for partition in [each for each in self._topics.partitions() if each.adding]:
            nodes = self._copying(partition)
            copy = self.throttle.plan(partition, nodes) if nodes else None
            if copy or partition.copy:
                self._set_copy(partition, copy)

    def _able_to_catch_up(self, partition: Partition) -> list[int]:
        if not partition.lagging:
            return []
        held = partition.adding if self.reassignments_held else ()
        return [node for node in partition.behind(self._brokers.running) if node not in held]

    def catch_up(self, partition: Partition) -> None:
        """Brings all running replicas of a partition in sync, which completes a reassignment that waited for them."""
        partition.catch_up(self._able_to_catch_up(partition), self._brokers.running)
        self.changed(partition)
        self._write_missing_markers()

    def _followers_changed(self, partition: Partition) -> None:
        """Wakes the requests that wait for the high watermark, and sets the timers of the in-sync replicas that do not follow."""
        timers, laggards = self._timers, partition.in_sync_laggards
        for node_id in [node for node in partition.lag_marks if node not in laggards]:
            del partition.lag_marks[node_id]
            timers.cancel(("replica lag", partition, node_id))
        for node_id in laggards:
            if node_id not in partition.lag_marks:
                partition.lag_marks[node_id] = [partition.log.end_offset]
                self._check_later(partition, node_id)
        self._wake(partition)

    def _check_later(self, partition: Partition, node_id: int) -> None:
        check = self.follower_check(partition, node_id)
        self._timers.set(("replica lag", partition, node_id), check.interval_ms(), check)

    def follower_check(self, partition: Partition, node_id: int) -> Check:
        """Returns the action of the timer that checks an in-sync replica that does not follow."""

        def due_ms() -> float:
            same = partition.lag_marks[node_id] == [partition.log.end_offset] * 2
            return inf if same and not self._is_late(partition, node_id) else 0

        return Check(
            lambda: self.check_follower(partition, node_id),
            lambda: max(1, self._config.integers["replica.lag.time.max.ms"] // 2),
            due_ms,
        )

    def check_follower(self, partition: Partition, node_id: int) -> None:
        """Removes a follower from the in-sync replicas if it is late."""
        if self._is_late(partition, node_id):
            partition.follower_timed_out(node_id, self._brokers.running)
            self.changed(partition)
            self._write_missing_markers()
        else:
            partition.lag_marks[node_id] = [partition.lag_marks[node_id][-1], partition.log.end_offset]
            self._check_later(partition, node_id)

    def _is_late(self, partition: Partition, node_id: int) -> bool:
        """Returns whether a follower has not been at the end of the log since the check before the last one.

        The leader determines that, and therefore not while it is silent.
        """
        position, marks = partition.position(node_id), partition.lag_marks[node_id]
        late = len(marks) == 2 and position < partition.log.end_offset and position <= marks[0]
        return late and partition.leader not in partition.silent_nodes

    # Preferred leaders

    def rebalance_leaders(self) -> None:
        """Elects the preferred leader, the first replica, of each partition where it is in sync."""
        for partition in self._topics.partitions():
            if partition.prefer_first_replica():
                self.changed(partition)
        self._write_missing_markers()

    def _schedule_rebalance(self) -> None:
        if self._config.booleans["auto.leader.rebalance.enable"] and _REBALANCE_TIMER not in self._timers:
            interval_s = self._config.integers["leader.imbalance.check.interval.seconds"]
            self._timers.set(_REBALANCE_TIMER, interval_s * 1000, self.rebalance_leaders)

    # Unclean elections

    def schedule_unclean_elections(self, partitions: Iterable[Partition]) -> None:
        """Sets the timer of unclean elections if it is needed for one of these partitions, whose settings have changed.

        Kafka's controller looks for such partitions at the same intervals.
        """
        if _UNCLEAN_TIMER not in self._timers and any(map(_waits_for_permission, partitions)):
            self._timers.set(_UNCLEAN_TIMER, self._config.integers["unclean.leader.election.interval.ms"], self.elect_uncleanly)

    def elect_uncleanly(self) -> None:
        """Elects a running replica of each partition that has no leader and may be elected uncleanly."""
        for partition in filter(_waits_for_permission, self._topics.partitions()):
            if partition.elect_uncleanly(self._brokers.running):
                self.changed(partition)
        self._write_missing_markers()


def _waits_for_permission(partition: Partition) -> bool:
    return partition.leader == NO_LEADER and partition.allows_unclean_election
