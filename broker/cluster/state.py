"""The emulated cluster: its nodes, topics, groups, transactions and settings, as state without I/O.

`ClusterState` creates and deletes topics and changes settings. It delegates:

* nodes that stop, fail, return, join and leave to `node_control.py`,
* the consequences of changed replicas to `replica_control.py`, the placement of replicas to `placement.py`, checks to `assignments.py`,
* the records of coordinators to `coordinator_log.py`, transaction markers to `transaction_log.py`, producer ids to `producer_ids.py`,
* retention and compaction to `topics/retention.py` and `topics/cleaning.py`.

`wake(key)` resumes the requests that wait for a key, usually a partition. `background(work)` runs a generator in slices between turns.
"""

from __future__ import annotations

import logging
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from random import Random
from typing import TYPE_CHECKING, Any

from ...protocol.errors import ErrorCode, KafkaError
from ...storage.blocks import KEPT_BYTES, Blocks
from ...storage.memory import LogMemory
from ..plurals import counted
from ..scheduling.turns import Turns
from ..scheduling.waiting import NEXT_TURN, Background
from ..security.authorizer import authorizer_of
from ..settings.cluster_config import ClusterConfig
from ..settings.properties import InvalidConfig
from ..settings.validation import validate_topic_configs
from ..settings.values import BATCHES, BrokerConfig, GroupConfig, TopicConfig
from ..topics.cleaning import LogCleaner
from ..topics.names import CONSUMER_OFFSETS, SHARE_GROUP_STATE, TopicNames
from ..topics.partition import Partition
from ..topics.replication import NO_LEADER
from ..topics.retention import LogRetention
from ..topics.topic import Topic
from .assignments import check_assignments, check_count, check_increase, check_leadable
from .broker import Broker
from .coordinator_log import CoordinatorLog
from .coordinator_moves import CoordinatorMoves
from .features import Features, FeatureUpdate
from .internal_topics import internal_topic
from .log_levels import LogLevels
from .metadata_log import MetadataLog
from .metric_subscriptions import MetricSubscriptions
from .node_control import NodeControl
from .placement import place_replicas
from .producer_ids import ProducerIds
from .quotas import ClientQuotas, Entity
from .replica_control import ReplicaControl
from .transaction_log import TransactionLog

if TYPE_CHECKING:
    from ...protocol.schema import Api, Versions
    from ...protocol.stored.coordinator_records import CoordinatorRecord
    from ..groups.consumer.regex_resolutions import Resolutions
    from ..groups.coordinator import Groups
    from ..releases.zookeeper import ZooKeeper
    from ..security.sasl_listener import Accounts
    from ..share_partitions.coordinator import ShareCoordinator
    from ..transactions.coordinator import Transactions
    from ..transactions.transaction import Producer

log = logging.getLogger("kafka.controller.KafkaController")

BLOCKS_KEPT_MS = 10_000


class ClusterState:
    """The state that all brokers of the cluster share."""

    def __init__(self, config: ClusterConfig, turns: Turns[Any], random: Random, log_memory: LogMemory | None = None) -> None:
        self.timers = timers = turns.timers
        self.wake = turns.wake
        self.background = turns.background
        self.random = random
        self.cluster_id = config.cluster_id or urlsafe_b64encode(random.randbytes(16)).decode().rstrip("=")
        rows = config.setting_rows
        configs = {node.node_id: BrokerConfig(node.properties, nodes=len(config.nodes), rows=rows) for node in config.nodes}
        self.config = next(iter(configs.values()))
        self.users = config.users
        """The passwords of the users that were given at the start."""
        self.release = config.release
        """The release of Kafka that clients see, None for 4.3."""
        self.zookeeper = _zookeeper() if self.release is not None and self.release.has_zookeeper else None
        self.check_tls: Callable[[Broker, BrokerConfig], None] = lambda broker, config: None
        """Raises InvalidConfig if the TLS listeners of a node could not work with new settings. Set by the edge, which does TLS."""
        self.metric_subscriptions = MetricSubscriptions()
        self.brokers = {node.node_id: Broker(self, node, configs[node.node_id]) for node in config.nodes}
        for broker in self.brokers.values():
            # A new Kafka cluster sets this dynamically for all brokers, which takes precedence over the static setting (KIP-966).
            broker.config.alter(own={}, cluster_wide={"min.insync.replicas": str(self.config.integers["min.insync.replicas"])})
        limit_bytes = config.max_memory_bytes
        if log_memory is None and limit_bytes is not None:
            log_memory = LogMemory(limit_bytes, partial(_report_full, limit_bytes))
        self.log_memory = log_memory
        """The memory of all logs where it is limited. Snapshots share it, so a restored cluster continues that of the one before."""
        self.nodes = NodeControl(self)
        self.coordinator_moves = CoordinatorMoves(self)
        self.blocks = Blocks(KEPT_BYTES, self.log_memory, self._blocks_kept, self.background)
        self.topics: dict[str, Topic] = {}
        self.topics_by_id: dict[bytes, Topic] = {}
        self._names = TopicNames()
        self.topics_version = 0
        """Changes whenever a topic or partition is created or deleted."""
        self.first_leader_epoch = self.newest_leader_epoch = 0
        """The leader epoch in which new partitions begin, and the highest one that any partition has had."""
        self.metadata_log = MetadataLog(timers, self.config, len(self.brokers))
        self.group_configs: dict[str, GroupConfig] = {}
        """The configs of the groups that have any."""
        self.coordinator_log = CoordinatorLog(self.topics, timers, turns.wake)
        self.log_retention = LogRetention(self.topics.values(), timers, self.config, turns.wake, self.tell)
        self.log_cleaner = LogCleaner(self.topics.values(), timers, self.config, turns.background, self.tell)
        self.transaction_log = TransactionLog(self)
        self.producer_ids = ProducerIds(timers, self.config, self.partitions)
        self.replica_control = ReplicaControl(self)
        self.log_levels = LogLevels()
        self.features = Features(config.features, config.release)
        self.quotas = ClientQuotas()
        self.authorizer = authorizer_of(self.config, config.acls)
        self.shortcut_allowed = self.authorizer is None
        """Whether connections may serve requests without decoding them (`appending/produce_shortcut.py`).

        It stays False once a topic has kept messages of an older format, because these are converted.
        """

        self.on_event: Callable[..., None] = lambda kind, text, node=None, **fields: None
        """Called with the kind and the text of an event for the record, with its node if it has one, and with more fields."""
        self.on_leader_change: Callable[[Partition], None] = lambda partition: None
        self.on_topic_deletion: Callable[[Topic], None] = lambda topic: None

    @cached_property
    def accounts(self) -> Accounts:
        """The users, their credentials, and delegation tokens."""
        from ..security.sasl_listener import Accounts

        return Accounts(self.users, self.config, self.timers, self.random)

    def _blocks_kept(self) -> None:
        """Frees the memory that is kept for reuse once no more was given back for a while."""
        self.timers.set(self.blocks, BLOCKS_KEPT_MS, self.blocks.clear)

    def serves(self, api: Api) -> Versions:
        """Returns the versions of an API that clients may use; the range is empty if the emulated release lacks the API."""
        return api.versions if self.release is None else self.release.serves(api)

    # Nodes

    @property
    def running(self) -> list[int]:
        """The ids of the nodes that the controller considers alive, in ascending order: those that are registered and not fenced.

        A node that has failed belongs to them until its session expires (`node_control.py`).
        """
        return sorted(node_id for node_id, broker in self.brokers.items() if broker.registered and not broker.fenced)

    @property
    def controller_id(self) -> int:
        """The lowest id of a node that is alive, which is reported to clients as the controller; -1 if no node is.

        Clients send requests for the controller to this node. Any node may be reported, because KRaft brokers forward such requests. In a
        cluster with ZooKeeper it is the elected controller.
        """
        alive = [node_id for node_id, broker in self.brokers.items() if not broker.fenced]
        return min(alive, default=-1) if self.zookeeper is None else self.zookeeper.elect(alive)

    def stop_node(self, node_id: int, *, graceful: bool = True) -> None:
        """Stops a node, with a controlled shutdown unless it is not `graceful`, see `NodeControl.stop`."""
        self.nodes.stop(node_id, graceful=graceful)

    def start_node(self, node_id: int) -> None:
        """Starts and registers a stopped node, see `NodeControl.start`."""
        self.nodes.start(node_id)

    # Topics

    def partitions(self) -> Iterable[Partition]:
        """Returns an iterator over the partitions of all topics."""
        return (partition for topic in self.topics.values() for partition in topic.partitions)

    def topic_name(self, topic_id: bytes) -> str:
        """Returns the name of the topic with this id, "" if there is none."""
        topic = self.topics_by_id.get(topic_id)
        return topic.name if topic else ""

    def find_partition(self, topic_name: str, index: int) -> Partition | None:
        """Returns a partition, None if it does not exist."""
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
        """Creates and returns a topic; with `validate_only` it is returned but not added to the cluster.

        -1 stands for the broker's default. Raises KafkaError with the code and text of CreateTopics.
        """
        if name in self.topics:
            raise KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
        self._names.check(name)
        topic = Topic(name, self.random.randbytes(16), self._topic_config(configs or {}), self.log_memory, self.blocks, self.nodes.silent)
        if assignments:
            check_assignments(assignments, self.brokers)
            check_leadable(assignments, self.running)
        placed = assignments or self._place(partitions, replication_factor)
        topic.add_partitions(placed, self.running, self.first_leader_epoch)
        if not validate_only:
            self.add_topic(topic)
            self.topics_version += 1
            self.metadata_log.add(1 + len(topic.config.overrides) + len(topic.partitions))
            log.info("created topic %s with %s", name, counted(len(topic.partitions), "partition"))
        return topic

    def add_topic(self, topic: Topic) -> None:
        """Adds a topic to those that can be found."""
        self.topics[topic.name] = self.topics_by_id[topic.id] = topic
        topic.on_leader_change = self._leader_changed
        self._names.add(topic.name)
        self._check_format(topic)

    def _check_format(self, topic: Topic) -> None:
        if topic.config.message_format < BATCHES:
            self.shortcut_allowed = False

    def begin_leader_epoch(self, epoch: int) -> None:
        """Begins a leader epoch in all partitions, and in those that will be created, because the state was restored."""
        self.first_leader_epoch = self.newest_leader_epoch = epoch
        for partition in self.partitions():
            partition.begin_epoch(epoch)
        self.coordinator_moves.epochs_raised()

    def _leader_changed(self, partition: Partition) -> None:
        self.newest_leader_epoch = max(self.newest_leader_epoch, partition.leader_epoch)
        self.on_leader_change(partition)

    def tell(self, kind: str, text: str, **fields: str | int) -> None:
        """Tells the record of an event."""
        self.on_event(kind, text, **fields)

    def _topic_config(self, configs: Mapping[str, str | None]) -> TopicConfig:
        try:
            validate_topic_configs(configs, self.config.rows)
        except InvalidConfig as error:
            raise KafkaError(ErrorCode.INVALID_CONFIG, str(error)) from None
        return TopicConfig(self.config, {name: text for name, text in configs.items() if text is not None})

    def _place(self, partitions: int, replication_factor: int) -> list[list[int]]:
        if partitions == -1:
            partitions = self.config.integers["num.partitions"]
        if replication_factor == -1:
            replication_factor = self.config.integers["default.replication.factor"]
        racks = {node_id: broker.rack for node_id, broker in self.brokers.items()}
        return place_replicas(racks, self.running, partitions, replication_factor, self.random)

    def place_partitions(self, topic: Topic, count: int, assignments: Sequence[Sequence[int]] | None) -> list[list[int]]:
        """Returns one list of replicas for each partition that `count` partitions require: the checked `assignments`, if given.

        Raises KafkaError with the code and text of CreatePartitions.
        """
        present, replicas = len(topic.partitions), topic.partitions[0].replicas
        check_increase(topic.name, present, count)
        if assignments is None:
            return self._place(count - present, len(replicas))
        check_count(assignments, count - present)
        check_assignments([replicas, *assignments], self.brokers)
        check_leadable(assignments, self.running, present)
        return [list(replicas) for replicas in assignments]

    def add_partitions(self, topic: Topic, assignments: Sequence[Sequence[int]]) -> None:
        """Adds one partition for each list of replicas."""
        topic.add_partitions(assignments, self.running, self.first_leader_epoch)
        self.topics_version += 1
        self.metadata_log.add(len(assignments))

    def delete_topic(self, topic: Topic) -> None:
        """Deletes a topic with its records and committed offsets, and wakes the requests that wait for its partitions."""
        self.groups.share.topic_deleted(topic.id)  # before anything else, so that the topic remains if a record cannot be written
        self.on_topic_deletion(topic)
        del self.topics[topic.name], self.topics_by_id[topic.id]
        self._names.remove(topic.name)
        self.topics_version += 1
        self.metadata_log.add()
        # Requests and fetch sessions may refer to a partition for some time after its deletion. Emptying the log nevertheless frees its
        # memory at once, and emptying the list breaks the reference cycle of topic and partitions.
        partitions, topic.partitions = topic.partitions, []
        for partition in partitions:
            partition.leader = NO_LEADER
            self.replica_control.deleted(partition)
            partition.delete_before(partition.log.end_offset)
            self.wake(partition)
        self.groups.offsets.topic_deleted(topic.name)
        self._delete_share_states(topic)
        self.transactions.write_missing_markers()
        log.info("deleted topic %s", topic.name)

    def _delete_share_states(self, topic: Topic) -> None:
        if SHARE_GROUP_STATE in self.topics:
            self.share_states.topic_deleted(topic.id)

    def ensure_internal(self, name: str) -> bool:
        """Creates the internal topic `name` if it does not exist and a node is running. Returns False if the name is not internal.

        Kafka creates an internal topic when a client first requests the topic or a coordinator.
        """
        options = internal_topic(name, self.config)
        if options is None:
            return False
        if name not in self.topics and self.running:
            self.create_topic(name, options.partitions, options.replication_factor, configs=options.configs)
        return True

    def discard(self) -> Background:
        """Releases the logs of a cluster that another one replaces, slice by slice, because unmapping much memory takes long."""
        for topic in self.topics.values():
            partitions, topic.partitions = topic.partitions, []
            for partition in partitions:
                partition.log.empty()
                yield NEXT_TURN
        self.blocks.clear()
        self.blocks.clear()

    # Coordinators. They are imported when they are first used, because importing them would take a fifth of the start-up time.

    @cached_property
    def groups(self) -> Groups:
        """All groups of the cluster."""
        from ..groups.coordinator import Groups
        from ..groups.settings import GroupSettings

        return Groups(self.timers, self.random, GroupSettings.of(self.config), self)

    @cached_property
    def regexes(self) -> Resolutions:
        """The regular expressions that groups subscribe to."""
        from ..groups.consumer.regex_resolutions import Resolutions

        return Resolutions(self.topics, self.background)

    @cached_property
    def transactions(self) -> Transactions:
        """All transactional ids of the cluster."""
        from ..transactions.coordinator import Transactions
        from ..transactions.settings import TransactionSettings

        return Transactions(self.timers, TransactionSettings.of(self.config), self.transaction_log)

    @cached_property
    def share_states(self) -> ShareCoordinator:
        """The stored states of the partitions that share groups read, from `__share_group_state`."""
        return self._read_share_states()

    def load_share_states(self) -> None:
        """Reads the states of share partitions before they are first used."""
        self.share_states = self._read_share_states()

    def _read_share_states(self) -> ShareCoordinator:
        from ..share_partitions.coordinator import ShareCoordinator
        from ..share_partitions.state_log import ShareStateLog

        return ShareCoordinator(ShareStateLog(self))

    def coordinator(self, key: str, topic_name: str) -> Partition | None:
        """Returns the partition whose leader coordinates a group or transactional id; None if the internal topic does not exist."""
        return self.coordinator_log.partition(key, topic_name)

    def write(self, group_id: str, records: Sequence[CoordinatorRecord], producer: Producer | None = None) -> None:
        """Appends records of a group to its partition of `__consumer_offsets`; with a producer, as part of its transaction.

        Raises StaleProducerEpoch if a newer epoch of the producer has written.
        """
        self.coordinator_log.append(group_id, CONSUMER_OFFSETS, records, producer)

    # Settings

    def update_features(self, updates: Mapping[str, FeatureUpdate], *, validate_only: bool) -> None:
        """Finalizes levels of features. Raises KafkaError with INVALID_UPDATE_VERSION."""
        self.features.update(updates, self.controller_id, validate_only=validate_only)
        self.metadata_log.add(0 if validate_only else len(updates))

    def alter_quotas(self, entity: Entity, changes: Mapping[str, float | None], *, validate_only: bool) -> None:
        """Sets and removes client quotas. Raises KafkaError with INVALID_REQUEST."""
        self.quotas.alter(entity, changes, validate_only=validate_only)
        self.metadata_log.add(0 if validate_only else len(changes))

    def alter_brokers(self, broker: Broker | None, overrides: Mapping[str, str]) -> None:
        """Replaces the dynamic settings of one node or, with None, those of all nodes; topics and groups inherit the new values."""
        from ..groups.settings import GroupSettings

        for node in self.brokers.values() if broker is None else (broker,):
            node.log_dirs.count()
        if broker is None:
            # The settings of the cluster are those of its first node, which may have been removed.
            for settings in {id(each): each for each in (self.config, *(node.config for node in self.brokers.values()))}.values():
                settings.alter(own=settings.own, cluster_wide=overrides)
        else:
            broker.config.alter(own=overrides, cluster_wide=broker.config.cluster_wide)
        for config in (*(topic.config for topic in self.topics.values()), *self.group_configs.values()):
            config.reload()
        for topic in self.topics.values():
            self._min_isr_changed(topic)
        for node in self.brokers.values():
            if node.loaded_share_partitions is not None:
                node.loaded_share_partitions.settings_changed()
        self.groups.reload(GroupSettings.of(self.config))
        self.replica_control.throttles_changed()
        self.replica_control.schedule_unclean_elections(self.partitions())

    def alter_topic(self, topic: Topic, overrides: Mapping[str, str]) -> None:
        """Replaces the configs of a topic."""
        topic.config.alter(overrides)
        self._min_isr_changed(topic)
        if any(partition.adding for partition in topic.partitions):
            self.replica_control.throttles_changed()
        self._check_format(topic)
        self.replica_control.schedule_unclean_elections(topic.partitions)

    def _min_isr_changed(self, topic: Topic) -> None:
        for partition in topic.partitions:
            partition.min_isr_changed()
            self.wake(partition)

    def alter_group(self, group_id: str, overrides: Mapping[str, str]) -> None:
        """Replaces the configs of a group, which need not exist."""
        if overrides:
            self.group_configs[group_id] = GroupConfig(self.config, overrides)
        else:
            self.group_configs.pop(group_id, None)

    def alter_client_metrics(self, name: str, overrides: Mapping[str, str]) -> None:
        """Replaces the configs of a subscription to client metrics, which is removed without any."""
        self.metric_subscriptions.alter(name, self.config, overrides)


def _zookeeper() -> ZooKeeper:
    from ..releases.zookeeper import ZooKeeper  # imported only if needed, because a start should be fast

    return ZooKeeper()


def _report_full(limit_bytes: int) -> None:
    log.error("the logs have reached the limit of %d bytes (--max-memory): Produce is refused until records are deleted", limit_bytes)
