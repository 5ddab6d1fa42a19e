"""Places the replicas of new partitions on nodes.

The goals are those of Kafka's StripedReplicaPlacer: the replicas of a partition are in different racks as far as possible, leaders are
spread evenly over the nodes, and within a rack a stopped node gets a replica only if all running nodes have one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import chain, zip_longest
from math import lcm
from random import Random
from typing import TypeVar

from ...protocol.errors import ErrorCode, KafkaError

Racks = Mapping[int, str | None]
"""Node id -> rack. Nodes without a rack (None) form a rack of their own."""
Item = TypeVar("Item")
MAX_PARTITIONS_PER_REQUEST = 10_000
"""The limit of Kafka's controller (ReplicationControlManager.MAX_PARTITIONS_PER_BATCH, QuorumController.MAX_RECORDS_PER_USER_OP)."""
TOO_MANY_PARTITIONS = "Excessively large number of partitions per request."


def place_replicas(
    racks: Racks, running: Collection[int], count: int, replication_factor: int, first: int, random: Random
) -> list[list[int]]:
    """Returns the replicas of `count` new partitions, the first of which has the index `first`.

    Successive partitions are led by successive running nodes, beginning with a random one. Raises KafkaError with INVALID_PARTITIONS or
    INVALID_REPLICATION_FACTOR if no such placement exists, and with POLICY_VIOLATION for more partitions than Kafka creates at once.
    """
    _check_numbers(count, replication_factor, len(racks), len(running))
    start, placer = random.randrange(len(running)), _Placer(racks, running)
    return [placer.place(start + index, replication_factor) for index in range(first, first + count)]


def _check_numbers(partitions: int, replication_factor: int, nodes: int, running: int) -> None:
    if partitions <= 0:
        raise KafkaError(ErrorCode.INVALID_PARTITIONS, "Number of partitions was set to an invalid non-positive value.")
    if partitions > MAX_PARTITIONS_PER_REQUEST:
        raise KafkaError(ErrorCode.POLICY_VIOLATION, TOO_MANY_PARTITIONS)
    if replication_factor <= 0:
        raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, "Replication factor must be larger than 0, or -1 to use the default value.")
    if replication_factor > nodes:
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Unable to replicate the partition {replication_factor} time(s): The target replication factor of "
            f"{replication_factor} cannot be reached because only {nodes} broker(s) are registered or some brokers have all their log"
            " directories cordoned.",
        )
    if not running:
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Unable to replicate the partition {replication_factor} time(s): All brokers are currently fenced.",
        )


class _Placer:
    """The nodes of each rack. `leaders` lists the running nodes in stripes: the first node of every rack, then the second of every rack."""

    def __init__(self, racks: Racks, running: Collection[int]) -> None:
        self.rack_of = {node: rack or "" for node, rack in racks.items()}
        self.names = sorted(set(self.rack_of.values()))
        self.running: dict[str, list[int]] = {name: [] for name in self.names}
        self.stopped: dict[str, list[int]] = {name: [] for name in self.names}
        for node, name in sorted(self.rack_of.items()):
            (self.running if node in running else self.stopped)[name].append(node)
        stripes = zip_longest(*self.running.values())
        self.leaders = [node for node in chain.from_iterable(stripes) if node is not None]
        # All rotations have returned to their beginning after this number of laps, so a topic of many partitions repeats few orders.
        rotated = [len(self.names), *map(len, self.running.values()), *map(len, self.stopped.values())]
        self._period = lcm(*(length or 1 for length in rotated), *(length - 1 or 1 for length in rotated if length))
        self._orders: dict[tuple[int, int], list[int]] = {}

    def place(self, position: int, replication_factor: int) -> list[int]:
        """Returns the replicas of a partition: the leader at `position` in the endlessly repeated stripes, and its followers."""
        lap, turn = divmod(position, len(self.leaders))
        key = turn, lap % self._period
        order = self._orders.get(key)
        if order is None:
            order = self._orders[key] = self._order(*key)
        return order[:replication_factor]

    def _order(self, turn: int, lap: int) -> list[int]:
        """Returns all nodes, the leader of this turn first, in the order in which they are chosen as replicas.

        Followers come from the other racks in turn, then from the leader's rack. With each lap over the leaders they are rotated by one,
        so that the followers of one leader differ from partition to partition.
        """
        leader = self.leaders[turn]
        home = self.rack_of[leader]
        at_home = self.running[home].index(leader)
        others = _rotated([name for name in _rotated(self.names, self.names.index(home)) if name != home], lap)
        stripe = turn // len(self.names) + lap
        queues = [_rotated(self.running[name], stripe) + _rotated(self.stopped[name], stripe) for name in others]
        queues.append(_rotated(_rotated(self.running[home], at_home)[1:], lap) + _rotated(self.stopped[home], stripe))
        followers = (node for node in chain.from_iterable(zip_longest(*queues)) if node is not None)
        return [leader, *followers]


def _rotated(items: list[Item], by: int) -> list[Item]:
    by %= len(items) or 1
    return items[by:] + items[:by]
