"""Every setting that Kafka 4.3 knows, as data: one row each.

The rows drive server.properties, `KAFKA_*`, `--set`, CreateTopics and AlterConfigs checks, DescribeConfigs and
docs/configuration.md. Names, types, defaults and ranges are those of Kafka's LogConfig, KafkaConfig and GroupConfig; what differs
on purpose says so in its documentation. `config.py` turns rows and given texts into values.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import NamedTuple


class ConfigType(IntEnum):
    """How a value is written; the numbers are those of DescribeConfigs (KIP-569)."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class Scope(IntEnum):
    """What a setting belongs to; the numbers are Kafka's resource types."""

    TOPIC = 2
    BROKER = 4
    GROUP = 32


Value = bool | int | float | str | tuple[str, ...] | None


class Range(NamedTuple):
    """A number between two bounds, both included, or exactly `or_else`."""

    low: float
    high: float | None = None
    or_else: int | None = None

    def complaint(self, value: Value) -> str | None:
        """What is wrong with `value`, in Kafka's words, or None."""
        assert isinstance(value, int | float)
        too_high = self.high is not None and value > self.high
        if value == self.or_else or not (value < self.low or too_high):
            return None
        if self.or_else is not None:
            return f"Value must be between {self.low} and {self.high} or equal to {self.or_else}"
        return f"Value must be no more than {self.high}" if too_high else f"Value must be at least {self.low}"

    def __str__(self) -> str:
        """For the documentation."""
        upper = f"≥ {self.low}" if self.high is None else f"{self.low} … {self.high}"
        return upper if self.or_else is None else f"{upper} or {self.or_else}"


class OneOf:
    """One of a few words."""

    def __init__(self, *words: str, ignore_case: bool = False) -> None:
        self.words, self.ignore_case = words, ignore_case

    def complaint(self, value: Value) -> str | None:
        """What is wrong with `value`, in Kafka's words, or None."""
        if (str(value).upper() if self.ignore_case else value) in self.words:
            return None
        case = " (case insensitive)" if self.ignore_case else ""
        return f"String must be one of{case}: {', '.join(self.words)}"

    def __str__(self) -> str:
        """For the documentation."""
        return ", ".join(self.words)


class Matches(NamedTuple):
    """A text of a certain form."""

    pattern: re.Pattern[str]
    form: str

    def complaint(self, value: Value) -> str | None:
        """What is wrong with `value`, or None."""
        return None if self.pattern.fullmatch(str(value)) else f"Value must be {self.form}"

    def __str__(self) -> str:
        """For the documentation."""
        return self.form


class Setting(NamedTuple):
    """One row. `default` is parsed already; None is Kafka's null. `valid` holds for each element of a list.

    `synonyms` are broker settings that a value falls back to, in order; `factor` is what one counts in the unit of its synonym (hours in
    milliseconds). `dynamic` says where AlterConfigs may change a broker setting, if at all: for all brokers, for one, or for one listener
    of one. `at_most_nodes` numbers never exceed the number of nodes. `internal` rows are shown only where they are set. `acts` is False
    for what is checked and shown, but changes nothing here.
    """

    scope: Scope
    name: str
    type: ConfigType
    default: Value
    valid: Range | OneOf | Matches | None = None
    documentation: str = ""
    acts: bool = False
    synonyms: tuple[str, ...] = ()
    factor: int = 1
    dynamic: str | None = None
    at_most_nodes: bool = False
    internal: bool = False


BOOLEAN, STRING, INT, SHORT = ConfigType.BOOLEAN, ConfigType.STRING, ConfigType.INT, ConfigType.SHORT
LONG, DOUBLE, LIST, CLASS, PASSWORD = ConfigType.LONG, ConfigType.DOUBLE, ConfigType.LIST, ConfigType.CLASS, ConfigType.PASSWORD
UNKNOWN = ConfigType.UNKNOWN  # a plugin's: Kafka's brokers do not know it, and show it as a secret
TOPIC, BROKER, GROUP = Scope.TOPIC, Scope.BROKER, Scope.GROUP
PER_BROKER, CLUSTER_WIDE, PER_LISTENER = "per-broker", "cluster-wide", "per-listener"
STANDARD_AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
INT_MAX, LONG_MAX, DOUBLE_MAX = 2**31 - 1, 2**63 - 1, 1.7976931348623157e308
MINUTE_MS, HOUR_MS = 60_000, 3_600_000
REPLICAS = Matches(re.compile(r"\*|\d+:\d+"), "* or partition:broker")
OFFSET_RESET = Matches(
    re.compile(r"earliest|latest|by_duration:P(?=[\dT])(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?"),
    "earliest, latest or by_duration:PnDTnHnMn.nS",
)

# fmt: off
SETTINGS: tuple[Setting, ...] = (
    Setting(TOPIC, "cleanup.policy", LIST, ("delete",), OneOf("compact", "delete"), synonyms=("log.cleanup.policy",), acts=True,
            documentation="What happens to old records: delete, compact or both."),
    Setting(TOPIC, "compression.gzip.level", INT, -1, Range(1, 9, or_else=-1), synonyms=("compression.gzip.level",), acts=True,
            documentation="How hard gzip compresses, where `compression.type` asks for it."),
    Setting(TOPIC, "compression.lz4.level", INT, 9, Range(1, 17), synonyms=("compression.lz4.level",), acts=True,
            documentation="How hard lz4 compresses, where `compression.type` asks for it."),
    Setting(TOPIC, "compression.type", STRING, "producer", OneOf("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
            synonyms=("compression.type",), acts=True,
            documentation="The codec in which batches are stored; `producer` keeps each as it came."),
    Setting(TOPIC, "compression.zstd.level", INT, 3, Range(-131_072, 22), synonyms=("compression.zstd.level",), acts=True,
            documentation="How hard zstd compresses, where `compression.type` asks for it."),
    Setting(TOPIC, "delete.retention.ms", LONG, 86_400_000, Range(0), synonyms=("log.cleaner.delete.retention.ms",), acts=True,
            documentation="How long compaction keeps tombstones."),
    Setting(TOPIC, "file.delete.delay.ms", LONG, 60_000, Range(0), synonyms=("log.segment.delete.delay.ms",)),
    Setting(TOPIC, "flush.messages", LONG, LONG_MAX, Range(1), synonyms=("log.flush.interval.messages",)),
    Setting(TOPIC, "flush.ms", LONG, LONG_MAX, Range(0), synonyms=("log.flush.interval.ms", "log.flush.scheduler.interval.ms")),
    Setting(TOPIC, "follower.replication.throttled.replicas", LIST, (), REPLICAS),
    Setting(TOPIC, "index.interval.bytes", INT, 4096, Range(0), synonyms=("log.index.interval.bytes",)),
    Setting(TOPIC, "internal.segment.bytes", INT, None, internal=True, acts=True,
            documentation="As segment.bytes, without its lower bound; for tests."),
    Setting(TOPIC, "leader.replication.throttled.replicas", LIST, (), REPLICAS),
    Setting(TOPIC, "local.retention.bytes", LONG, -2, Range(-2), synonyms=("log.local.retention.bytes",)),
    Setting(TOPIC, "local.retention.ms", LONG, -2, Range(-2), synonyms=("log.local.retention.ms",)),
    Setting(TOPIC, "max.compaction.lag.ms", LONG, LONG_MAX, Range(1), synonyms=("log.cleaner.max.compaction.lag.ms",), acts=True,
            documentation="A record may stay uncompacted for this long at most."),
    Setting(TOPIC, "max.message.bytes", INT, 1_048_588, Range(0), synonyms=("message.max.bytes",), acts=True,
            documentation="The largest record batch that is accepted."),
    Setting(TOPIC, "message.timestamp.after.max.ms", LONG, 3_600_000, Range(0), synonyms=("log.message.timestamp.after.max.ms",),
            acts=True, documentation="How far in the future a record's timestamp may lie."),
    Setting(TOPIC, "message.timestamp.before.max.ms", LONG, LONG_MAX, Range(0), synonyms=("log.message.timestamp.before.max.ms",),
            acts=True, documentation="How far in the past a record's timestamp may lie."),
    Setting(TOPIC, "message.timestamp.type", STRING, "CreateTime", OneOf("CreateTime", "LogAppendTime"),
            synonyms=("log.message.timestamp.type",), acts=True,
            documentation="Whether records keep the client's time (CreateTime) or get the broker's (LogAppendTime)."),
    Setting(TOPIC, "min.cleanable.dirty.ratio", DOUBLE, 0.5, Range(0, 1), synonyms=("log.cleaner.min.cleanable.ratio",), acts=True,
            documentation="The part of a log that must be uncompacted before it is compacted."),
    Setting(TOPIC, "min.compaction.lag.ms", LONG, 0, Range(0), synonyms=("log.cleaner.min.compaction.lag.ms",), acts=True,
            documentation="A record stays uncompacted for this long at least."),
    Setting(TOPIC, "min.insync.replicas", INT, 1, Range(1), synonyms=("min.insync.replicas",), acts=True,
            documentation="Replicas that must be in sync for a write with acks=all."),
    Setting(TOPIC, "preallocate", BOOLEAN, False, synonyms=("log.preallocate",)),
    Setting(TOPIC, "remote.log.copy.disable", BOOLEAN, False),
    Setting(TOPIC, "remote.log.delete.on.disable", BOOLEAN, False),
    Setting(TOPIC, "remote.storage.enable", BOOLEAN, False),
    Setting(TOPIC, "retention.bytes", LONG, -1, synonyms=("log.retention.bytes",), acts=True,
            documentation="The size at which the oldest batches of a partition are deleted; -1 for none."),
    Setting(TOPIC, "retention.ms", LONG, 604_800_000, Range(-1),
            synonyms=("log.retention.ms", "log.retention.minutes", "log.retention.hours"), acts=True,
            documentation="Age at which records are deleted; -1 for never."),
    Setting(TOPIC, "segment.bytes", INT, 1_073_741_824, Range(1_048_576), synonyms=("log.segment.bytes",), acts=True,
            documentation="Size at which a new segment begins; retention deletes whole segments, compaction leaves the newest one alone."),
    Setting(TOPIC, "segment.index.bytes", INT, 10_485_760, Range(4), synonyms=("log.index.size.max.bytes",)),
    Setting(TOPIC, "segment.jitter.ms", LONG, 0, Range(0), synonyms=("log.roll.jitter.ms", "log.roll.jitter.hours")),
    Setting(TOPIC, "segment.ms", LONG, 604_800_000, Range(1), synonyms=("log.roll.ms", "log.roll.hours"), acts=True,
            documentation="Age of a segment's first batch at which the next batch begins a new segment."),
    Setting(TOPIC, "unclean.leader.election.enable", BOOLEAN, False, synonyms=("unclean.leader.election.enable",), acts=True,
            documentation="Whether a replica that is out of sync may become leader, at the price of records."),
    Setting(BROKER, "add.partitions.to.txn.retry.backoff.max.ms", INT, 100, Range(0), acts=True,
            documentation="How long a Produce waits for the transaction before to end."),
    Setting(BROKER, "add.partitions.to.txn.retry.backoff.ms", INT, 20, Range(1), acts=True,
            documentation="How often it looks meanwhile."),
    Setting(BROKER, "advertised.listeners", LIST, None, acts=True,
            documentation="Addresses that clients are told to connect to, NAME://host:port; the listeners themselves if it is not set."),
    Setting(BROKER, "allow.everyone.if.no.acl.found", UNKNOWN, None, internal=True, acts=True,
            documentation="Of the authorizer: whether anybody may do anything to what has no ACL."),
    Setting(BROKER, "alter.config.policy.class.name", CLASS, None),
    Setting(BROKER, "alter.log.dirs.replication.quota.window.num", INT, 11, Range(1)),
    Setting(BROKER, "alter.log.dirs.replication.quota.window.size.seconds", INT, 1, Range(1)),
    Setting(BROKER, "authorizer.class.name", STRING, "", OneOf("", STANDARD_AUTHORIZER), acts=True,
            documentation="Kafka's StandardAuthorizer, or none: then ACLs are refused with SECURITY_DISABLED."),
    Setting(BROKER, "auto.create.topics.enable", BOOLEAN, True, acts=True,
            documentation="Creates a missing topic when a client asks for its metadata and allows it."),
    Setting(BROKER, "auto.leader.rebalance.enable", BOOLEAN, True, acts=True,
            documentation="Gives the lead of a partition back to its first replica after a node returned or a reassignment."),
    Setting(BROKER, "background.threads", INT, 10, Range(1), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "broker.heartbeat.interval.ms", INT, 2000),
    Setting(BROKER, "broker.id", INT, -1, acts=True, documentation="Another name of node.id."),
    Setting(BROKER, "broker.rack", STRING, None, acts=True,
            documentation="The rack of this node, shown in metadata; used to spread replicas and to choose near ones."),
    Setting(BROKER, "broker.session.timeout.ms", INT, 9000),
    Setting(BROKER, "client.quota.callback.class", CLASS, None),
    Setting(BROKER, "compression.gzip.level", INT, -1, Range(1, 9, or_else=-1), dynamic=CLUSTER_WIDE, acts=True,
            documentation="How hard gzip compresses, where `compression.type` asks for it."),
    Setting(BROKER, "compression.lz4.level", INT, 9, Range(1, 17), dynamic=CLUSTER_WIDE, acts=True,
            documentation="How hard lz4 compresses, where `compression.type` asks for it."),
    Setting(BROKER, "compression.type", STRING, "producer", OneOf("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
            dynamic=CLUSTER_WIDE, acts=True,
            documentation="The codec in which batches are stored; `producer` keeps each as it came."),
    Setting(BROKER, "compression.zstd.level", INT, 3, Range(-131_072, 22), dynamic=CLUSTER_WIDE, acts=True,
            documentation="How hard zstd compresses, where `compression.type` asks for it."),
    Setting(BROKER, "config.providers", LIST, (), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "connection.failed.authentication.delay.ms", INT, 100, Range(0)),
    Setting(BROKER, "connections.max.idle.ms", LONG, 600_000, acts=True,
            documentation="Closes a connection on which nothing came or went for this long, whatever it waits for; negative for never."),
    Setting(BROKER, "connections.max.reauth.ms", LONG, 0),
    Setting(BROKER, "controlled.shutdown.enable", BOOLEAN, True),
    Setting(BROKER, "controller.listener.names", LIST, None, acts=True,
            documentation="Listeners that belong to controllers; they are not opened."),
    Setting(BROKER, "controller.performance.always.log.threshold.ms", LONG, 2000, Range(0), internal=True),
    Setting(BROKER, "controller.performance.sample.period.ms", LONG, 60_000, Range(100), internal=True),
    Setting(BROKER, "controller.quorum.append.linger.ms", INT, 25, Range(0)),
    Setting(BROKER, "controller.quorum.auto.join.enable", BOOLEAN, False),
    Setting(BROKER, "controller.quorum.bootstrap.servers", LIST, ()),
    Setting(BROKER, "controller.quorum.election.backoff.max.ms", INT, 1000, Range(0)),
    Setting(BROKER, "controller.quorum.election.timeout.ms", INT, 1000, Range(0)),
    Setting(BROKER, "controller.quorum.fetch.max.bytes", INT, 1_048_576, Range(1)),
    Setting(BROKER, "controller.quorum.fetch.snapshot.max.bytes", INT, 1_048_576, Range(1)),
    Setting(BROKER, "controller.quorum.fetch.timeout.ms", INT, 2000, Range(0)),
    Setting(BROKER, "controller.quorum.request.timeout.ms", INT, 2000, Range(0)),
    Setting(BROKER, "controller.quorum.retry.backoff.ms", INT, 20, Range(0)),
    Setting(BROKER, "controller.quorum.voters", LIST, ()),
    Setting(BROKER, "controller.quota.window.num", INT, 11, Range(1)),
    Setting(BROKER, "controller.quota.window.size.seconds", INT, 1, Range(1)),
    Setting(BROKER, "controller.socket.timeout.ms", INT, 30_000),
    Setting(BROKER, "cordoned.log.dirs", LIST, (), dynamic=PER_BROKER),
    Setting(BROKER, "create.topic.policy.class.name", CLASS, None),
    Setting(BROKER, "default.replication.factor", INT, 3, at_most_nodes=True, acts=True,
            documentation="Replicas of a topic created without a number of them (Kafka's default: 1); never more than there are nodes."),
    Setting(BROKER, "delegation.token.expiry.check.interval.ms", LONG, 3_600_000, Range(1)),
    Setting(BROKER, "delegation.token.expiry.time.ms", LONG, 86_400_000, Range(1)),
    Setting(BROKER, "delegation.token.max.lifetime.ms", LONG, 604_800_000, Range(1)),
    Setting(BROKER, "delegation.token.secret.key", PASSWORD, None),
    Setting(BROKER, "delete.records.purgatory.purge.interval.requests", INT, 1),
    Setting(BROKER, "delete.topic.enable", BOOLEAN, True, acts=True, documentation="Whether topics can be deleted."),
    Setting(BROKER, "early.start.listeners", LIST, None),
    Setting(BROKER, "fetch.max.bytes", INT, 57_671_680, Range(1024), acts=True,
            documentation="The most that one fetch answers, whatever the client asks for."),
    Setting(BROKER, "fetch.purgatory.purge.interval.requests", INT, 1000),
    Setting(BROKER, "follower.fetch.last.tiered.offset.enable", BOOLEAN, False, dynamic=CLUSTER_WIDE),
    Setting(BROKER, "follower.replication.throttled.rate", LONG, LONG_MAX, Range(0), dynamic=CLUSTER_WIDE, internal=True),
    Setting(BROKER, "group.consumer.assignment.interval.ms", INT, 1000, Range(0), dynamic=CLUSTER_WIDE, acts=True,
            documentation="The least time between two assignments of a consumer group; members that join meanwhile wait for the next."),
    Setting(BROKER, "group.consumer.assignors", LIST, ("uniform", "range"), acts=True,
            documentation="Server-side assignors that consumer groups may name; the first is the default."),
    Setting(BROKER, "group.consumer.heartbeat.interval.ms", INT, 5000, Range(1), acts=True,
            documentation="How often members of a consumer group are told to send heartbeats."),
    Setting(BROKER, "group.consumer.max.assignment.interval.ms", INT, 15_000, Range(0), acts=True,
            documentation="The most that a group may set as its assignment interval."),
    Setting(BROKER, "group.consumer.max.heartbeat.interval.ms", INT, 15_000, Range(1), acts=True,
            documentation="The most that a group may set as its heartbeat interval."),
    Setting(BROKER, "group.consumer.max.session.timeout.ms", INT, 60_000, Range(1), acts=True,
            documentation="The most that a group may set as its session time-out."),
    Setting(BROKER, "group.consumer.max.size", INT, INT_MAX, Range(1), acts=True,
            documentation="Members that a consumer group may have."),
    Setting(BROKER, "group.consumer.migration.policy", STRING, "bidirectional",
            OneOf("DISABLED", "DOWNGRADE", "UPGRADE", "BIDIRECTIONAL", ignore_case=True), acts=True,
            documentation="Whether a group may change between the classic and the consumer protocol while it has members."),
    Setting(BROKER, "group.consumer.min.assignment.interval.ms", INT, 0, Range(0), acts=True,
            documentation="The least that a group may set as its assignment interval."),
    Setting(BROKER, "group.consumer.min.heartbeat.interval.ms", INT, 5000, Range(1), acts=True,
            documentation="The least that a group may set as its heartbeat interval."),
    Setting(BROKER, "group.consumer.min.session.timeout.ms", INT, 45_000, Range(1), acts=True,
            documentation="The least that a group may set as its session time-out."),
    Setting(BROKER, "group.consumer.regex.refresh.interval.ms", INT, 600_000, Range(10_000), internal=True),
    Setting(BROKER, "group.consumer.session.timeout.ms", INT, 45_000, Range(1), acts=True,
            documentation="A member of a consumer group that is silent for this long is removed."),
    Setting(BROKER, "group.coordinator.append.linger.ms", INT, -1, Range(-1)),
    Setting(BROKER, "group.coordinator.background.threads", INT, 2, Range(1)),
    Setting(BROKER, "group.coordinator.cached.buffer.max.bytes", INT, 1_048_588, Range(524_288), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "group.coordinator.rebalance.protocols", LIST, ("classic", "consumer", "streams"),
            OneOf("consumer", "classic", "share", "streams"), acts=True,
            documentation="The protocols that groups may use. Without `consumer`, requests of that protocol are refused with "
            "UNSUPPORTED_VERSION; a broker without `classic` does not start."),
    Setting(BROKER, "group.coordinator.threads", INT, 4, Range(1)),
    Setting(BROKER, "group.initial.rebalance.delay.ms", INT, 0, acts=True,
            documentation="How long a new classic group waits for more members. Not Kafka's 3000: tests should not wait."),
    Setting(BROKER, "group.max.session.timeout.ms", INT, 1_800_000, acts=True,
            documentation="The longest session time-out that a classic member may ask for."),
    Setting(BROKER, "group.max.size", INT, INT_MAX, Range(1), acts=True, documentation="Members that a classic group may have."),
    Setting(BROKER, "group.min.session.timeout.ms", INT, 6000, acts=True,
            documentation="The shortest session time-out that a classic member may ask for."),
    Setting(BROKER, "group.share.assignment.interval.ms", INT, 1000, Range(0), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "group.share.assignors", LIST, ("simple",)),
    Setting(BROKER, "group.share.delivery.count.limit", INT, 5, Range(2, 10),
            documentation="Deliveries of a record to a share group before it is given up."),
    Setting(BROKER, "group.share.heartbeat.interval.ms", INT, 5000, Range(1),
            documentation="How often members of a share group are told to send heartbeats."),
    Setting(BROKER, "group.share.initialize.retry.interval.ms", INT, 30_000, Range(1), internal=True),
    Setting(BROKER, "group.share.max.assignment.interval.ms", INT, 15_000, Range(0)),
    Setting(BROKER, "group.share.max.delivery.count.limit", INT, 10, Range(5, 25)),
    Setting(BROKER, "group.share.max.heartbeat.interval.ms", INT, 15_000, Range(1)),
    Setting(BROKER, "group.share.max.partition.max.record.locks", INT, 4000, Range(2000, 10_000)),
    Setting(BROKER, "group.share.max.record.lock.duration.ms", INT, 60_000, Range(30_000, 3_600_000)),
    Setting(BROKER, "group.share.max.session.timeout.ms", INT, 60_000, Range(1)),
    Setting(BROKER, "group.share.max.share.sessions", INT, 2000, Range(1)),
    Setting(BROKER, "group.share.max.size", INT, 200, Range(1, 1000), documentation="Members that a share group may have."),
    Setting(BROKER, "group.share.min.assignment.interval.ms", INT, 0, Range(0)),
    Setting(BROKER, "group.share.min.delivery.count.limit", INT, 2, Range(2, 5)),
    Setting(BROKER, "group.share.min.heartbeat.interval.ms", INT, 5000, Range(1)),
    Setting(BROKER, "group.share.min.partition.max.record.locks", INT, 100, Range(100, 2000)),
    Setting(BROKER, "group.share.min.record.lock.duration.ms", INT, 15_000, Range(1000, 30_000)),
    Setting(BROKER, "group.share.min.session.timeout.ms", INT, 45_000, Range(1)),
    Setting(BROKER, "group.share.partition.max.record.locks", INT, 2000, Range(100, 10_000),
            documentation="Records of a partition that a share group may hold at one time."),
    Setting(BROKER, "group.share.persister.class.name", STRING, "org.apache.kafka.server.share.persister.DefaultStatePersister",
            internal=True),
    Setting(BROKER, "group.share.record.lock.duration.ms", INT, 30_000, Range(1000, 3_600_000),
            documentation="How long a member of a share group holds a record before it is delivered again."),
    Setting(BROKER, "group.share.session.timeout.ms", INT, 45_000, Range(1),
            documentation="A member of a share group that is silent for this long is removed."),
    Setting(BROKER, "group.streams.assignment.interval.ms", INT, 1000, Range(0), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "group.streams.heartbeat.interval.ms", INT, 5000, Range(1)),
    Setting(BROKER, "group.streams.initial.rebalance.delay.ms", INT, 3000, Range(0)),
    Setting(BROKER, "group.streams.max.assignment.interval.ms", INT, 15_000, Range(0)),
    Setting(BROKER, "group.streams.max.heartbeat.interval.ms", INT, 15_000, Range(1)),
    Setting(BROKER, "group.streams.max.session.timeout.ms", INT, 60_000, Range(1)),
    Setting(BROKER, "group.streams.max.size", INT, INT_MAX, Range(1)),
    Setting(BROKER, "group.streams.max.standby.replicas", INT, 2, Range(0)),
    Setting(BROKER, "group.streams.min.assignment.interval.ms", INT, 0, Range(0)),
    Setting(BROKER, "group.streams.min.heartbeat.interval.ms", INT, 5000, Range(1)),
    Setting(BROKER, "group.streams.min.session.timeout.ms", INT, 45_000, Range(1)),
    Setting(BROKER, "group.streams.num.standby.replicas", INT, 0, Range(0)),
    Setting(BROKER, "group.streams.session.timeout.ms", INT, 45_000, Range(1)),
    Setting(BROKER, "initial.broker.registration.timeout.ms", INT, 60_000),
    Setting(BROKER, "inter.broker.listener.name", STRING, None, acts=True,
            documentation="The listener that brokers would use among themselves; it must be one of the advertised ones."),
    Setting(BROKER, "inter.broker.protocol.version", STRING, "4.3-IV0",
            documentation="The release that is emulated; user interfaces read it to see what a broker can do."),
    Setting(BROKER, "internal.metadata.delete.delay.millis", LONG, 60_000, internal=True),
    Setting(BROKER, "internal.metadata.log.segment.bytes", INT, None, internal=True),
    Setting(BROKER, "internal.metadata.max.batch.size.in.bytes", INT, 8_388_608, internal=True),
    Setting(BROKER, "kafka.metrics.polling.interval.secs", INT, 10, Range(1)),
    Setting(BROKER, "kafka.metrics.reporters", LIST, ()),
    Setting(BROKER, "leader.imbalance.check.interval.seconds", LONG, 300, Range(1), acts=True,
            documentation="How long after its first replica is in sync again a partition is led by it."),
    Setting(BROKER, "leader.replication.throttled.rate", LONG, LONG_MAX, Range(0), dynamic=CLUSTER_WIDE, internal=True),
    Setting(BROKER, "listener.security.protocol.map", STRING,
            "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT", dynamic=PER_BROKER, acts=True,
            documentation="Which security protocol each listener speaks, NAME:PROTOCOL."),
    Setting(BROKER, "listeners", LIST, ("PLAINTEXT://:9092",), dynamic=PER_BROKER, acts=True,
            documentation="Addresses to listen on, NAME://host:port; port 0 takes any free one."),
    Setting(BROKER, "log.cleaner.backoff.ms", LONG, 15_000, Range(0), dynamic=CLUSTER_WIDE, acts=True,
            documentation="How often logs are looked at that are to be compacted."),
    Setting(BROKER, "log.cleaner.dedupe.buffer.size", LONG, 134_217_728, dynamic=CLUSTER_WIDE),
    Setting(BROKER, "log.cleaner.delete.retention.ms", LONG, 86_400_000, Range(0), dynamic=CLUSTER_WIDE, acts=True,
            documentation="How long compaction keeps tombstones."),
    Setting(BROKER, "log.cleaner.enable", BOOLEAN, True, acts=True,
            documentation="Whether logs are compacted at all."),
    Setting(BROKER, "log.cleaner.io.buffer.load.factor", DOUBLE, 0.9, dynamic=CLUSTER_WIDE),
    Setting(BROKER, "log.cleaner.io.buffer.size", INT, 524_288, Range(0), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "log.cleaner.io.max.bytes.per.second", DOUBLE, DOUBLE_MAX, dynamic=CLUSTER_WIDE),
    Setting(BROKER, "log.cleaner.max.compaction.lag.ms", LONG, LONG_MAX, Range(1), dynamic=CLUSTER_WIDE, acts=True,
            documentation="A record may stay uncompacted for this long at most."),
    Setting(BROKER, "log.cleaner.min.cleanable.ratio", DOUBLE, 0.5, Range(0, 1), dynamic=CLUSTER_WIDE, acts=True,
            documentation="The part of a log that must be uncompacted before it is compacted."),
    Setting(BROKER, "log.cleaner.min.compaction.lag.ms", LONG, 0, Range(0), dynamic=CLUSTER_WIDE, acts=True,
            documentation="A record stays uncompacted for this long at least."),
    Setting(BROKER, "log.cleaner.threads", INT, 1, Range(0), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "log.cleanup.policy", LIST, ("delete",), OneOf("compact", "delete"), dynamic=CLUSTER_WIDE, acts=True,
            documentation="What happens to old records: delete, compact or both."),
    Setting(BROKER, "log.dir", LIST, ("/tmp/kafka-logs",), acts=True,
            documentation="The same, where log.dirs is not set."),
    Setting(BROKER, "log.dir.failure.timeout.ms", LONG, 30_000, Range(1)),
    Setting(BROKER, "log.dirs", LIST, None, acts=True,
            documentation="The name of the broker's log directory; nothing is written to it."),
    Setting(BROKER, "log.flush.interval.messages", LONG, LONG_MAX, Range(1), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "log.flush.interval.ms", LONG, None, synonyms=("log.flush.scheduler.interval.ms",), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "log.flush.offset.checkpoint.interval.ms", INT, 60_000, Range(0)),
    Setting(BROKER, "log.flush.scheduler.interval.ms", LONG, LONG_MAX),
    Setting(BROKER, "log.flush.start.offset.checkpoint.interval.ms", INT, 60_000, Range(0)),
    Setting(BROKER, "log.index.interval.bytes", INT, 4096, Range(0), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "log.index.size.max.bytes", INT, 10_485_760, Range(4), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "log.initial.task.delay.ms", LONG, 30_000, Range(0), internal=True, acts=True,
            documentation="How long after the start old records are looked for the first time."),
    Setting(BROKER, "log.local.retention.bytes", LONG, -2, Range(-2), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "log.local.retention.ms", LONG, -2, Range(-2), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "log.message.timestamp.after.max.ms", LONG, 3_600_000, Range(0), dynamic=CLUSTER_WIDE, acts=True,
            documentation="How far in the future a record's timestamp may lie."),
    Setting(BROKER, "log.message.timestamp.before.max.ms", LONG, LONG_MAX, Range(0), dynamic=CLUSTER_WIDE, acts=True,
            documentation="How far in the past a record's timestamp may lie."),
    Setting(BROKER, "log.message.timestamp.type", STRING, "CreateTime", OneOf("CreateTime", "LogAppendTime"), dynamic=CLUSTER_WIDE,
            acts=True, documentation="Whether records keep the client's time (CreateTime) or get the broker's (LogAppendTime)."),
    Setting(BROKER, "log.preallocate", BOOLEAN, False, dynamic=CLUSTER_WIDE),
    Setting(BROKER, "log.retention.bytes", LONG, -1, dynamic=CLUSTER_WIDE, acts=True,
            documentation="The size at which the oldest batches of a partition are deleted; -1 for none."),
    Setting(BROKER, "log.retention.check.interval.ms", LONG, 300_000, Range(1), acts=True,
            documentation="How often old records are looked for."),
    Setting(BROKER, "log.retention.hours", INT, 168, factor=HOUR_MS, acts=True,
            documentation="Age at which records are deleted, unless minutes or milliseconds are set."),
    Setting(BROKER, "log.retention.minutes", INT, None, factor=MINUTE_MS, acts=True,
            documentation="Age at which records are deleted, unless milliseconds are set."),
    Setting(BROKER, "log.retention.ms", LONG, None, synonyms=("log.retention.minutes", "log.retention.hours"), dynamic=CLUSTER_WIDE,
            acts=True, documentation="Age at which records are deleted; -1 for never."),
    Setting(BROKER, "log.roll.hours", INT, 168, Range(1), factor=HOUR_MS, acts=True,
            documentation="Age of a segment's first batch at which the next batch begins a new segment, unless milliseconds are set."),
    Setting(BROKER, "log.roll.jitter.hours", INT, 0, Range(0), factor=HOUR_MS),
    Setting(BROKER, "log.roll.jitter.ms", LONG, None, synonyms=("log.roll.jitter.hours",), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "log.roll.ms", LONG, None, synonyms=("log.roll.hours",), dynamic=CLUSTER_WIDE, acts=True,
            documentation="Age of a segment's first batch at which the next batch begins a new segment."),
    Setting(BROKER, "log.segment.bytes", INT, 1_073_741_824, Range(1_048_576), dynamic=CLUSTER_WIDE, acts=True,
            documentation="Size at which a new segment begins; retention deletes whole segments, compaction leaves the newest one alone."),
    Setting(BROKER, "log.segment.delete.delay.ms", LONG, 60_000, Range(0), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "max.connection.creation.rate", INT, INT_MAX, Range(0), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "max.connections", INT, INT_MAX, Range(0), dynamic=CLUSTER_WIDE, acts=True,
            documentation="Connections that a node has at one time; who comes then waits until one ends."),
    Setting(BROKER, "max.connections.per.ip", INT, INT_MAX, Range(0), dynamic=CLUSTER_WIDE, acts=True,
            documentation="Connections that a node has from one address at one time; more are accepted and closed at once."),
    Setting(BROKER, "max.connections.per.ip.overrides", STRING, "", dynamic=CLUSTER_WIDE, acts=True,
            documentation="The same number for single addresses, address:number,...; names of hosts are not looked up."),
    Setting(BROKER, "max.incremental.fetch.session.cache.slots", INT, 1000, Range(0), acts=True,
            documentation="Incremental fetch sessions that a node keeps."),
    Setting(BROKER, "max.request.partition.size.limit", INT, 2000, Range(1), acts=True,
            documentation="Partitions that one DescribeTopicPartitions answers at most."),
    Setting(BROKER, "message.max.bytes", INT, 1_048_588, Range(0), dynamic=CLUSTER_WIDE, acts=True,
            documentation="The largest record batch that is accepted."),
    Setting(BROKER, "metadata.log.dir", STRING, None),
    Setting(BROKER, "metadata.log.max.record.bytes.between.snapshots", LONG, 20_971_520, Range(1)),
    Setting(BROKER, "metadata.log.max.snapshot.interval.ms", LONG, 3_600_000, Range(0)),
    Setting(BROKER, "metadata.log.segment.bytes", INT, 1_073_741_824, Range(8_388_608)),
    Setting(BROKER, "metadata.log.segment.ms", LONG, 604_800_000),
    Setting(BROKER, "metadata.max.idle.interval.ms", INT, 500, Range(0), acts=True,
            documentation="How often the log of the metadata, whose end DescribeQuorum shows, grows by one record; 0: only by changes."),
    Setting(BROKER, "metadata.max.retention.bytes", LONG, 104_857_600),
    Setting(BROKER, "metadata.max.retention.ms", LONG, 604_800_000),
    Setting(BROKER, "metric.reporters", LIST, ("org.apache.kafka.common.metrics.JmxReporter",), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "metrics.num.samples", INT, 2, Range(1)),
    Setting(BROKER, "metrics.recording.level", STRING, "INFO"),
    Setting(BROKER, "metrics.sample.window.ms", LONG, 30_000, Range(1)),
    Setting(BROKER, "min.insync.replicas", INT, 1, Range(1), dynamic=CLUSTER_WIDE, acts=True,
            documentation="Replicas that must be in sync for a write with acks=all."),
    Setting(BROKER, "node.id", INT, None, Range(0), acts=True, documentation="The id of this node."),
    Setting(BROKER, "num.io.threads", INT, 8, Range(1), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "num.network.threads", INT, 3, Range(1), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "num.partitions", INT, 1, Range(1), acts=True,
            documentation="Partitions of a topic that is created without a number of them."),
    Setting(BROKER, "num.recovery.threads.per.data.dir", INT, 2, Range(1), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "num.replica.alter.log.dirs.threads", INT, None),
    Setting(BROKER, "num.replica.fetchers", INT, 1, Range(1), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "offset.metadata.max.bytes", INT, 4096, acts=True, documentation="The longest metadata string of a committed offset."),
    Setting(BROKER, "offsets.commit.timeout.ms", INT, 5000, Range(1)),
    Setting(BROKER, "offsets.load.buffer.size", INT, 5_242_880, Range(1)),
    Setting(BROKER, "offsets.retention.check.interval.ms", LONG, 600_000, Range(1), acts=True,
            documentation="How often expired offsets are looked for."),
    Setting(BROKER, "offsets.retention.minutes", INT, 10_080, Range(1), acts=True,
            documentation="How long the offsets of a group without members are kept."),
    Setting(BROKER, "offsets.topic.compression.codec", INT, 0),
    Setting(BROKER, "offsets.topic.num.partitions", INT, 50, Range(1), acts=True,
            documentation="Partitions of __consumer_offsets; they decide which node coordinates a group."),
    Setting(BROKER, "offsets.topic.replication.factor", SHORT, 3, Range(1), at_most_nodes=True, acts=True,
            documentation="Replicas of __consumer_offsets; never more than there are nodes."),
    Setting(BROKER, "offsets.topic.segment.bytes", INT, 104_857_600, Range(1), acts=True,
            documentation="Size at which __consumer_offsets begins a new segment; the newest segment of a partition is not compacted."),
    Setting(BROKER, "principal.builder.class", CLASS, "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder",
            dynamic=PER_BROKER),
    Setting(BROKER, "process.roles", LIST, None, OneOf("broker", "controller")),
    Setting(BROKER, "producer.id.expiration.check.interval.ms", INT, 600_000, Range(1), internal=True, acts=True,
            documentation="How often partitions give the memory of idle producers back."),
    Setting(BROKER, "producer.id.expiration.ms", INT, 86_400_000, Range(1), dynamic=CLUSTER_WIDE, acts=True,
            documentation="How long a partition remembers an idle producer."),
    Setting(BROKER, "producer.purgatory.purge.interval.requests", INT, 1000),
    Setting(BROKER, "queued.max.request.bytes", LONG, -1, acts=True,
            documentation="Bytes of requests that are being received at one time; more wait. Those below 128 KiB do not"
            " count: they share memory."),
    Setting(BROKER, "queued.max.requests", INT, 500, Range(1)),
    Setting(BROKER, "quota.window.num", INT, 11, Range(1)),
    Setting(BROKER, "quota.window.size.seconds", INT, 1, Range(1)),
    Setting(BROKER, "remote.fetch.max.wait.ms", INT, 500, Range(1), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "remote.list.offsets.request.timeout.ms", LONG, 30_000, Range(1), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "remote.log.index.file.cache.total.size.bytes", LONG, 1_073_741_824, Range(1), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "remote.log.index.file.cache.ttl.ms", LONG, 900_000, Range(-1), internal=True),
    Setting(BROKER, "remote.log.manager.copier.thread.pool.size", INT, 10, Range(1), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "remote.log.manager.copy.max.bytes.per.second", LONG, LONG_MAX, Range(1), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "remote.log.manager.copy.quota.window.num", INT, 11, Range(1)),
    Setting(BROKER, "remote.log.manager.copy.quota.window.size.seconds", INT, 1, Range(1)),
    Setting(BROKER, "remote.log.manager.expiration.thread.pool.size", INT, 10, Range(1), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "remote.log.manager.fetch.max.bytes.per.second", LONG, LONG_MAX, Range(1), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "remote.log.manager.fetch.quota.window.num", INT, 11, Range(1)),
    Setting(BROKER, "remote.log.manager.fetch.quota.window.size.seconds", INT, 1, Range(1)),
    Setting(BROKER, "remote.log.manager.follower.thread.pool.size", INT, 2, Range(1), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "remote.log.manager.task.interval.ms", LONG, 30_000, Range(1)),
    Setting(BROKER, "remote.log.manager.task.retry.backoff.max.ms", LONG, 30_000, Range(1), internal=True),
    Setting(BROKER, "remote.log.manager.task.retry.backoff.ms", LONG, 500, Range(1), internal=True),
    Setting(BROKER, "remote.log.manager.task.retry.jitter", DOUBLE, 0.2, Range(0, 0.5), internal=True),
    Setting(BROKER, "remote.log.manager.thread.pool.size", INT, 2, Range(1)),
    Setting(BROKER, "remote.log.metadata.custom.metadata.max.bytes", INT, 128, Range(0)),
    Setting(BROKER, "remote.log.metadata.manager.class.name", STRING,
            "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager"),
    Setting(BROKER, "remote.log.metadata.manager.class.path", STRING, None),
    Setting(BROKER, "remote.log.metadata.manager.impl.prefix", STRING, "rlmm.config."),
    Setting(BROKER, "remote.log.metadata.manager.listener.name", STRING, None),
    Setting(BROKER, "remote.log.reader.max.pending.tasks", INT, 100, Range(1)),
    Setting(BROKER, "remote.log.reader.threads", INT, 10, Range(1), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "remote.log.storage.manager.class.name", STRING, None),
    Setting(BROKER, "remote.log.storage.manager.class.path", STRING, None),
    Setting(BROKER, "remote.log.storage.manager.impl.prefix", STRING, "rsm.config."),
    Setting(BROKER, "remote.log.storage.system.enable", BOOLEAN, False),
    Setting(BROKER, "replica.alter.log.dirs.io.max.bytes.per.second", LONG, LONG_MAX, Range(0), dynamic=CLUSTER_WIDE, internal=True),
    Setting(BROKER, "replica.fetch.backoff.ms", INT, 1000, Range(0)),
    Setting(BROKER, "replica.fetch.max.bytes", INT, 1_048_576, Range(0)),
    Setting(BROKER, "replica.fetch.min.bytes", INT, 1),
    Setting(BROKER, "replica.fetch.response.max.bytes", INT, 10_485_760, Range(0)),
    Setting(BROKER, "replica.fetch.wait.max.ms", INT, 500, acts=True,
            documentation="How long a replica that a reassignment adds takes to catch up."),
    Setting(BROKER, "replica.high.watermark.checkpoint.interval.ms", LONG, 5000),
    Setting(BROKER, "replica.lag.time.max.ms", LONG, 30_000,
            documentation="A follower that lags for this long leaves the in-sync replicas."),
    Setting(BROKER, "replica.selector.class", STRING, None, acts=True,
            documentation="org.apache.kafka.common.replica.RackAwareReplicaSelector sends readers to a replica in their own rack."),
    Setting(BROKER, "replica.socket.receive.buffer.bytes", INT, 65_536),
    Setting(BROKER, "replica.socket.timeout.ms", INT, 30_000),
    Setting(BROKER, "replication.quota.window.num", INT, 11, Range(1)),
    Setting(BROKER, "replication.quota.window.size.seconds", INT, 1, Range(1)),
    Setting(BROKER, "request.timeout.ms", INT, 30_000),
    Setting(BROKER, "sasl.client.callback.handler.class", CLASS, None),
    Setting(BROKER, "sasl.enabled.mechanisms", LIST, ("GSSAPI",), dynamic=PER_BROKER),
    Setting(BROKER, "sasl.jaas.config", PASSWORD, None, dynamic=PER_BROKER),
    Setting(BROKER, "sasl.kerberos.kinit.cmd", STRING, "/usr/bin/kinit", dynamic=PER_BROKER),
    Setting(BROKER, "sasl.kerberos.min.time.before.relogin", LONG, 60_000, dynamic=PER_BROKER),
    Setting(BROKER, "sasl.kerberos.principal.to.local.rules", LIST, ("DEFAULT",), dynamic=PER_BROKER),
    Setting(BROKER, "sasl.kerberos.service.name", STRING, None, dynamic=PER_BROKER),
    Setting(BROKER, "sasl.kerberos.ticket.renew.jitter", DOUBLE, 0.05, dynamic=PER_BROKER),
    Setting(BROKER, "sasl.kerberos.ticket.renew.window.factor", DOUBLE, 0.8, dynamic=PER_BROKER),
    Setting(BROKER, "sasl.login.callback.handler.class", CLASS, None),
    Setting(BROKER, "sasl.login.class", CLASS, None),
    Setting(BROKER, "sasl.login.connect.timeout.ms", INT, None),
    Setting(BROKER, "sasl.login.read.timeout.ms", INT, None),
    Setting(BROKER, "sasl.login.refresh.buffer.seconds", SHORT, 300, dynamic=PER_BROKER),
    Setting(BROKER, "sasl.login.refresh.min.period.seconds", SHORT, 60, dynamic=PER_BROKER),
    Setting(BROKER, "sasl.login.refresh.window.factor", DOUBLE, 0.8, dynamic=PER_BROKER),
    Setting(BROKER, "sasl.login.refresh.window.jitter", DOUBLE, 0.05, dynamic=PER_BROKER),
    Setting(BROKER, "sasl.login.retry.backoff.max.ms", LONG, 10_000),
    Setting(BROKER, "sasl.login.retry.backoff.ms", LONG, 100),
    Setting(BROKER, "sasl.mechanism.controller.protocol", STRING, "GSSAPI"),
    Setting(BROKER, "sasl.mechanism.inter.broker.protocol", STRING, "GSSAPI", dynamic=PER_BROKER),
    Setting(BROKER, "sasl.oauthbearer.assertion.algorithm", STRING, "RS256", OneOf("ES256", "RS256", ignore_case=True)),
    Setting(BROKER, "sasl.oauthbearer.assertion.claim.aud", STRING, None),
    Setting(BROKER, "sasl.oauthbearer.assertion.claim.exp.seconds", INT, 300, Range(0, 86_400)),
    Setting(BROKER, "sasl.oauthbearer.assertion.claim.iss", STRING, None),
    Setting(BROKER, "sasl.oauthbearer.assertion.claim.jti.include", BOOLEAN, False),
    Setting(BROKER, "sasl.oauthbearer.assertion.claim.nbf.seconds", INT, 60, Range(0, 3600)),
    Setting(BROKER, "sasl.oauthbearer.assertion.claim.sub", STRING, None),
    Setting(BROKER, "sasl.oauthbearer.assertion.file", STRING, None),
    Setting(BROKER, "sasl.oauthbearer.assertion.private.key.file", STRING, None),
    Setting(BROKER, "sasl.oauthbearer.assertion.private.key.passphrase", PASSWORD, None),
    Setting(BROKER, "sasl.oauthbearer.assertion.template.file", STRING, None),
    Setting(BROKER, "sasl.oauthbearer.client.credentials.client.id", STRING, None),
    Setting(BROKER, "sasl.oauthbearer.client.credentials.client.secret", PASSWORD, None),
    Setting(BROKER, "sasl.oauthbearer.clock.skew.seconds", INT, 30),
    Setting(BROKER, "sasl.oauthbearer.expected.audience", LIST, ()),
    Setting(BROKER, "sasl.oauthbearer.expected.issuer", STRING, None),
    Setting(BROKER, "sasl.oauthbearer.jwks.endpoint.refresh.ms", LONG, 3_600_000),
    Setting(BROKER, "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms", LONG, 10_000),
    Setting(BROKER, "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms", LONG, 100),
    Setting(BROKER, "sasl.oauthbearer.jwks.endpoint.url", STRING, None),
    Setting(BROKER, "sasl.oauthbearer.jwt.retriever.class", CLASS, "org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever"),
    Setting(BROKER, "sasl.oauthbearer.jwt.validator.class", CLASS, "org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator"),
    Setting(BROKER, "sasl.oauthbearer.scope", STRING, None),
    Setting(BROKER, "sasl.oauthbearer.scope.claim.name", STRING, "scope"),
    Setting(BROKER, "sasl.oauthbearer.sub.claim.name", STRING, "sub"),
    Setting(BROKER, "sasl.oauthbearer.token.endpoint.url", STRING, None),
    Setting(BROKER, "sasl.server.callback.handler.class", CLASS, None),
    Setting(BROKER, "sasl.server.max.receive.size", INT, 524_288),
    Setting(BROKER, "security.inter.broker.protocol", STRING, "PLAINTEXT", OneOf("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")),
    Setting(BROKER, "security.providers", STRING, None),
    Setting(BROKER, "server.max.startup.time.ms", LONG, LONG_MAX, Range(0), internal=True),
    Setting(BROKER, "share.coordinator.append.linger.ms", INT, -1, Range(-1)),
    Setting(BROKER, "share.coordinator.cached.buffer.max.bytes", INT, 1_048_588, Range(524_288), dynamic=CLUSTER_WIDE),
    Setting(BROKER, "share.coordinator.cold.partition.snapshot.interval.ms", INT, 300_000, Range(1), internal=True),
    Setting(BROKER, "share.coordinator.load.buffer.size", INT, 5_242_880, Range(1)),
    Setting(BROKER, "share.coordinator.snapshot.update.records.per.snapshot", INT, 500, Range(0, 500)),
    Setting(BROKER, "share.coordinator.state.topic.compression.codec", INT, 0),
    Setting(BROKER, "share.coordinator.state.topic.min.isr", SHORT, 2, Range(1), at_most_nodes=True, acts=True,
            documentation="Replicas that must be in sync for __share_group_state; never more than there are nodes."),
    Setting(BROKER, "share.coordinator.state.topic.num.partitions", INT, 50, Range(1), acts=True,
            documentation="Partitions of __share_group_state; they decide which node coordinates a share group."),
    Setting(BROKER, "share.coordinator.state.topic.prune.interval.ms", INT, 300_000, Range(1), internal=True),
    Setting(BROKER, "share.coordinator.state.topic.replication.factor", SHORT, 3, Range(1), at_most_nodes=True, acts=True,
            documentation="Replicas of __share_group_state; never more than there are nodes."),
    Setting(BROKER, "share.coordinator.state.topic.segment.bytes", INT, 104_857_600, Range(1)),
    Setting(BROKER, "share.coordinator.threads", INT, 1, Range(1)),
    Setting(BROKER, "share.coordinator.write.timeout.ms", INT, 5000, Range(1)),
    Setting(BROKER, "share.fetch.purgatory.purge.interval.requests", INT, 1000),
    Setting(BROKER, "socket.connection.setup.timeout.max.ms", LONG, 30_000),
    Setting(BROKER, "socket.connection.setup.timeout.ms", LONG, 10_000),
    Setting(BROKER, "socket.listen.backlog.size", INT, 50, Range(1), documentation="Connections that may wait to be accepted."),
    Setting(BROKER, "socket.receive.buffer.bytes", INT, 102_400),
    Setting(BROKER, "socket.request.max.bytes", INT, 104_857_600, Range(1), acts=True,
            documentation="The largest request; a larger one closes the connection."),
    Setting(BROKER, "socket.send.buffer.bytes", INT, 102_400),
    Setting(BROKER, "ssl.allow.dn.changes", BOOLEAN, False),
    Setting(BROKER, "ssl.allow.san.changes", BOOLEAN, False),
    Setting(BROKER, "ssl.cipher.suites", LIST, (), dynamic=PER_BROKER),
    Setting(BROKER, "ssl.client.auth", STRING, "none", OneOf("required", "requested", "none"), dynamic=PER_BROKER),
    Setting(BROKER, "ssl.enabled.protocols", LIST, ("TLSv1.2", "TLSv1.3"), dynamic=PER_BROKER),
    Setting(BROKER, "ssl.endpoint.identification.algorithm", STRING, "https", dynamic=PER_BROKER),
    Setting(BROKER, "ssl.engine.factory.class", CLASS, None, dynamic=PER_BROKER),
    Setting(BROKER, "ssl.key.password", PASSWORD, None, dynamic=PER_LISTENER),
    Setting(BROKER, "ssl.keymanager.algorithm", STRING, "SunX509", dynamic=PER_BROKER),
    Setting(BROKER, "ssl.keystore.certificate.chain", PASSWORD, None, dynamic=PER_LISTENER),
    Setting(BROKER, "ssl.keystore.key", PASSWORD, None, dynamic=PER_LISTENER),
    Setting(BROKER, "ssl.keystore.location", STRING, None, dynamic=PER_LISTENER),
    Setting(BROKER, "ssl.keystore.password", PASSWORD, None, dynamic=PER_LISTENER),
    Setting(BROKER, "ssl.keystore.type", STRING, "JKS", dynamic=PER_LISTENER),
    Setting(BROKER, "ssl.principal.mapping.rules", STRING, "DEFAULT"),
    Setting(BROKER, "ssl.protocol", STRING, "TLSv1.3", dynamic=PER_BROKER),
    Setting(BROKER, "ssl.provider", STRING, None, dynamic=PER_BROKER),
    Setting(BROKER, "ssl.secure.random.implementation", STRING, None, dynamic=PER_BROKER),
    Setting(BROKER, "ssl.trustmanager.algorithm", STRING, "PKIX", dynamic=PER_BROKER),
    Setting(BROKER, "ssl.truststore.certificates", PASSWORD, None, dynamic=PER_LISTENER),
    Setting(BROKER, "ssl.truststore.location", STRING, None, dynamic=PER_LISTENER),
    Setting(BROKER, "ssl.truststore.password", PASSWORD, None, dynamic=PER_LISTENER),
    Setting(BROKER, "ssl.truststore.type", STRING, "JKS", dynamic=PER_LISTENER),
    Setting(BROKER, "super.users", UNKNOWN, None, internal=True, acts=True,
            documentation="Of the authorizer: principals that may do anything, type:name, parted by semicolons."),
    Setting(BROKER, "telemetry.max.bytes", INT, 1_048_576, Range(1), acts=True,
            documentation="The most bytes of metrics that a client may push in one request."),
    Setting(BROKER, "transaction.abort.timed.out.transaction.cleanup.interval.ms", INT, 10_000, Range(1), acts=True,
            documentation="When to look again at a transaction that ran out of time while it had no coordinator; others end on time."),
    Setting(BROKER, "transaction.max.timeout.ms", INT, 900_000, Range(1), acts=True,
            documentation="The longest transaction time-out that a producer may ask for."),
    Setting(BROKER, "transaction.partition.verification.enable", BOOLEAN, True, dynamic=CLUSTER_WIDE, acts=True,
            documentation="Whether a write must belong to a transaction that the coordinator knows."),
    Setting(BROKER, "transaction.remove.expired.transaction.cleanup.interval.ms", INT, 3_600_000, Range(1)),
    Setting(BROKER, "transaction.state.log.load.buffer.size", INT, 5_242_880, Range(1)),
    Setting(BROKER, "transaction.state.log.min.isr", INT, 2, Range(1), at_most_nodes=True, acts=True,
            documentation="Replicas that must be in sync for __transaction_state; never more than there are nodes."),
    Setting(BROKER, "transaction.state.log.num.partitions", INT, 50, Range(1), acts=True,
            documentation="Partitions of __transaction_state; they decide which node coordinates a transactional id."),
    Setting(BROKER, "transaction.state.log.replication.factor", SHORT, 3, Range(1), at_most_nodes=True, acts=True,
            documentation="Replicas of __transaction_state; never more than there are nodes."),
    Setting(BROKER, "transaction.state.log.segment.bytes", INT, 104_857_600, Range(1), acts=True,
            documentation="Size at which __transaction_state begins a new segment; the newest segment of a partition is not compacted."),
    Setting(BROKER, "transaction.two.phase.commit.enable", BOOLEAN, False),
    Setting(BROKER, "transactional.id.expiration.ms", INT, 604_800_000, Range(1), acts=True,
            documentation="How long an idle transactional id is remembered."),
    Setting(BROKER, "unclean.leader.election.enable", BOOLEAN, False, dynamic=CLUSTER_WIDE, acts=True,
            documentation="Whether a replica that is out of sync may become leader, at the price of records."),
    Setting(BROKER, "unclean.leader.election.interval.ms", LONG, 300_000, Range(1), internal=True),
    Setting(BROKER, "unstable.api.versions.enable", BOOLEAN, False, internal=True),
    Setting(BROKER, "unstable.feature.versions.enable", BOOLEAN, False, internal=True),
    Setting(GROUP, "consumer.assignment.interval.ms", INT, 1000, Range(0), synonyms=("group.consumer.assignment.interval.ms",), acts=True,
            documentation="The least time between two assignments of this consumer group."),
    Setting(GROUP, "consumer.heartbeat.interval.ms", INT, 5000, Range(1), synonyms=("group.consumer.heartbeat.interval.ms",), acts=True,
            documentation="How often members of this consumer group are told to send heartbeats."),
    Setting(GROUP, "consumer.session.timeout.ms", INT, 45_000, Range(1), synonyms=("group.consumer.session.timeout.ms",), acts=True,
            documentation="A member of this consumer group that is silent for this long is removed."),
    Setting(GROUP, "share.assignment.interval.ms", INT, 1000, Range(0), synonyms=("group.share.assignment.interval.ms",)),
    Setting(GROUP, "share.auto.offset.reset", STRING, "latest", OFFSET_RESET,
            documentation="Where this share group begins: earliest, latest, or by_duration: and an ISO 8601 duration."),
    Setting(GROUP, "share.delivery.count.limit", INT, 5, Range(2), synonyms=("group.share.delivery.count.limit",),
            documentation="Deliveries of a record to this share group before it is given up."),
    Setting(GROUP, "share.heartbeat.interval.ms", INT, 5000, Range(1), synonyms=("group.share.heartbeat.interval.ms",),
            documentation="How often members of this share group are told to send heartbeats."),
    Setting(GROUP, "share.isolation.level", STRING, "read_uncommitted", OneOf("read_committed", "read_uncommitted"),
            documentation="Whether this share group reads records of open and aborted transactions."),
    Setting(GROUP, "share.partition.max.record.locks", INT, 2000, Range(100), synonyms=("group.share.partition.max.record.locks",),
            documentation="Records of a partition that this share group may hold at one time."),
    Setting(GROUP, "share.record.lock.duration.ms", INT, 30_000, Range(1000), synonyms=("group.share.record.lock.duration.ms",),
            documentation="How long a member of this share group holds a record before it is delivered again."),
    Setting(GROUP, "share.renew.acknowledge.enable", BOOLEAN, True),
    Setting(GROUP, "share.session.timeout.ms", INT, 45_000, Range(1), synonyms=("group.share.session.timeout.ms",),
            documentation="A member of this share group that is silent for this long is removed."),
    Setting(GROUP, "streams.assignment.interval.ms", INT, 1000, Range(0), synonyms=("group.streams.assignment.interval.ms",)),
    Setting(GROUP, "streams.heartbeat.interval.ms", INT, 5000, Range(1), synonyms=("group.streams.heartbeat.interval.ms",)),
    Setting(GROUP, "streams.initial.rebalance.delay.ms", INT, 3000, Range(0), synonyms=("group.streams.initial.rebalance.delay.ms",)),
    Setting(GROUP, "streams.num.standby.replicas", INT, 0, Range(0), synonyms=("group.streams.num.standby.replicas",)),
    Setting(GROUP, "streams.session.timeout.ms", INT, 45_000, Range(1), synonyms=("group.streams.session.timeout.ms",)),
)
# fmt: on

TOPIC_SETTINGS = {setting.name: setting for setting in SETTINGS if setting.scope is TOPIC}
BROKER_SETTINGS = {setting.name: setting for setting in SETTINGS if setting.scope is BROKER}
GROUP_SETTINGS = {setting.name: setting for setting in SETTINGS if setting.scope is GROUP}


def as_markdown() -> str:
    """Returns the text of docs/configuration.md, which `make docs` writes."""
    parts = [
        "# Configuration",
        "`make docs` writes this page from the table in `broker/settings/rows.py`.",
        "Every setting of Kafka 4.3 is known: checked, kept and shown by DescribeConfigs. Those in the tables below act; the others, named"
        " below the tables, change nothing. Names that Kafka does not know, such as those of ZooKeeper, are kept too. What is set without"
        " an effect is named in one line at the start. A name that is almost one of Kafka's is refused (`num.partition`: did you mean"
        " `num.partitions`?). In `--set` and in a program, so is a topic's setting that a broker has under another name (`retention.ms`:"
        " `log.retention.ms`).",
        "A setting of a broker comes from, each before the next: `--set key=value`, the environment, `--config server.properties`.",
        "In the environment a setting is `KAFKA_` and the name in capitals, with `_` for a dot, `__` for `_` and `___` for `-`, as in the"
        " images apache/kafka and cp-kafka. `KAFKA_CFG_` does the same, as in bitnami/kafka, and goes before `KAFKA_`. The names that"
        " listeners had before Kafka 3 work too: `KAFKA_ADVERTISED_HOST_NAME`, `KAFKA_ADVERTISED_PORT`, `KAFKA_HOST_NAME` and"
        " `KAFKA_PORT`. `KAFKA_CREATE_TOPICS` makes topics, as in wurstmeister/kafka: `orders:4:1,users:1:1:compact` are names, partitions,"
        " replicas and cleanup policies. If the environment says where to listen, there is one node, unless `--nodes` asks for more.",
    ]
    for title, rows in (("Topics", TOPIC_SETTINGS), ("Brokers", BROKER_SETTINGS), ("Groups", GROUP_SETTINGS)):
        acting = [row for row in rows.values() if row.acts]
        others = [f"`{row.name}`" for row in rows.values() if not row.acts and not row.internal]
        table = ["| name | type | default | allowed | what it does |", "|---|---|---|---|---|", *map(_table_row, acting)]
        parts += [f"## {title}", "\n".join(table), "Shown only: " + ", ".join(others) + "."]
    return "\n\n".join(parts) + "\n"


def _table_row(row: Setting) -> str:
    from_broker = f" Falls back to `{'`, `'.join(row.synonyms)}` of the broker." if row.synonyms and row.scope is not BROKER else ""
    return f"| `{row.name}` | {row.type.name.lower()} | {_shown(row.default)} | {row.valid or ''} | {row.documentation}{from_broker} |"


def _shown(value: Value) -> str:
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(value)
    return {LONG_MAX: "2^63 - 1", INT_MAX: "2^31 - 1"}.get(value, str(value)) if isinstance(value, int) else str(value)
