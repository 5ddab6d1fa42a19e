"""The log levels that clients see and change as the configs of BROKER_LOGGER resources (KIP-412; Kafka's RuntimeLoggerManager).

Kafka's brokers are processes with loggers of their own. Here all nodes of a process write to the same loggers, so a level that is set on
one node applies to all. The levels from before are set again when the cluster stops or its state is replaced, because the loggers belong to
the program in which the cluster runs. For the same reason, `root` is not Python's root logger but the parents of the broker's own loggers.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

ROOT = "root"
PARENTS = ("kafka", "odradek", "org.apache.kafka", "com.yammer", "state", "LogFutureTimestampLogger")
LOGGERS = (
    "LogFutureTimestampLogger",
    "com.yammer.metrics.reporting.JmxReporter",
    "kafka.cluster.Partition",
    "kafka.controller.KafkaController",
    "kafka.coordinator.group.GroupCoordinator",
    "kafka.coordinator.group.GroupCoordinatorService",
    "kafka.coordinator.transaction.TransactionCoordinator",
    "kafka.coordinator.transaction.TransactionMarkerChannelManager",
    "kafka.log.LogCleaner",
    "kafka.log.LogManager",
    "kafka.network.ConnectionQuotas",
    "kafka.network.DataPlaneAcceptor",
    "kafka.network.Processor",
    "kafka.network.RequestChannel$",
    "kafka.network.SocketServer",
    "kafka.request.logger",
    "kafka.server.BrokerLifecycleManager",
    "kafka.server.BrokerServer",
    "kafka.server.ConfigAdminManager",
    "kafka.server.ControllerApis",
    "kafka.server.ControllerRegistrationManager",
    "kafka.server.ControllerServer",
    "kafka.server.KafkaApis",
    "kafka.server.KafkaConfig",
    "kafka.server.KafkaRaftServer",
    "kafka.server.KafkaRequestHandler",
    "kafka.server.KafkaServer",
    "kafka.server.ReplicaFetcherManager",
    "kafka.server.ReplicaManager",
    "kafka.server.ReplicaManager$LogDirFailureHandler",
    "kafka.server.ReplicationQuotaManager",
    "kafka.server.SharedServer",
    "kafka.server.metadata.BrokerMetadataPublisher",
    "kafka.server.metadata.DynamicConfigPublisher",
    "kafka.server.share.ShareCoordinatorMetadataCacheHelperImpl",
    "kafka.server.share.SharePartitionManager",
    "kafka.utils.KafkaScheduler",
    "kafka.utils.Log4jControllerRegistration$",
    "odradek.capture",
    "odradek.control",
    "odradek.schema_registry",
    "org.apache.kafka.clients.ClientUtils",
    "org.apache.kafka.clients.ClusterConnectionStates",
    "org.apache.kafka.clients.CommonClientConfigs",
    "org.apache.kafka.clients.NetworkClient",
    "org.apache.kafka.common.config.AbstractConfig",
    "org.apache.kafka.common.config.ConfigDef",
    "org.apache.kafka.common.metrics.JmxReporter",
    "org.apache.kafka.common.metrics.Metrics",
    "org.apache.kafka.common.metrics.stats.Percentiles",
    "org.apache.kafka.common.network.ChannelBuilders",
    "org.apache.kafka.common.network.NetworkReceive",
    "org.apache.kafka.common.network.Selector",
    "org.apache.kafka.common.protocol.Errors",
    "org.apache.kafka.common.record.internal.ControlRecordType",
    "org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever",
    "org.apache.kafka.common.utils.AppInfoParser",
    "org.apache.kafka.common.utils.ConfigUtils",
    "org.apache.kafka.common.utils.KafkaThread",
    "org.apache.kafka.common.utils.LoggingSignalHandler",
    "org.apache.kafka.common.utils.ThreadUtils",
    "org.apache.kafka.common.utils.Utils",
    "org.apache.kafka.controller.AclControlManager",
    "org.apache.kafka.controller.BrokerHeartbeatManager",
    "org.apache.kafka.controller.ClientQuotaControlManager",
    "org.apache.kafka.controller.ClusterControlManager",
    "org.apache.kafka.controller.ConfigurationControlManager",
    "org.apache.kafka.controller.DelegationTokenControlManager",
    "org.apache.kafka.controller.EventPerformanceMonitor",
    "org.apache.kafka.controller.FeatureControlManager",
    "org.apache.kafka.controller.OffsetControlManager",
    "org.apache.kafka.controller.PeriodicTaskControlManager",
    "org.apache.kafka.controller.ProducerIdControlManager",
    "org.apache.kafka.controller.QuorumController",
    "org.apache.kafka.controller.ReplicationControlManager",
    "org.apache.kafka.controller.ScramControlManager",
    "org.apache.kafka.coordinator.common.runtime.CoordinatorLoaderImpl",
    "org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime",
    "org.apache.kafka.coordinator.common.runtime.MultiThreadedEventProcessor",
    "org.apache.kafka.coordinator.common.runtime.MultiThreadedEventProcessor$EventProcessorThread",
    "org.apache.kafka.coordinator.group.GroupConfig",
    "org.apache.kafka.coordinator.group.GroupCoordinatorConfig",
    "org.apache.kafka.coordinator.group.GroupCoordinatorService",
    "org.apache.kafka.coordinator.group.assignor.SimpleAssignor",
    "org.apache.kafka.coordinator.group.assignor.UniformAssignor",
    "org.apache.kafka.coordinator.share.ShareCoordinatorService",
    "org.apache.kafka.coordinator.share.ShareCoordinatorShard",
    "org.apache.kafka.coordinator.transaction.RPCProducerIdManager",
    "org.apache.kafka.deferred.DeferredEventQueue",
    "org.apache.kafka.image.loader.MetadataBatchLoader",
    "org.apache.kafka.image.loader.MetadataLoader",
    "org.apache.kafka.image.publisher.BrokerRegistrationTracker",
    "org.apache.kafka.image.publisher.SnapshotEmitter",
    "org.apache.kafka.image.publisher.SnapshotGenerator",
    "org.apache.kafka.metadata.KRaftMetadataCache",
    "org.apache.kafka.metadata.ListenerInfo",
    "org.apache.kafka.metadata.properties.MetaPropertiesEnsemble",
    "org.apache.kafka.metadata.publisher.AclPublisher",
    "org.apache.kafka.metadata.publisher.FeaturesPublisher",
    "org.apache.kafka.metadata.util.BatchFileReader",
    "org.apache.kafka.queue.KafkaEventQueue",
    "org.apache.kafka.raft.CandidateState",
    "org.apache.kafka.raft.FileQuorumStateStore",
    "org.apache.kafka.raft.KafkaNetworkChannel",
    "org.apache.kafka.raft.KafkaNetworkChannel$SendThread",
    "org.apache.kafka.raft.KafkaRaftClient",
    "org.apache.kafka.raft.KafkaRaftClientDriver",
    "org.apache.kafka.raft.LeaderState",
    "org.apache.kafka.raft.ProspectiveState",
    "org.apache.kafka.raft.QuorumState",
    "org.apache.kafka.raft.TimingWheelExpirationService$ExpiredOperationReaper",
    "org.apache.kafka.raft.UnattachedState",
    "org.apache.kafka.raft.internals.AddVoterHandler",
    "org.apache.kafka.raft.internals.DefaultRequestSender",
    "org.apache.kafka.raft.internals.KRaftControlRecordStateMachine",
    "org.apache.kafka.raft.internals.KafkaRaftLog",
    "org.apache.kafka.raft.internals.RecordsIterator",
    "org.apache.kafka.raft.internals.RemoveVoterHandler",
    "org.apache.kafka.raft.internals.UpdateVoterHandler",
    "org.apache.kafka.raft.internals.VoterSetHistory",
    "org.apache.kafka.server.AssignmentsManager",
    "org.apache.kafka.server.BrokerFeatures",
    "org.apache.kafka.server.BrokerLifecycleManager",
    "org.apache.kafka.server.ClientMetricsManager",
    "org.apache.kafka.server.DelayedActionQueue",
    "org.apache.kafka.server.FetchManager",
    "org.apache.kafka.server.FetchSessionCacheShard",
    "org.apache.kafka.server.NodeToControllerChannelManagerImpl",
    "org.apache.kafka.server.NodeToControllerRequestThread",
    "org.apache.kafka.server.config.ConfigSynonym",
    "org.apache.kafka.server.config.DynamicProducerStateManagerConfig",
    "org.apache.kafka.server.fault.LoggingFaultHandler",
    "org.apache.kafka.server.fault.ProcessTerminatingFaultHandler",
    "org.apache.kafka.server.logger.LoggingController",
    "org.apache.kafka.server.metrics.LinuxIoMetricsCollector",
    "org.apache.kafka.server.network.EndpointReadyFutures",
    "org.apache.kafka.server.purgatory.DelayedOperationPurgatory",
    "org.apache.kafka.server.purgatory.DelayedOperationPurgatory$ExpiredOperationReaper",
    "org.apache.kafka.server.quota.ClientQuotaManager",
    "org.apache.kafka.server.quota.ClientQuotaManager$ThrottledChannelReaper",
    "org.apache.kafka.server.quota.ControllerMutationQuotaManager",
    "org.apache.kafka.server.share.persister.DefaultStatePersister",
    "org.apache.kafka.server.share.persister.PersisterStateManager$SendThread",
    "org.apache.kafka.server.transaction.AddPartitionsToTxnManager",
    "org.apache.kafka.server.util.FileLock",
    "org.apache.kafka.server.util.KafkaScheduler",
    "org.apache.kafka.server.util.NetworkPartitionMetadataClient",
    "org.apache.kafka.server.util.timer.SystemTimerReaper$Reaper",
    "org.apache.kafka.snapshot.Snapshots",
    "org.apache.kafka.storage.internals.checkpoint.CheckpointFileWithFailureHandler",
    "org.apache.kafka.storage.internals.checkpoint.CleanShutdownFileHandler",
    "org.apache.kafka.storage.internals.epoch.LeaderEpochFileCache",
    "org.apache.kafka.storage.internals.log.AbstractIndex",
    "org.apache.kafka.storage.internals.log.Cleaner",
    "org.apache.kafka.storage.internals.log.LocalLog",
    "org.apache.kafka.storage.internals.log.LogCleaner",
    "org.apache.kafka.storage.internals.log.LogCleaner$CleanerThread",
    "org.apache.kafka.storage.internals.log.LogDirFailureChannel",
    "org.apache.kafka.storage.internals.log.LogLoader",
    "org.apache.kafka.storage.internals.log.LogSegment",
    "org.apache.kafka.storage.internals.log.OffsetIndex",
    "org.apache.kafka.storage.internals.log.ProducerStateManager",
    "org.apache.kafka.storage.internals.log.TimeIndex",
    "org.apache.kafka.storage.internals.log.UnifiedLog",
    "org.apache.kafka.storage.internals.utils.Throttler",
    "org.apache.kafka.storage.log.metrics.BrokerTopicStats",
    "org.apache.kafka.timeline.SnapshotRegistry",
    "state.change.logger",
)
"""The loggers that Apache Kafka 4.3 lists, and those of this broker. Many of Kafka's have nothing to log here."""
LEVELS = {
    "DEBUG": logging.DEBUG,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
    "INFO": logging.INFO,
    "TRACE": 5,
    "WARN": logging.WARNING,
}
"""The levels by Kafka's names. TRACE is below all of Python's."""


class LogLevels:
    """The levels of the broker's loggers."""

    def __init__(self) -> None:
        self._before: dict[str, int] = {}

    def describe(self) -> Mapping[str, str]:
        """Returns the level of each logger by name, whether it is its own or that of a parent."""
        return {name: _name_of(logging.getLogger(PARENTS[0] if name == ROOT else name).getEffectiveLevel()) for name in (*LOGGERS, ROOT)}

    def set(self, name: str, level: str | None) -> None:
        """Sets the level of a logger, whose name must be in LOGGERS or ROOT; with None, it gets that of its parent."""
        for each in PARENTS if name == ROOT else (name,):
            logger = logging.getLogger(each)
            self._before.setdefault(each, logger.level)
            logger.setLevel(logging.NOTSET if level is None else LEVELS[level])

    def restore(self) -> None:
        """Sets all levels as they were before the first change."""
        for name, level in self._before.items():
            logging.getLogger(name).setLevel(level)
        self._before.clear()


def _name_of(level: int) -> str:
    """Returns Kafka's name of the highest level that lets the same entries pass, such as TRACE for 1."""
    return next((name for name, value in sorted(LEVELS.items(), key=lambda item: item[1]) if level <= value), "FATAL")
