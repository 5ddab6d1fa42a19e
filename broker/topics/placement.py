"""Places the replicas of new partitions on nodes, and checks the lists of replicas that a client has chosen itself.

The rules of placement are those of Kafka's StripedReplicaPlacer: the replicas of a partition are in different racks as far as possible,
racks and the nodes of a rack take turns, and within a rack a stopped node gets a replica only if all running nodes have one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, cycle, islice
from random import Random

from ...protocol.errors import ErrorCode, KafkaError

Racks = Mapping[int, str | None]
"""Node id -> rack. Nodes without a rack (None) form a rack of their own."""
MAX_PARTITIONS_PER_REQUEST = 10_000
"""The limit of Kafka's controller (ReplicationControlManager.MAX_PARTITIONS_PER_BATCH, QuorumController.MAX_RECORDS_PER_USER_OP)."""
TOO_MANY_PARTITIONS = "Excessively large number of partitions per request."


def place_replicas(racks: Racks, running: Collection[int], count: int, replication_factor: int, random: Random) -> Iterator[list[int]]:
    """Returns an iterator over the replicas of `count` new partitions, which are placed as it proceeds.

    Successive partitions are led by nodes of successive racks, beginning with a random one; without racks, by successive nodes. Raises
    KafkaError with INVALID_PARTITIONS or INVALID_REPLICATION_FACTOR if no such placement exists, and with POLICY_VIOLATION for more
    partitions than Kafka creates at once.
    """
    _check_numbers(count, replication_factor, len(racks), len(running))
    return _places(racks, running, count, replication_factor, random)


def _places(racks: Racks, running: Collection[int], count: int, replication_factor: int, random: Random) -> Iterator[list[int]]:
    placer = _Placer(racks, running, random)
    for _ in range(count):
        yield placer.place(replication_factor)


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


class _Turns:
    """Nodes that take turns in being the first choice, beginning with a random one."""

    def __init__(self, nodes: Iterable[int], random: Random) -> None:
        self._nodes = sorted(nodes)
        self._first = random.randrange(len(self._nodes)) if self._nodes else 0
        self._given = self._partition = 0

    def next(self, partition: int) -> int | None:
        """Returns the next node for a partition, or None if the partition has got all nodes.

        The first choice moves on by one with each partition for which a node is wanted.
        """
        if partition != self._partition:
            self._partition, self._given, self._first = partition, 0, self._first + 1
        if self._given == len(self._nodes):
            return None
        self._given += 1
        return self._nodes[(self._first + self._given - 1) % len(self._nodes)]

    def shuffle(self, random: Random) -> None:
        random.shuffle(self._nodes)


class _Rack:
    """The nodes of a rack."""

    def __init__(self, nodes: Collection[int], running: Collection[int], random: Random) -> None:
        self.running = _Turns((node for node in nodes if node in running), random)
        self.stopped = _Turns((node for node in nodes if node not in running), random)

    def next(self, partition: int) -> int | None:
        """Returns the next node for a partition, a stopped one after all that run, or None if the partition has got all nodes."""
        node = self.running.next(partition)
        return self.stopped.next(partition) if node is None else node


class _Placer:
    """Chooses the replicas of one partition after the other.

    Partitions begin at successive racks. When as many partitions have been placed as there are running nodes, racks and nodes are shuffled,
    so that the followers of a leader differ from partition to partition.
    """

    def __init__(self, racks: Racks, running: Collection[int], random: Random) -> None:
        nodes: dict[str, list[int]] = {}
        for node, name in racks.items():
            nodes.setdefault(name or "", []).append(node)
        self._racks = [_Rack(nodes[name], running, random) for name in sorted(nodes)]
        self._random = random
        self._first = random.randrange(len(nodes))
        self._lap = len(running)
        self._placed = 0

    def place(self, replication_factor: int) -> list[int]:
        """Returns the replicas of the next partition: a running node, which leads it, then nodes of the other racks in turn."""
        partition = self._placed
        if partition and partition % self._lap == 0:
            self._shuffle()
        order = _rotate(self._racks, self._first + partition)
        home, leader = next((rack, node) for rack in order if (node := rack.running.next(partition)) is not None)
        turns = chain((rack for rack in order if rack is not home), cycle(order))
        followers = (node for rack in turns if (node := rack.next(partition)) is not None)
        self._placed += 1
        return [leader, *islice(followers, replication_factor - 1)]

    def _shuffle(self) -> None:
        self._random.shuffle(self._racks)
        for rack in self._racks:
            rack.running.shuffle(self._random)
            rack.stopped.shuffle(self._random)


def _rotate(racks: list[_Rack], by: int) -> list[_Rack]:
    by %= len(racks)
    return racks[by:] + racks[:by]


def check_assignments(assignments: Sequence[Sequence[int]], nodes: Iterable[int]) -> None:
    """Raises KafkaError with INVALID_REPLICA_ASSIGNMENT if a topic cannot have these lists of replicas.

    No list may be empty or contain a node twice, all nodes must be in `nodes`, and all lists must have the same length.
    """
    registered = set(nodes)
    for replicas in assignments:
        distinct = set(replicas)
        if not replicas:
            problem = "The manual partition assignment includes an empty replica list."
        elif len(distinct) != len(replicas):
            problem = f"The manual partition assignment includes the broker {_repeated_node(replicas)} more than once."
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
    """Raises KafkaError with INVALID_REPLICA_ASSIGNMENT if a partition has no running replica; `first` is the first partition's index."""
    for index, replicas in enumerate(assignments, first):
        if not any(node in running for node in replicas):
            raise KafkaError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"All brokers specified in the manual partition assignment for partition {index} are fenced or in controlled shutdown.",
            )


def _repeated_node(nodes: Sequence[int]) -> int:
    counts = Counter(nodes)
    return next(node for node in nodes if counts[node] > 1)


def check_increase(topic_name: str, present: int, count: int) -> None:
    """Raises KafkaError with INVALID_PARTITIONS unless `count`, the requested number of partitions, exceeds `present`."""
    if count == present:
        raise KafkaError(ErrorCode.INVALID_PARTITIONS, f"Topic already has {present} partition(s).")
    if count < present:
        raise KafkaError(
            ErrorCode.INVALID_PARTITIONS, f"The topic {topic_name} currently has {present} partition(s); {count} would not be an increase."
        )


def check_count(assignments: Sequence[Sequence[int]], added: int) -> None:
    """Raises KafkaError with INVALID_REPLICA_ASSIGNMENT unless there is one list of replicas for each added partition."""
    if len(assignments) != added:
        raise KafkaError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Attempted to add {added} additional partition(s), but only {len(assignments)} assignment(s) were specified.",
        )
