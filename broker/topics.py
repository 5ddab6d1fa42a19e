"""Topics, their partitions, and where replicas are placed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from random import Random

from ..protocol.coordinator_records import CoordinatorRecord
from ..protocol.errors import ErrorCode, KafkaError
from ..protocol.record_builder import build_batch, build_marker
from ..protocol.records import Record
from ..storage.log import Log
from ..storage.memory import LogMemory
from ..storage.producers import Producers
from ..storage.retention import UntimedAppends
from ..storage.rolling import Rolling
from .config import TopicConfig
from .transactions.coordinator import Marker
from .transactions.transaction import Producer

MAX_NAME_LENGTH = 249
CONSUMER_OFFSETS = "__consumer_offsets"
TRANSACTION_STATE = "__transaction_state"
INTERNAL_TOPICS = frozenset({CONSUMER_OFFSETS, TRANSACTION_STATE, "__share_group_state"})
_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+")


class Partition:
    """One partition. A replica has no log of its own: it is a position in the one log, and an in-sync one stands at its end.

    `lagging` has the positions of those that stand elsewhere: where the log ended when they left.
    """

    __slots__ = (
        "cleaned_until",
        "index",
        "isr",
        "lagging",
        "leader",
        "leader_epoch",
        "log",
        "producers",
        "replicas",
        "rolling",
        "topic",
        "untimed",
    )

    def __init__(self, topic: Topic, index: int, replicas: Sequence[int], isr: Iterable[int]) -> None:
        self.topic = topic
        self.index = index
        self.replicas = list(replicas)
        self.isr = list(isr)
        self.leader = self.isr[0] if self.isr else -1
        self.leader_epoch = 0
        self.lagging: dict[int, int] = {}
        self.log = Log(topic.memory)
        self.log.begin_epoch(self.leader_epoch)
        self.rolling, self.untimed = Rolling(), UntimedAppends()
        self.cleaned_until = 0  # the offset up to which the log is compacted
        self.producers = Producers(topic.config.broker.integers["producer.id.expiration.ms"])

    def __repr__(self) -> str:
        return f"{self.topic.name}-{self.index}"

    @property
    def high_watermark(self) -> int:
        """The smallest log end of the in-sync replicas: all of them have everything."""
        return self.log.end_offset

    @property
    def last_stable_offset(self) -> int:
        """Where the first open transaction begins, the high watermark if none is: how far read_committed reads."""
        first_open_offset = self.producers.first_open_offset
        if first_open_offset is None:
            return self.high_watermark
        return min(max(first_open_offset, self.log.start_offset), self.high_watermark)

    @property
    def min_isr(self) -> int:
        """How many in-sync replicas acks=all demands (Kafka's `Partition.effectiveMinIsr`)."""
        return min(self.topic.config.integers["min.insync.replicas"], len(self.replicas))

    def append_records(self, records: Iterable[CoordinatorRecord], now_ms: int, producer: Producer | None) -> None:
        """Appends what a coordinator has to say, as one batch. With a producer it is part of its transaction.

        A coordinator knows no sequence numbers: each of its batches begins at 0 (Kafka's AppendOrigin.COORDINATOR).
        Raises StaleProducerEpoch.
        """
        rows = [Record(offset, now_ms, record.key, record.value, []) for offset, record in enumerate(records)]
        if producer is None:
            self.log.append(memoryview(build_batch(rows)), self.leader_epoch, owned=True)
            return
        self.producers.check_epoch(*producer)
        batch = build_batch(rows, producer_id=producer.id, producer_epoch=producer.epoch, base_sequence=0, is_transactional=True)
        base_offset, last = self.log.append(memoryview(batch), self.leader_epoch, owned=True), len(rows) - 1
        self.producers.record(*producer, 0, last, base_offset, base_offset + last, now_ms, now_ms, transactional=True)

    def append_marker(self, marker: Marker, now_ms: int) -> None:
        """Ends a producer's transaction here. Raises StaleProducerEpoch and StaleCoordinatorEpoch for a marker that comes too late."""
        id_and_epochs = (*marker.producer, marker.coordinator_epoch)
        self.producers.check_marker(*id_and_epochs, raises_epoch=marker.raises_epoch)
        batch = build_marker(*id_and_epochs, now_ms, committed=marker.committed)
        offset = self.log.append(memoryview(batch), self.leader_epoch, owned=False)
        self.producers.end_transaction(*id_and_epochs, offset, now_ms, committed=marker.committed)

    def delete_before(self, offset: int) -> None:
        """Moves the log's start up to `offset`; transactions that ended before it are forgotten."""
        self.log.delete_before(offset)
        self.producers.delete_before(self.log.start_offset)
        self.untimed.delete_before(self.log.start_offset)

    def elect(self, leader: int) -> None:
        """Makes a node the leader, -1 for none, in a new leader epoch."""
        self.leader = leader
        self.leader_epoch += 1
        self.log.begin_epoch(self.leader_epoch)

    def node_stopped(self, node_id: int, running: Iterable[int]) -> None:
        """Drops a node from the in-sync replicas, unless it is the last of them, and moves the leader to the next one."""
        if node_id in self.isr and len(self.isr) > 1:
            self.isr.remove(node_id)
            self.lagging[node_id] = self.log.end_offset
        if self.leader == node_id:
            self.elect(self._candidate(running))
            self._elect_uncleanly_if_allowed(running)

    def node_started(self, running: Sequence[int]) -> None:
        """Where nobody led, an in-sync replica does now; with a leader, every running replica catches up at once and rejoins."""
        if self.leader == -1 and (candidate := self._candidate(running)) != -1:
            self.elect(candidate)
        self._elect_uncleanly_if_allowed(running)
        if self.leader != -1:
            self._catch_up(running)

    def prefer_first_replica(self) -> bool:
        """Gives the leadership back to the first replica where it is in sync; whether anything changed."""
        preferred = self.replicas[0]
        if self.leader in (preferred, -1) or preferred not in self.isr:
            return False
        self.elect(preferred)
        return True

    def elect_uncleanly(self, running: Iterable[int]) -> bool:
        """Makes any running replica the leader, at the cost of what it has not got; False if there is none."""
        candidate = next((node for node in self.replicas if node in running), -1)
        if candidate == -1:
            return False
        position = min(self.lagging.get(candidate, self.log.end_offset), self.log.end_offset)
        self.log.truncate_to(position)
        self.producers.truncate_to(position)
        self.rolling, self.cleaned_until = Rolling(), min(self.cleaned_until, position)
        self.isr, self.lagging = [candidate], {node: min(end, position) for node, end in self.lagging.items() if node != candidate}
        self.elect(candidate)
        self._catch_up(running)
        return True

    def reassign(self, replicas: Sequence[int], running: Iterable[int]) -> None:
        """Gives the partition other replicas, at once. The epoch rises when an old one is gone (KRaft's PartitionChangeBuilder)."""
        removed = set(self.replicas) - set(replicas)
        self.replicas = list(replicas)
        added = [node for node in replicas if node in running and node not in self.isr]
        self.isr = [node for node in self.isr if node in replicas] + added
        self.lagging = {node: end for node, end in self.lagging.items() if node not in removed}
        if removed or self.leader == -1:
            self.elect(self.leader if self.leader in self.replicas else self._candidate(running))

    def _elect_uncleanly_if_allowed(self, running: Iterable[int]) -> None:
        if self.leader == -1 and self.topic.config.booleans["unclean.leader.election.enable"]:
            self.elect_uncleanly(running)

    def _catch_up(self, running: Iterable[int]) -> None:
        self.isr += [node for node in self.replicas if node in running and node not in self.isr]
        for node in self.isr:
            self.lagging.pop(node, None)

    def _candidate(self, running: Iterable[int]) -> int:
        return next((node for node in self.replicas if node in self.isr and node in running), -1)


class Topic:
    """A topic: its id (16 bytes), configs and partitions. `memory` counts what their logs take, where that is limited."""

    def __init__(self, name: str, topic_id: bytes, config: TopicConfig, memory: LogMemory | None = None) -> None:
        self.name = name
        self.id = topic_id
        self.config = config
        self.memory = memory
        self.partitions: list[Partition] = []

    @property
    def is_internal(self) -> bool:
        """Whether Kafka made it for itself."""
        return self.name in INTERNAL_TOPICS

    def partition(self, index: int) -> Partition | None:
        """The partition of that index, if there is one."""
        return self.partitions[index] if 0 <= index < len(self.partitions) else None

    def add_partitions(self, assignments: Iterable[Sequence[int]], running: Iterable[int]) -> None:
        """Adds a partition for each list of replicas; those on running nodes are in sync."""
        for replicas in assignments:
            self.partitions.append(Partition(self, len(self.partitions), replicas, [node for node in replicas if node in running]))


def illegal_name(name: str) -> str | None:
    """What is wrong with a topic's name, if anything (Kafka's `Topic.validate`)."""
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    if len(name) > MAX_NAME_LENGTH:
        return f"the length of '{name}' is longer than the max allowed length {MAX_NAME_LENGTH}"
    if not _LEGAL_NAME.fullmatch(name):
        return f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    return None


def metric_name(name: str) -> str:
    """The name under which Kafka's metrics show a topic: they do not tell '.' from '_'."""
    return name.replace(".", "_")


def check_name(name: str, existing: Mapping[str, str]) -> None:
    """Raises INVALID_TOPIC_EXCEPTION for an illegal name, or one that Kafka's metrics could not tell from another.

    `existing` maps the metric names of the topics that exist to their names, so that the check costs one look-up.
    """
    if reason := illegal_name(name):
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {reason}")
    if other := existing.get(metric_name(name)):
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic '{name}' collides with existing topic: {other}")


def place_replicas(nodes: Sequence[int], partitions: int, replication_factor: int, first: int, random: Random) -> list[list[int]]:
    """Replicas for `partitions` new partitions: leaders in turn over the nodes, followers behind them with a growing shift.

    `first` is the index of the first new partition; a topic that begins does so at a random node.
    """
    start = random.randrange(len(nodes))
    placed = []
    for index in range(first, first + partitions):
        leader = start + index
        shift = index // len(nodes) % max(len(nodes) - 1, 1)
        followers = [(leader + 1 + (shift + n) % (len(nodes) - 1)) for n in range(replication_factor - 1)]
        placed.append([nodes[node % len(nodes)] for node in (leader, *followers)])
    return placed
