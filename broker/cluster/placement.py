"""Which nodes get the replicas of new partitions, and which lists of replicas a topic can have.

The aims are those of Kafka's StripedReplicaPlacer: a partition's replicas are in different racks as far as there are racks, leaders are
spread over the nodes, and within a rack a node that is down gets a replica only when the others have one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, islice, zip_longest
from random import Random
from typing import TypeVar

from ...protocol.errors import ErrorCode, KafkaError

Racks = Mapping[int, str | None]
"""Node -> its rack. Nodes without one share a rack."""
Item = TypeVar("Item")


def place_replicas(
    racks: Racks, running: Collection[int], count: int, replication_factor: int, first: int, random: Random
) -> list[list[int]]:
    """The replicas of `count` new partitions, the first of which has the index `first`.

    Leaders take turns over the running nodes from a random one on. Raises KafkaError for numbers that cannot be.
    """
    _check_numbers(count, replication_factor, len(racks), len(running))
    start, placer = random.randrange(len(running)), _Placer(racks, running)
    return [placer.place(start + index, replication_factor) for index in range(first, first + count)]


def _check_numbers(partitions: int, replication_factor: int, nodes: int, running: int) -> None:
    if partitions <= 0:
        raise KafkaError(ErrorCode.INVALID_PARTITIONS, "Number of partitions was set to an invalid non-positive value.")
    if replication_factor <= 0:
        raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, "Replication factor must be larger than 0, or -1 for the default.")
    if replication_factor > nodes:
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Unable to replicate the partition {replication_factor} time(s): The target replication factor of "
            f"{replication_factor} cannot be reached because only {nodes} broker(s) are registered.",
        )
    if not running:
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Unable to replicate the partition {replication_factor} time(s): All brokers are currently fenced.",
        )


class _Placer:
    """The nodes of each rack, and the running ones in stripes: the first of every rack, then the second of every rack."""

    def __init__(self, racks: Racks, running: Collection[int]) -> None:
        self.rack_of = {node: rack or "" for node, rack in racks.items()}
        self.names = sorted(set(self.rack_of.values()))
        self.running: dict[str, list[int]] = {name: [] for name in self.names}
        self.stopped: dict[str, list[int]] = {name: [] for name in self.names}
        for node, name in sorted(self.rack_of.items()):
            (self.running if node in running else self.stopped)[name].append(node)
        stripes = zip_longest(*self.running.values())
        self.leaders = [node for node in chain.from_iterable(stripes) if node is not None]

    def place(self, position: int, replication_factor: int) -> list[int]:
        """The leader at that position of the endless stripes, and followers from the other racks in turn, then from its own again.

        Followers move on by one with each lap over the leaders, so that the same nodes do not always follow the same leader.
        """
        lap, turn = divmod(position, len(self.leaders))
        leader = self.leaders[turn]
        home = self.rack_of[leader]
        at_home = self.running[home].index(leader)
        others = _rotated([name for name in _rotated(self.names, self.names.index(home)) if name != home], lap)
        stripe = turn // len(self.names) + lap
        queues = [_rotated(self.running[name], stripe) + _rotated(self.stopped[name], stripe) for name in others]
        queues.append(_rotated(_rotated(self.running[home], at_home)[1:], lap) + _rotated(self.stopped[home], stripe))
        followers = (node for node in chain.from_iterable(zip_longest(*queues)) if node is not None)
        return [leader, *islice(followers, replication_factor - 1)]


def _rotated(items: list[Item], by: int) -> list[Item]:
    by %= len(items) or 1
    return items[by:] + items[:by]


def check_assignments(assignments: Sequence[Sequence[int]], nodes: Iterable[int]) -> None:
    """Raises INVALID_REPLICA_ASSIGNMENT for replica lists that no topic can have in a cluster of these nodes."""
    registered = set(nodes)
    for replicas in assignments:
        distinct = set(replicas)
        if not replicas:
            problem = "The manual partition assignment includes an empty replica list."
        elif len(distinct) != len(replicas):
            problem = f"The manual partition assignment includes the broker {_repeated(replicas)} more than once."
        elif not distinct <= registered:
            unknown = next(node for node in replicas if node not in registered)
            problem = f"The manual partition assignment includes broker {unknown}, but no such broker is registered."
        elif len(replicas) != len(assignments[0]):
            problem = (
                f"The manual partition assignment includes a partition with {len(replicas)} replica(s), "
                f"but this is not consistent with previous partitions, which have {len(assignments[0])} replica(s)."
            )
        else:
            continue
        raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, problem)


def check_leadable(assignments: Iterable[Sequence[int]], running: Collection[int], first: int = 0) -> None:
    """Raises INVALID_REPLICA_ASSIGNMENT if a new partition could not have a leader; `first` is the index of the first one."""
    for index, replicas in enumerate(assignments, first):
        if not any(node in running for node in replicas):
            raise KafkaError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"All brokers specified in the manual partition assignment for partition {index} are fenced or in controlled shutdown.",
            )


def _repeated(nodes: Sequence[int]) -> int:
    counts = Counter(nodes)
    return next(node for node in nodes if counts[node] > 1)
