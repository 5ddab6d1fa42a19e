"""The emulated cluster: its nodes, topics, leaders and coordinators. Pure state; nothing here waits or writes."""

from __future__ import annotations

import logging
from base64 import urlsafe_b64encode
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from random import Random

from ..protocol.errors import ErrorCode, KafkaError
from .config import BrokerConfig, InvalidConfig, TopicConfig, validate_topic_configs
from .groups.coordinator import Groups, GroupSettings
from .listeners import ClusterConfig, Listener, NodeConfig
from .timers import Timers
from .topics import CONSUMER_OFFSETS, TRANSACTION_STATE, Partition, Topic, check_name, place_replicas

MAX_PARTITIONS_PER_REQUEST = 10_000

log = logging.getLogger("kafka.controller.KafkaController")


class Broker:
    """One emulated node, as its clients see it."""

    def __init__(self, cluster: ClusterState, config: NodeConfig, settings: BrokerConfig) -> None:
        self.cluster = cluster
        self.node_id = config.node_id
        self.rack = config.rack
        self.listeners: dict[str, Listener] = {listener.name: listener for listener in config.listeners}
        self.config = settings
        self.running = True
        self.request_max_bytes: int = settings.integers["socket.request.max.bytes"]

    def __repr__(self) -> str:
        return f"Broker({self.node_id})"

    @property
    def groups(self) -> Groups:
        """The state of all groups: it moves with the coordinator, so the nodes share it."""
        return self.cluster.groups

    def is_coordinator(self, group_id: str) -> bool:
        """Whether this node coordinates a group."""
        partition = self.cluster.coordinator(group_id, CONSUMER_OFFSETS)
        return partition is not None and partition.leader == self.node_id


class ClusterState:
    """All that the brokers of the cluster agree on."""

    def __init__(self, config: ClusterConfig, timers: Timers, random: Random) -> None:
        self.timers = timers
        self.random = random
        self.cluster_id = config.cluster_id or urlsafe_b64encode(random.randbytes(16)).decode().rstrip("=")
        self.brokers = {node.node_id: Broker(self, node, BrokerConfig(node.properties, nodes=len(config.nodes))) for node in config.nodes}
        self.config = next(iter(self.brokers.values())).config
        self.topics: dict[str, Topic] = {}
        self.topics_by_id: dict[bytes, Topic] = {}
        self.groups = Groups(timers, random, GroupSettings.of(self.config))
        self.wake: Callable[[Hashable], None] = lambda key: None
        self._next_producer_id = 0

    # Nodes

    @property
    def running(self) -> list[int]:
        """The ids of the nodes that are up, ascending."""
        return sorted(node_id for node_id, broker in self.brokers.items() if broker.running)

    @property
    def controller_id(self) -> int:
        """A live broker, to which clients send what a controller does (KRaft brokers forward it); -1 if none is up."""
        return next(iter(self.running), -1)

    def partitions(self) -> Iterable[Partition]:
        """All partitions of all topics."""
        return (partition for topic in self.topics.values() for partition in topic.partitions)

    def stop_node(self, node_id: int) -> None:
        """Takes a node away: leaders move to the next in-sync replica in a new epoch, in-sync replicas shrink."""
        self.brokers[node_id].running = False
        for partition in self.partitions():
            partition.node_stopped(node_id, self.running)
            self.wake(partition)
        log.info("node %d is gone; running nodes: %s", node_id, self.running)

    def start_node(self, node_id: int) -> None:
        """Brings a node back: it has caught up at once, and leads where nobody did. Preferred leaders return later, as in Kafka."""
        self.brokers[node_id].running = True
        for partition in self.partitions():
            if node_id in partition.replicas:
                partition.node_started(self.running)
                self.wake(partition)
        log.info("node %d is back; running nodes: %s", node_id, self.running)
        if self.config.booleans["auto.leader.rebalance.enable"]:
            interval_s = self.config.integers["leader.imbalance.check.interval.seconds"]
            self.timers.set("leader rebalance", interval_s * 1000, self.rebalance_leaders)

    def rebalance_leaders(self) -> None:
        """Gives leaderships back to the first replica of each partition."""
        for partition in self.partitions():
            if partition.prefer_first_replica():
                self.wake(partition)

    # Topics

    def create_topic(
        self,
        name: str,
        partitions: int = -1,
        replication_factor: int = -1,
        assignments: Sequence[Sequence[int]] | None = None,
        configs: Mapping[str, str | None] | None = None,
        *,
        validate_only: bool = False,
    ) -> Topic:
        """Creates a topic; -1 means the broker's default. Raises KafkaError with the code and text of CreateTopics.

        With `validate_only` the topic is made but not kept.
        """
        if name in self.topics:
            raise KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
        check_name(name, self.topics)
        topic = Topic(name, self.random.randbytes(16), self._topic_config(configs or {}))
        topic.add_partitions(assignments or self._place(partitions, replication_factor, 0), self.running)
        if not validate_only:
            self.topics[name] = self.topics_by_id[topic.id] = topic
            log.info("created topic %s with %d partitions", name, len(topic.partitions))
        return topic

    def _topic_config(self, configs: Mapping[str, str | None]) -> TopicConfig:
        try:
            validate_topic_configs(configs)
        except InvalidConfig as error:
            raise KafkaError(ErrorCode.INVALID_CONFIG, str(error)) from None
        return TopicConfig(self.config, {name: text for name, text in configs.items() if text is not None})

    def _place(self, partitions: int, replication_factor: int, first: int) -> list[list[int]]:
        if partitions == -1:
            partitions = self.config.integers["num.partitions"]
        if replication_factor == -1:
            replication_factor = self.config.integers["default.replication.factor"]
        if partitions <= 0:
            raise KafkaError(ErrorCode.INVALID_PARTITIONS, "Number of partitions was set to an invalid non-positive value.")
        if replication_factor <= 0:
            raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, "Replication factor must be larger than 0, or -1 for the default.")
        if replication_factor > len(self.brokers):
            raise KafkaError(
                ErrorCode.INVALID_REPLICATION_FACTOR,
                f"Unable to replicate the partition {replication_factor} time(s): The target replication factor of "
                f"{replication_factor} cannot be reached because only {len(self.brokers)} broker(s) are registered.",
            )
        # A node that is down gets what the others cannot hold: it stays registered (Kafka's StripedReplicaPlacer).
        running = self.running
        stopped = [node for node in self.brokers if node not in running]
        placed = place_replicas(running, partitions, min(replication_factor, len(running)), first, self.random)
        return [replicas + stopped[: replication_factor - len(replicas)] for replicas in placed]

    def check_assignments(self, assignments: Sequence[Sequence[int]]) -> None:
        """Raises INVALID_REPLICA_ASSIGNMENT for replica lists that no topic can have."""
        for replicas in assignments:
            if not replicas:
                problem = "The manual partition assignment includes an empty replica list."
            elif len(set(replicas)) != len(replicas):
                problem = f"The manual partition assignment includes the broker {_repeated(replicas)} more than once."
            elif unknown := [node for node in replicas if node not in self.brokers]:
                problem = f"The manual partition assignment includes broker {unknown[0]}, but no such broker is registered."
            elif len(replicas) != len(assignments[0]):
                problem = (
                    f"The manual partition assignment includes a partition with {len(replicas)} replica(s), "
                    f"but this is not consistent with previous partitions, which have {len(assignments[0])} replica(s)."
                )
            else:
                continue
            raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, problem)

    def new_partitions(self, topic: Topic, count: int, assignments: Sequence[Sequence[int]] | None) -> list[list[int]]:
        """The replica lists that raise a topic's partitions to `count`. Raises KafkaError as CreatePartitions answers."""
        present = len(topic.partitions)
        if count == present:
            raise KafkaError(ErrorCode.INVALID_PARTITIONS, f"Topic already has {present} partition(s).")
        if count < present:
            raise KafkaError(
                ErrorCode.INVALID_PARTITIONS,
                f"The topic {topic.name} currently has {present} partition(s); {count} would not be an increase.",
            )
        if assignments is None:
            return self._place(count - present, len(topic.partitions[0].replicas), present)
        if len(assignments) != count - present:
            raise KafkaError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"Attempted to add {count - present} additional partition(s), but only {len(assignments)} assignment(s) were specified.",
            )
        self.check_assignments([topic.partitions[0].replicas, *assignments])
        return [list(replicas) for replicas in assignments]

    def delete_topic(self, topic: Topic) -> None:
        """Removes a topic with its records and the offsets committed for it; whoever waits for it is woken."""
        del self.topics[topic.name], self.topics_by_id[topic.id]
        for partition in topic.partitions:
            partition.leader = -1
            self.wake(partition)
        self.groups.topic_deleted(topic.name)
        log.info("deleted topic %s", topic.name)

    # Coordinators

    def coordinator(self, key: str, topic_name: str) -> Partition | None:
        """The partition whose leader coordinates a group or transaction, once the internal topic is there."""
        topic = self.topics.get(topic_name)
        return topic.partitions[abs_java_hash(key) % len(topic.partitions)] if topic else None

    def ensure_internal(self, name: str) -> bool:
        """Makes an internal topic when the first client asks for it or for a coordinator, as Kafka does; False for other topics."""
        prefix = {CONSUMER_OFFSETS: "offsets.topic", TRANSACTION_STATE: "transaction.state.log"}.get(name)
        if prefix is None:
            return False
        if name not in self.topics and self.running:
            integers = self.config.integers
            compact = {"cleanup.policy": "compact", "compression.type": "producer"}
            self.create_topic(name, integers[f"{prefix}.num.partitions"], integers[f"{prefix}.replication.factor"], configs=compact)
        return True

    def next_producer_id(self) -> int:
        """A producer id that nobody had before."""
        self._next_producer_id += 1
        return self._next_producer_id - 1


def _repeated(nodes: Sequence[int]) -> int:
    return next(node for node in nodes if nodes.count(node) > 1)


def abs_java_hash(key: str) -> int:
    """`Utils.abs(key.hashCode())` of Java, over UTF-16 units: which coordinator partition a key belongs to."""
    value = 0
    data = key.encode("utf-16-be", "surrogatepass")
    for unit in range(0, len(data), 2):
        value = (31 * value + (data[unit] << 8) + data[unit + 1]) & 0xFFFFFFFF
    signed = value - (1 << 32) if value > 0x7FFFFFFF else value
    return 0 if signed == -(1 << 31) else abs(signed)
