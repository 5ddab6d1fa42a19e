"""The time that throttled replicas need to copy a partition (Kafka's ReplicationQuotaManager, KIP-73).

A throttle has two sides. `leader.replication.throttled.rate` limits what a node sends, and `follower.replication.throttled.rate` what it
receives, both for the replicas that the topic's configs `leader.` and `follower.replication.throttled.replicas` name. As in Kafka, it acts
only on replicas that are not in sync. Here these are the replicas that a reassignment adds, because all others catch up at once.

In Kafka the copies of one side share its rate. Here they run one after another, which takes the same time for all of them together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ..scheduling.timers import Timers
from ..settings.rows import LONG_MAX
from ..topics.partition import Partition, ThrottledCopy

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
        size = partition.log.size if partition.copy is None else partition.copy.left(now_ms)
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
