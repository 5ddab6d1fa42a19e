"""The emulated cluster: its nodes, topics, leaders and coordinators. Pure state; nothing here waits or writes."""

from __future__ import annotations

import logging
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from random import Random
from typing import Any, NamedTuple

from ...protocol.coordinator_records import CoordinatorRecord
from ...protocol.errors import ErrorCode, KafkaError
from ...storage.memory import LogMemory
from ...storage.producers import StaleCoordinatorEpoch, StaleProducerEpoch
from ..groups.consumer.resolutions import Resolutions
from ..groups.coordinator import Groups, GroupSettings
from ..kafka_quirks.java_hash import abs_java_hash
from ..scheduling.turns import Turns
from ..security.authorizer import authorizer_of
from ..settings.cluster_config import ClusterConfig, NodeConfig
from ..settings.listeners import Listener
from ..settings.properties import InvalidConfig
from ..settings.validation import validate_topic_configs
from ..settings.values import BrokerConfig, GroupConfig, TopicConfig
from ..topics.cleaning import Upkeep
from ..topics.topic import CONSUMER_OFFSETS, TRANSACTION_STATE, Partition, Topic, check_name, metric_name
from ..transactions.coordinator import Transactions
from ..transactions.settings import TransactionSettings
from ..transactions.transaction import Marker, Producer, TopicPartition
from .client_metrics import ClientMetrics
from .features import TRANSACTION_VERSION, Features, FeatureUpdate
from .fetch_sessions import FetchSessions
from .limits import ConnectionQuotas, RequestMemory, parse_overrides
from .placement import check_assignments, check_leadable, place_replicas
from .quotas import ClientQuotas, Entity

MAX_PARTITIONS_PER_REQUEST = 10_000
MIN_SEGMENT_BYTES = 1024 * 1024  # of the topic setting segment.bytes
RACK_AWARE_SELECTOR = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
_PRODUCER_TIMER = "producer expiration"
_REBALANCE_TIMER = "leader rebalance"

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
        self.registered = True
        """Whether the cluster knows the node: False from UnregisterBroker until the node is started again."""
        self.request_max_bytes: int = settings.integers["socket.request.max.bytes"]
        self.max_idle_ms = settings.integers["connections.max.idle.ms"]
        self.request_memory = RequestMemory(settings.integers["queued.max.request.bytes"])
        self.connections = ConnectionQuotas(
            settings.integers["max.connections"],
            settings.integers["max.connections.per.ip"],
            parse_overrides(settings.texts["max.connections.per.ip.overrides"]),
        )
        self.rack_aware = settings.texts.get("replica.selector.class") == RACK_AWARE_SELECTOR
        self.client_metrics = ClientMetrics(settings.integers["telemetry.max.bytes"])
        self.fetch_sessions = FetchSessions(settings.integers["max.incremental.fetch.session.cache.slots"], cluster.random)

    def __repr__(self) -> str:
        return f"Broker({self.node_id})"

    @property
    def groups(self) -> Groups:
        """The state of all groups: it moves with the coordinator, so the nodes share it."""
        return self.cluster.groups

    @property
    def transactions(self) -> Transactions:
        """The state of all transactional ids; the nodes share it, as they do the groups."""
        return self.cluster.transactions

    def is_coordinator(self, key: str, topic_name: str = CONSUMER_OFFSETS) -> bool:
        """Whether this node coordinates a group, or with __transaction_state a transactional id."""
        partition = self.cluster.coordinator(key, topic_name)
        return partition is not None and partition.leader == self.node_id


class ScramCredential(NamedTuple):
    """What a user may be asked to prove that he knows (RFC 5802)."""

    iterations: int
    salt: bytes
    salted_password: bytes


class ClusterState:
    """All that the brokers of the cluster agree on."""

    def __init__(self, config: ClusterConfig, turns: Turns[Any], random: Random) -> None:
        self.timers = timers = turns.timers
        self.wake = turns.wake
        self.background = turns.background
        self.random = random
        self.cluster_id = config.cluster_id or urlsafe_b64encode(random.randbytes(16)).decode().rstrip("=")
        self.brokers = {node.node_id: Broker(self, node, BrokerConfig(node.properties, nodes=len(config.nodes))) for node in config.nodes}
        self.config = next(iter(self.brokers.values())).config
        for broker in self.brokers.values():
            # A new cluster begins with it for all brokers, so that it outlives other settings (eligible leader replicas, KIP-966).
            broker.config.alter(own={}, cluster_wide={"min.insync.replicas": str(self.config.integers["min.insync.replicas"])})
        limit_bytes = config.max_memory_bytes
        self.log_memory = None if limit_bytes is None else LogMemory(limit_bytes, partial(_report_full, limit_bytes))
        self.topics: dict[str, Topic] = {}
        self.topics_by_id: dict[bytes, Topic] = {}
        self._names_by_metric_name: dict[str, str] = {}
        self.topics_version = 0
        """Another number whenever a topic or a partition came or went."""
        self.metadata_records = len(self.brokers)
        """How many changes the log of the cluster's metadata would hold."""
        self._began_ms = timers.now_ms
        self.group_configs: dict[str, GroupConfig] = {}
        """Settings of single groups, for those that have any."""
        self.regexes = Resolutions(self.topics, turns.background)
        """The regular expressions that groups subscribe to."""
        self.groups = Groups(timers, random, GroupSettings.of(self.config), self)
        self.upkeep = Upkeep(self.topics.values(), timers, self.config, turns.wake)
        self.transactions = Transactions(timers, TransactionSettings.of(self.config), self)
        self.features = Features(config.transaction_version)
        self.quotas = ClientQuotas()
        self.authorizer = authorizer_of(self.config)
        self.scram_credentials: dict[str, dict[int, ScramCredential]] = {}
        """User -> mechanism -> credential."""
        self._next_producer_id = 0

    # Nodes

    @property
    def running(self) -> list[int]:
        """The ids of the nodes that are up and registered, ascending."""
        return sorted(node_id for node_id, broker in self.brokers.items() if broker.running and broker.registered)

    @property
    def controller_id(self) -> int:
        """A live broker, to which clients send what a controller does (KRaft brokers forward it); -1 if none is up."""
        return min((node_id for node_id, broker in self.brokers.items() if broker.running), default=-1)

    def partitions(self) -> Iterable[Partition]:
        """All partitions of all topics."""
        return (partition for topic in self.topics.values() for partition in topic.partitions)

    def stop_node(self, node_id: int) -> None:
        """Takes a node away: leaders move to the next in-sync replica in a new epoch, in-sync replicas shrink."""
        self.brokers[node_id].running = False
        self.brokers[node_id].fetch_sessions.clear()
        running = self.running
        for partition in self._partitions_of(node_id):
            partition.node_stopped(node_id, running)
            self.partition_changed(partition)
        self.metadata_records += 1
        log.info("node %d is gone; running nodes: %s", node_id, running)

    def unregister_node(self, node_id: int) -> None:
        """Forgets a node; one that is up loses its leaderships. Raises BROKER_ID_NOT_REGISTERED."""
        broker = self.brokers.get(node_id)
        if broker is None or not broker.registered:
            raise KafkaError(ErrorCode.BROKER_ID_NOT_REGISTERED, f"Broker ID {node_id} is not currently registered")
        broker.registered = False
        running = self.running
        for partition in self._partitions_of(node_id):
            partition.node_stopped(node_id, running)
            self.partition_changed(partition)
        self.metadata_records += 1
        log.info("node %d is no longer registered; running nodes: %s", node_id, running)

    def start_node(self, node_id: int) -> None:
        """Brings a node back: it has caught up at once, and leads where nobody did. Preferred leaders return later, as in Kafka."""
        self.brokers[node_id].running = self.brokers[node_id].registered = True
        running = self.running
        for partition in self._partitions_of(node_id):
            partition.node_started(running)
            self.partition_changed(partition)
        self.metadata_records += 1
        self.transactions.write_missing_markers()
        log.info("node %d is back; running nodes: %s", node_id, running)

    def _partitions_of(self, node_id: int) -> Iterable[Partition]:
        return (partition for partition in self.partitions() if node_id in partition.replicas)

    def rebalance_leaders(self) -> None:
        """Gives leaderships back to the first replica of each partition."""
        for partition in self.partitions():
            if partition.prefer_first_replica():
                self.partition_changed(partition)

    @property
    def metadata_end_offset(self) -> int:
        """Where the log of the cluster's metadata would end: the controller also writes a record at every idle interval."""
        interval_ms = self.config.integers["metadata.max.idle.interval.ms"]
        idle_records = (self.timers.now_ms - self._began_ms) // interval_ms if interval_ms else 0
        return self.metadata_records + idle_records

    # Replicas

    def reassign(self, partition: Partition, replicas: Sequence[int]) -> None:
        """Begins to give a partition other replicas."""
        self.timers.cancel(("reassignment", partition))
        partition.reassign(replicas, self.running)
        self.partition_changed(partition)

    def partition_changed(self, partition: Partition) -> None:
        """Tells those who wait for a partition that its replicas have changed, and has what a reassignment adds catch up in a while.

        A follower asks its leader for a new partition when its present fetch is over, which takes up to replica.fetch.wait.max.ms.
        """
        self.metadata_records += 1
        self.wake(partition)
        if partition.prefers_another_leader:
            self._schedule_rebalance()
        key = ("reassignment", partition)
        if not partition.behind(self.running):
            self.timers.cancel(key)
        elif key not in self.timers:
            self.timers.set(key, self.config.integers["replica.fetch.wait.max.ms"], lambda: self.catch_up(partition))

    def _schedule_rebalance(self) -> None:
        if self.config.booleans["auto.leader.rebalance.enable"] and _REBALANCE_TIMER not in self.timers:
            interval_s = self.config.integers["leader.imbalance.check.interval.seconds"]
            self.timers.set(_REBALANCE_TIMER, interval_s * 1000, self.rebalance_leaders)

    def catch_up(self, partition: Partition) -> None:
        """Has all running replicas of a partition copy what they lack, which completes a reassignment if it waited for them only."""
        running = self.running
        partition.catch_up(partition.behind(running), running)
        self.partition_changed(partition)
        self.transactions.write_missing_markers()

    # Topics

    def topic_name(self, topic_id: bytes) -> str:
        """The name of a topic id, "" if there is no such topic."""
        topic = self.topics_by_id.get(topic_id)
        return topic.name if topic else ""

    def find_partition(self, topic_name: str, index: int) -> Partition | None:
        """A partition, if it is there."""
        topic = self.topics.get(topic_name)
        return topic.partition(index) if topic else None

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
        check_name(name, self._names_by_metric_name)
        topic = Topic(name, self.random.randbytes(16), self._topic_config(configs or {}), self.log_memory)
        if assignments:
            check_assignments(assignments, self.brokers)
            check_leadable(assignments, self.running)
        topic.add_partitions(assignments or self._place(partitions, replication_factor, 0), self.running)
        if not validate_only:
            self.topics[name] = self.topics_by_id[topic.id] = topic
            self._names_by_metric_name[metric_name(name)] = name
            self.topics_version += 1
            self.metadata_records += 1 + len(topic.config.overrides) + len(topic.partitions)
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
        racks = {node_id: broker.rack for node_id, broker in self.brokers.items()}
        return place_replicas(racks, self.running, partitions, replication_factor, first, self.random)

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
        check_assignments([topic.partitions[0].replicas, *assignments], self.brokers)
        check_leadable(assignments, self.running, present)
        return [list(replicas) for replicas in assignments]

    def add_partitions(self, topic: Topic, assignments: Sequence[Sequence[int]]) -> None:
        """Adds a partition for each list of replicas."""
        topic.add_partitions(assignments, self.running)
        self.topics_version += 1
        self.metadata_records += len(assignments)

    def delete_topic(self, topic: Topic) -> None:
        """Removes a topic with its records and the offsets committed for it; whoever waits for it is woken."""
        del self.topics[topic.name], self.topics_by_id[topic.id], self._names_by_metric_name[metric_name(topic.name)]
        self.topics_version += 1
        self.metadata_records += 1
        # Requests and sessions may hold a partition for some time; neither they nor the cycle of references keep its records.
        partitions, topic.partitions = topic.partitions, []
        for partition in partitions:
            partition.leader = -1
            self.timers.cancel(("reassignment", partition))
            partition.delete_before(partition.log.end_offset)
            self.wake(partition)
        self.groups.offsets.topic_deleted(topic.name)
        self.transactions.write_missing_markers()
        log.info("deleted topic %s", topic.name)

    # Settings

    def update_features(self, updates: Mapping[str, FeatureUpdate], *, validate_only: bool) -> None:
        """Finalizes levels of features. Raises INVALID_UPDATE_VERSION."""
        self.features.update(updates, self.controller_id, validate_only=validate_only)
        self.metadata_records += 0 if validate_only else len(updates)

    def alter_quotas(self, entity: Entity, changes: Mapping[str, float | None], *, validate_only: bool) -> None:
        """Sets and removes quotas of clients. Raises INVALID_REQUEST."""
        self.quotas.alter(entity, changes, validate_only=validate_only)
        self.metadata_records += 0 if validate_only else len(changes)

    def alter_brokers(self, broker: Broker | None, overrides: Mapping[str, str]) -> None:
        """Replaces what was set dynamically for one node, or for all; whoever falls back to it takes it over."""
        for each in self.brokers.values():
            if broker is None:
                each.config.alter(own=each.config.own, cluster_wide=overrides)
            elif each is broker:
                each.config.alter(own=overrides, cluster_wide=each.config.cluster_wide)
        for config in (*(topic.config for topic in self.topics.values()), *self.group_configs.values()):
            config.reload()
        for topic in self.topics.values():
            self._min_isr_changed(topic)
        self.groups.reload(GroupSettings.of(self.config))

    def alter_topic(self, topic: Topic, overrides: Mapping[str, str]) -> None:
        """Replaces what was set for a topic."""
        topic.config.alter(overrides)
        self._min_isr_changed(topic)

    def _min_isr_changed(self, topic: Topic) -> None:
        for partition in topic.partitions:
            partition.min_isr_changed()
            self.wake(partition)

    def alter_group(self, group_id: str, overrides: Mapping[str, str]) -> None:
        """Replaces what was set for one group, which need not exist."""
        if overrides:
            self.group_configs[group_id] = GroupConfig(self.config, overrides)
        else:
            self.group_configs.pop(group_id, None)

    # Coordinators

    def coordinator(self, key: str, topic_name: str) -> Partition | None:
        """The partition whose leader coordinates a group or transaction, once the internal topic is there."""
        topic = self.topics.get(topic_name)
        return topic.partitions[abs_java_hash(key) % len(topic.partitions)] if topic else None

    def write(self, group_id: str, records: Sequence[CoordinatorRecord], producer: Producer | None = None) -> None:
        """Appends what the group coordinator has to say to the group's partition of `__consumer_offsets`, as one batch.

        What comes with a producer is part of its transaction. Raises StaleProducerEpoch.
        """
        self._write(self.coordinator(group_id, CONSUMER_OFFSETS), records, producer)

    def write_transaction(self, transactional_id: str, record: CoordinatorRecord) -> None:
        """Appends what the transaction coordinator has to say to the transactional id's partition of `__transaction_state`."""
        self._write(self.coordinator(transactional_id, TRANSACTION_STATE), [record])

    def _write(self, partition: Partition | None, records: Sequence[CoordinatorRecord], producer: Producer | None = None) -> None:
        if partition is not None and partition.leader != -1:
            partition.append_records(records, self.timers.now_ms, producer)
            self.wake(partition)

    def ensure_internal(self, name: str) -> bool:
        """Makes an internal topic when the first client asks for it or for a coordinator, as Kafka does; False for other topics."""
        prefix = {CONSUMER_OFFSETS: "offsets.topic", TRANSACTION_STATE: "transaction.state.log"}.get(name)
        if prefix is None:
            return False
        if name not in self.topics and self.running:
            integers = self.config.integers
            segment_bytes = integers[f"{prefix}.segment.bytes"]
            # Only the internal setting may be as small as the broker's.
            setting = "segment.bytes" if segment_bytes >= MIN_SEGMENT_BYTES else "internal.segment.bytes"
            compact = {"cleanup.policy": "compact", "compression.type": "producer", setting: str(segment_bytes)}
            self.create_topic(name, integers[f"{prefix}.num.partitions"], integers[f"{prefix}.replication.factor"], configs=compact)
        return True

    # Producers and transactions

    @property
    def transaction_version(self) -> int:
        """The finalized level of transaction.version."""
        return self.features.levels[TRANSACTION_VERSION]

    def next_producer_id(self) -> int:
        """A producer id that nobody had before."""
        if _PRODUCER_TIMER not in self.timers:
            self._set_producer_timer()
        self._next_producer_id += 1
        return self._next_producer_id - 1

    def _set_producer_timer(self) -> None:
        interval_ms = self.config.integers["producer.id.expiration.check.interval.ms"]
        self.timers.set(_PRODUCER_TIMER, interval_ms, self._expire_producers)

    def _expire_producers(self) -> None:
        """Has every partition forget its idle producers, as long as there are any."""
        for partition in self.partitions():
            partition.producers.expire(self.timers.now_ms)
        if any(len(partition.producers) for partition in self.partitions()):
            self._set_producer_timer()

    def coordinator_epoch(self, transactional_id: str) -> int | None:
        """The leader epoch of the partition that coordinates a transactional id; None while it has no leader."""
        partition = self.coordinator(transactional_id, TRANSACTION_STATE)
        return None if partition is None or partition.leader == -1 else partition.leader_epoch

    def write_marker(self, partition: TopicPartition, marker: Marker) -> bool:
        """Ends a transaction in one partition; False if it has no leader now. One that is gone, or that knows better, needs nothing."""
        topic = self.topics.get(partition.topic)
        found = topic.partition(partition.partition) if topic else None
        if found is not None and found.leader == -1:
            return False
        if found is not None:
            with suppress(StaleProducerEpoch, StaleCoordinatorEpoch):
                self.end_transaction(found, marker)
        return True

    def end_transaction(self, partition: Partition, marker: Marker) -> None:
        """Ends a transaction in a partition that has a leader; in one of __consumer_offsets, the offsets that wait for it are decided.

        Raises StaleProducerEpoch, StaleCoordinatorEpoch.
        """
        partition.append_marker(marker, self.timers.now_ms)
        self.wake(partition)
        if partition.topic.name == CONSUMER_OFFSETS:
            for group_id in self.groups.offsets.groups_in_transaction(marker.producer.id):
                if self.coordinator(group_id, CONSUMER_OFFSETS) is partition:
                    self.groups.offsets.end_transaction(group_id, marker.producer.id, committed=marker.committed)


def _report_full(limit_bytes: int) -> None:
    log.error("the logs have reached the limit of %d bytes (--max-memory): Produce is refused until records are deleted", limit_bytes)
