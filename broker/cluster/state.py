"""The emulated cluster, as state without I/O: the sum of the parts that own its nodes, topics, coordinators, accounts and settings.

* `controller.py` has the nodes that are alive, and the length of the metadata log; `nodes.py` stops, starts, adds and removes nodes.
* `topics/topics.py` creates, finds and places topics; `replica_control.py` carries out the consequences of changed replicas.
* `coordinator_log.py` has the records of coordinators, and `transaction_log.py` producer ids and transaction markers.
* `topics/retention.py` and `topics/cleaning.py` remove records.

`ClusterState` itself does what concerns several parts: it deletes topics and changes settings. `wake(key)` resumes the requests that wait
for a key, usually a partition. `background(work)` runs a generator in slices between turns.
"""

from __future__ import annotations

import logging
from base64 import urlsafe_b64encode
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property, partial
from operator import attrgetter
from random import Random
from typing import TYPE_CHECKING, Any

from ...storage.blocks import KEPT_BYTES, Blocks
from ...storage.log import Log
from ...storage.memory import LogMemory
from ..scheduling.turns import Turns
from ..scheduling.waiting import NEXT_TURN, Background
from ..settings.cluster_config import ClusterConfig, NodeConfig
from ..settings.values import BATCHES, BrokerConfig, GroupConfig, base_name
from ..topics.cleaning import LogCleaner
from ..topics.names import CONSUMER_OFFSETS, SHARE_GROUP_STATE
from ..topics.partition import Topic
from ..topics.replication import NO_LEADER
from ..topics.retention import LogRetention
from ..topics.topics import Topics
from .broker import Broker
from .controller import Brokers, MetadataLog
from .coordinator_log import CoordinatorLog, CoordinatorMoves
from .features import Features, FeatureUpdate
from .quotas import ClientQuotas, Entity
from .replica_control import ControllerParts, ReplicaControl
from .transaction_log import ProducerIds, TransactionLog

if TYPE_CHECKING:
    from ...protocol.schema import Api, Versions
    from ...protocol.stored.coordinator_records import CoordinatorRecord
    from ...storage.shadowed_log import LogChanges
    from ..groups.consumer.regex_resolutions import Resolutions
    from ..groups.coordinator import Groups
    from ..releases.zookeeper import ZooKeeper
    from ..security.authorizer import Authorizer
    from ..security.sasl_listener import Accounts
    from ..share_partitions.coordinator import ShareCoordinator
    from ..transactions.coordinator import Transactions
    from ..transactions.transaction import Producer
    from .client_metrics import MetricSubscriptions
    from .log_levels import LogLevels
    from .nodes import Nodes

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
        configs = {each.node_id: BrokerConfig(each.properties, nodes=len(config.nodes), rows=config.setting_rows) for each in config.nodes}
        self.config = next(iter(configs.values()))
        self.users = config.users
        """The passwords of the users that were given at the start."""
        self.release = config.release
        """The release of Kafka that clients see, None for 4.3."""
        self.serves: Callable[[Api], Versions] = attrgetter("versions") if self.release is None else self.release.serves
        """Returns the versions of an API that clients may use; the range is empty if the emulated release lacks the API."""
        self.zookeeper = _zookeeper() if self.release is not None and self.release.has_zookeeper else None
        self.check_tls: Callable[[Broker, BrokerConfig], None] = lambda *_: None
        """Raises InvalidConfig if the TLS listeners of a node could not work with new settings. Set by the edge, which does TLS."""
        self.subjects_of_schema: Callable[[int], Collection[str]] = lambda _: ()
        """Returns the subjects that have the schema with an id. Set by the edge, which has the schema registry."""
        self.checks_schemas = False
        """Whether a large batch is being checked for schemas, for which others wait (`appending/schema_ids.py`)."""
        limit_bytes = config.max_memory_bytes
        if log_memory is None and limit_bytes is not None:
            log_memory = LogMemory(limit_bytes, partial(_report_full, limit_bytes))
        self.log_memory = log_memory
        """The memory of all logs where it is limited. Snapshots share it, so a restored cluster continues that of the one before."""
        self.blocks = Blocks(KEPT_BYTES, log_memory, self._blocks_kept, self.background)
        self.metadata_log = MetadataLog(timers, self.config, len(config.nodes))
        self.brokers = Brokers(self.zookeeper)
        self.changed_logs: LogChanges | None = None
        """The logs that have changed since they were written to the data directory, None without one."""
        self.topics = Topics(self.config, random, self.brokers, self._log_maker(config.keeps_data), self.metadata_log.add)
        if self.release is not None:  # because messages of older formats exist only in older releases
            self.topics.on_addition = self._check_format
        self.topics_by_id = self.topics.by_id
        for node in config.nodes:
            self.brokers[node.node_id] = self._new_broker(node, configs[node.node_id])
            # A new Kafka cluster sets this dynamically for all brokers, which takes precedence over the static setting (KIP-966).
            configs[node.node_id].alter(own={}, cluster_wide={"min.insync.replicas": str(self.config.integers["min.insync.replicas"])})
        self.group_configs: dict[str, GroupConfig] = {}
        """The configs of the groups that have any."""
        self.features = Features(config.features, config.release)
        self.quotas = ClientQuotas()
        self._new_coordinators()
        self._new_controls()
        self.log_retention = LogRetention(self.topics.values(), timers, self.config, turns.wake, self.tell)
        self.log_cleaner = LogCleaner(self.topics.values(), timers, self.config, turns.background, self.tell)
        self.authorizer = self._new_authorizer(config.acls) if self.config.texts["authorizer.class.name"] else None
        self.shortcut_allowed = self.authorizer is None
        """Whether connections may serve requests without decoding them (`appending/produce_shortcut.py`).

        It stays False once a topic has kept messages of an older format, because these are converted.
        """
        self.on_event: Callable[..., None] = lambda *_, **__: None
        """Called with the kind and the text of an event for the record, with its node if it has one, and with more fields."""
        self.on_topic_deletion: Callable[[Topic], None] = lambda _: None

    def _log_maker(self, keeps_data: bool) -> Callable[[], Log]:
        """Returns the function that makes the logs of partitions. Logs of a data directory note their changes."""
        if not keeps_data:
            return partial(Log, self.log_memory, self.blocks)
        from ...storage.shadowed_log import LogChanges, ShadowedLog

        self.changed_logs = LogChanges()
        return partial(ShadowedLog, self.changed_logs, self.log_memory, self.blocks)

    def _new_coordinators(self) -> None:
        self.coordinator_log = CoordinatorLog(self.topics, self.timers, self.wake)
        self.coordinator_moves = CoordinatorMoves(self.topics, self.brokers, self.coordinator_log, lambda: self.groups, self.background)
        self.producer_ids = ProducerIds(self.timers, self.config, self.topics.partitions)
        self.transaction_log = TransactionLog(
            self.timers, self.topics, self.coordinator_log, self.features, self.producer_ids, lambda: self.groups, self.wake
        )

    def _new_controls(self) -> None:
        parts = (self.timers, self.config, self.topics, self.brokers, self.metadata_log, self.coordinator_moves)
        self._controller_parts = ControllerParts(*parts)
        self.replica_control = ReplicaControl(self._controller_parts, self.write_missing_markers, self.wake)

    def _new_broker(self, config: NodeConfig, settings: BrokerConfig) -> Broker:
        subscriptions, accounts = lambda: self.metric_subscriptions, lambda: self.accounts
        return Broker(config, settings, self.topics, self.timers, self.random, subscriptions, accounts, share_view=self)

    def _new_authorizer(self, acls: Iterable[str]) -> Authorizer:
        from ..security.authorizer import authorizer_of

        return authorizer_of(self.config, acls)

    @cached_property
    def nodes(self) -> Nodes:
        """Stops, starts, adds and removes nodes."""
        from .nodes import Nodes

        return Nodes(self._controller_parts, self.replica_control, self._new_broker)

    @cached_property
    def metric_subscriptions(self) -> MetricSubscriptions:
        """The subscriptions to the metrics of clients."""
        from .client_metrics import MetricSubscriptions

        return MetricSubscriptions()

    @cached_property
    def log_levels(self) -> LogLevels:
        """The levels of loggers that clients have changed."""
        from .log_levels import LogLevels

        return LogLevels()

    def restore_log_levels(self) -> None:
        """Sets the levels of loggers as they were before clients changed them."""
        if "log_levels" in vars(self):
            self.log_levels.restore()

    @cached_property
    def accounts(self) -> Accounts:
        """The users, their credentials, and delegation tokens."""
        from ..security.sasl_listener import Accounts

        return Accounts(self.users, self.config, self.timers, self.random, self.metadata_log.add)

    def _blocks_kept(self) -> None:
        """Frees the memory that is kept for reuse once no more was given back for a while."""
        self.timers.set(self.blocks, BLOCKS_KEPT_MS, self.blocks.clear)

    @property
    def topics_version(self) -> int:
        """A number that changes whenever a topic or a partition is created or deleted."""
        return self.topics.version

    def _check_format(self, topic: Topic) -> None:
        if topic.config.message_format < BATCHES:
            self.shortcut_allowed = False

    def tell(self, kind: str, text: str, **fields: str | int) -> None:
        """Adds an event to the record."""
        self.on_event(kind, text, **fields)

    def delete_topic(self, topic: Topic) -> None:
        """Deletes a topic with its records and committed offsets, and wakes the requests that wait for its partitions."""
        groups = self.groups_in_use
        if groups is not None:  # before anything else, so that the topic remains if a record cannot be written
            groups.share.topic_deleted(topic.id)
        self.on_topic_deletion(topic)
        self.topics.remove(topic)
        # Requests and fetch sessions may refer to a partition for some time after its deletion. Emptying the log nevertheless frees its
        # memory at once, and emptying the list breaks the reference cycle of topic and partitions.
        partitions, topic.partitions = topic.partitions, []
        for partition in partitions:
            partition.leader = NO_LEADER
            self.replica_control.deleted(partition)
            partition.delete_before(partition.log.end_offset)
            self.wake(partition)
        if groups is not None:
            groups.offsets.topic_deleted(topic.name)
        if SHARE_GROUP_STATE in self.topics:
            self.share_states.topic_deleted(topic.id)
        self.write_missing_markers()
        log.info("deleted topic %s", topic.name)

    def discard(self) -> Background:
        """Releases the logs of a cluster that another one replaces, slice by slice, because unmapping much memory takes long."""
        for topic in self.topics.values():
            partitions, topic.partitions = topic.partitions, []
            for partition in partitions:
                partition.log.empty()
                yield NEXT_TURN
        self.blocks.clear()
        self.blocks.clear()

    # Coordinators

    @cached_property
    def groups(self) -> Groups:
        """All groups of the cluster."""
        from ..groups.coordinator import Groups
        from ..groups.settings import GroupSettings

        return Groups(self.timers, self.random, GroupSettings.of(self.config), self)

    @property
    def groups_in_use(self) -> Groups | None:
        """All groups of the cluster, None while no request has needed any."""
        return vars(self).get("groups")

    @cached_property
    def regexes(self) -> Resolutions:
        """The regular expressions that groups subscribe to."""
        from ..groups.consumer.regex_resolutions import Resolutions

        return Resolutions(self.topics, self.background)

    @cached_property
    def transactions(self) -> Transactions:
        """All transactional ids of the cluster."""
        from ..transactions.coordinator import Transactions, TransactionSettings

        return Transactions(self.timers, TransactionSettings.of(self.config), self.transaction_log)

    @property
    def transactions_in_use(self) -> Transactions | None:
        """All transactional ids of the cluster, None while no request has needed any."""
        return vars(self).get("transactions")

    def write_missing_markers(self) -> None:
        """Writes the markers of transactions that have waited for leaders and replicas, as far as these are there now."""
        if self.transactions_in_use is not None:
            self.transactions_in_use.write_missing_markers()

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

        return ShareCoordinator(self, ShareStateLog(self.topics, self.coordinator_log))

    def write(self, group_id: str, records: Sequence[CoordinatorRecord], producer: Producer | None = None) -> None:
        """Appends records of a group to its partition of `__consumer_offsets`; with a producer, as part of its transaction.

        Raises StaleProducerEpoch if a newer epoch of the producer has written.
        """
        self.coordinator_log.append(group_id, CONSUMER_OFFSETS, records, producer)

    # Settings

    def update_features(self, updates: Mapping[str, FeatureUpdate], *, validate_only: bool) -> None:
        """Finalizes levels of features. Raises KafkaError with INVALID_UPDATE_VERSION."""
        self.features.update(updates, self.brokers.controller_id, validate_only=validate_only)
        self.metadata_log.add(0 if validate_only else len(updates))

    def alter_quotas(self, entity: Entity, changes: Mapping[str, float | None], *, validate_only: bool) -> None:
        """Sets and removes client quotas. Raises KafkaError with INVALID_REQUEST."""
        self.quotas.alter(entity, changes, validate_only=validate_only)
        self.metadata_log.add(0 if validate_only else len(changes))

    def alter_brokers(self, broker: Broker | None, overrides: Mapping[str, str]) -> None:
        """Replaces the dynamic settings of one node or, with None, those of all nodes; topics and groups inherit the new values."""
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
        if self.groups_in_use is not None:
            from ..groups.settings import GroupSettings

            self.groups_in_use.reload(GroupSettings.of(self.config))
        self.replica_control.throttles_changed()
        self.replica_control.schedule_unclean_elections(self.topics.partitions())

    def check_security(self, broker: Broker, overrides: Mapping[str, str], *, cluster_wide: bool) -> None:
        """Raises InvalidConfig if the listeners of a node could not work with its new dynamic settings or, cluster-wide, those of all."""
        if any(base_name(name).startswith(("ssl.", "sasl.")) for name in overrides):
            config = broker.config
            own, all_nodes = (config.own, overrides) if cluster_wide else (overrides, config.cluster_wide)
            changed = config.with_dynamic(own=own, cluster_wide=all_nodes)
            broker.sasl.check(changed)
            self.check_tls(broker, changed)

    def alter_topic(self, topic: Topic, overrides: Mapping[str, str]) -> None:
        """Replaces the configs of a topic."""
        topic.config.alter(overrides)
        topic.changed()
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
    from ..releases.zookeeper import ZooKeeper

    return ZooKeeper()


def _report_full(limit_bytes: int) -> None:
    log.error("the logs have reached the limit of %d bytes (--max-memory): Produce is refused until records are deleted", limit_bytes)
