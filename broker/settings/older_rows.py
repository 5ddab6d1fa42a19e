"""The settings of an older release: rows with its defaults, those that Kafka 4.3 has no longer, and those that came later.

The broker reads settings that came later too, with the values that reproduce what the release did; only clients do not see them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from ..releases.release import number_of
from .rows import BROKER_SETTINGS, TOPIC_SETTINGS
from .types import (
    BOOLEAN,
    BROKER,
    CLUSTER_WIDE,
    INT,
    LIST,
    LONG,
    LONG_MAX,
    PASSWORD,
    SHORT,
    STRING,
    TOPIC,
    Matches,
    Range,
    Setting,
    SettingRows,
)
from .values import parse

if TYPE_CHECKING:
    from ..releases.release import Release

MESSAGE_FORMAT = Matches(re.compile(r"(0\.(8|9|10|11)|[1-3])\.\d.*"), "a version of Kafka such as 0.10.2 or 2.8")


class Former(NamedTuple):
    """A setting that Kafka 4.3 does not have. `until` is the last release that has it, `since` the first one."""

    until: str
    setting: Setting
    since: str = "2.1"


SINCE: Mapping[str, str] = {
    "2.2": """
        connections.max.reauth.ms group.max.size ssl.principal.mapping.rules""",
    "2.3": """
        log.cleaner.max.compaction.lag.ms max.compaction.lag.ms max.connections""",
    "2.4": """
        replica.selector.class security.providers""",
    "2.5": """
        fetch.max.bytes""",
    "2.6": """
        ssl.engine.factory.class""",
    "2.7": """
        controller.quota.window.num controller.quota.window.size.seconds max.connection.creation.rate
        socket.connection.setup.timeout.max.ms socket.connection.setup.timeout.ms ssl.keystore.certificate.chain ssl.keystore.key
        ssl.truststore.certificates""",
    "2.8": """
        delegation.token.secret.key sasl.server.max.receive.size""",
    "3.1": """
        sasl.login.connect.timeout.ms sasl.login.read.timeout.ms sasl.login.retry.backoff.max.ms sasl.login.retry.backoff.ms
        sasl.oauthbearer.clock.skew.seconds sasl.oauthbearer.expected.audience sasl.oauthbearer.expected.issuer
        sasl.oauthbearer.jwks.endpoint.refresh.ms sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms
        sasl.oauthbearer.jwks.endpoint.retry.backoff.ms sasl.oauthbearer.jwks.endpoint.url sasl.oauthbearer.scope.claim.name
        sasl.oauthbearer.sub.claim.name sasl.oauthbearer.token.endpoint.url""",
    "3.2": """
        socket.listen.backlog.size""",
    "3.3": """
        broker.heartbeat.interval.ms broker.session.timeout.ms controller.listener.names controller.quorum.append.linger.ms
        controller.quorum.election.backoff.max.ms controller.quorum.election.timeout.ms controller.quorum.fetch.timeout.ms
        controller.quorum.request.timeout.ms controller.quorum.retry.backoff.ms controller.quorum.voters early.start.listeners
        initial.broker.registration.timeout.ms metadata.log.dir metadata.log.max.record.bytes.between.snapshots
        metadata.log.segment.bytes metadata.log.segment.ms metadata.max.idle.interval.ms metadata.max.retention.bytes
        metadata.max.retention.ms node.id process.roles sasl.mechanism.controller.protocol""",
    "3.4": """
        metadata.log.max.snapshot.interval.ms producer.id.expiration.ms""",
    "3.6": """
        local.retention.bytes local.retention.ms log.local.retention.bytes log.local.retention.ms
        log.message.timestamp.after.max.ms log.message.timestamp.before.max.ms message.timestamp.after.max.ms
        message.timestamp.before.max.ms remote.log.manager.task.interval.ms remote.log.manager.thread.pool.size
        remote.log.metadata.custom.metadata.max.bytes remote.log.metadata.manager.class.name
        remote.log.metadata.manager.class.path remote.log.metadata.manager.impl.prefix remote.log.metadata.manager.listener.name
        remote.log.reader.max.pending.tasks remote.log.reader.threads remote.log.storage.manager.class.name
        remote.log.storage.manager.class.path remote.log.storage.manager.impl.prefix remote.log.storage.system.enable
        remote.storage.enable transaction.partition.verification.enable""",
    "3.7": """
        group.consumer.assignors group.consumer.heartbeat.interval.ms group.consumer.max.heartbeat.interval.ms
        group.consumer.max.session.timeout.ms group.consumer.max.size group.consumer.min.heartbeat.interval.ms
        group.consumer.min.session.timeout.ms group.consumer.session.timeout.ms group.coordinator.rebalance.protocols
        group.coordinator.threads remote.log.index.file.cache.total.size.bytes ssl.allow.dn.changes ssl.allow.san.changes
        telemetry.max.bytes""",
    "3.8": """
        compression.gzip.level compression.lz4.level compression.zstd.level group.consumer.migration.policy
        group.coordinator.append.linger.ms log.dir.failure.timeout.ms max.request.partition.size.limit remote.fetch.max.wait.ms
        remote.log.manager.copy.max.bytes.per.second remote.log.manager.copy.quota.window.num
        remote.log.manager.copy.quota.window.size.seconds remote.log.manager.fetch.max.bytes.per.second
        remote.log.manager.fetch.quota.window.num remote.log.manager.fetch.quota.window.size.seconds""",
    "3.9": """
        controller.quorum.bootstrap.servers group.share.delivery.count.limit group.share.heartbeat.interval.ms
        group.share.max.heartbeat.interval.ms group.share.max.record.lock.duration.ms group.share.max.session.timeout.ms
        group.share.max.size group.share.min.heartbeat.interval.ms group.share.min.record.lock.duration.ms
        group.share.min.session.timeout.ms group.share.partition.max.record.locks group.share.record.lock.duration.ms
        group.share.session.timeout.ms remote.log.copy.disable remote.log.delete.on.disable
        remote.log.manager.copier.thread.pool.size remote.log.manager.expiration.thread.pool.size""",
    "4.0": """
        add.partitions.to.txn.retry.backoff.max.ms add.partitions.to.txn.retry.backoff.ms remote.list.offsets.request.timeout.ms
        share.coordinator.append.linger.ms share.coordinator.load.buffer.size
        share.coordinator.snapshot.update.records.per.snapshot share.coordinator.state.topic.compression.codec
        share.coordinator.state.topic.min.isr share.coordinator.state.topic.num.partitions
        share.coordinator.state.topic.replication.factor share.coordinator.state.topic.segment.bytes share.coordinator.threads
        share.coordinator.write.timeout.ms share.fetch.purgatory.purge.interval.requests""",
    "4.1": """
        group.share.assignors group.share.max.share.sessions group.streams.heartbeat.interval.ms
        group.streams.max.heartbeat.interval.ms group.streams.max.session.timeout.ms group.streams.max.size
        group.streams.max.standby.replicas group.streams.min.heartbeat.interval.ms group.streams.min.session.timeout.ms
        group.streams.num.standby.replicas group.streams.session.timeout.ms sasl.oauthbearer.assertion.algorithm
        sasl.oauthbearer.assertion.claim.aud sasl.oauthbearer.assertion.claim.exp.seconds sasl.oauthbearer.assertion.claim.iss
        sasl.oauthbearer.assertion.claim.jti.include sasl.oauthbearer.assertion.claim.nbf.seconds
        sasl.oauthbearer.assertion.claim.sub sasl.oauthbearer.assertion.file sasl.oauthbearer.assertion.private.key.file
        sasl.oauthbearer.assertion.private.key.passphrase sasl.oauthbearer.assertion.template.file
        sasl.oauthbearer.client.credentials.client.id sasl.oauthbearer.client.credentials.client.secret
        sasl.oauthbearer.jwt.retriever.class sasl.oauthbearer.jwt.validator.class sasl.oauthbearer.scope
        transaction.two.phase.commit.enable""",
    "4.2": """
        config.providers controller.quorum.auto.join.enable group.streams.initial.rebalance.delay.ms
        remote.log.manager.follower.thread.pool.size""",
    "4.3": """
        controller.quorum.fetch.max.bytes controller.quorum.fetch.snapshot.max.bytes cordoned.log.dirs
        follower.fetch.last.tiered.offset.enable group.consumer.assignment.interval.ms group.consumer.max.assignment.interval.ms
        group.consumer.min.assignment.interval.ms group.coordinator.background.threads group.coordinator.cached.buffer.max.bytes
        group.share.assignment.interval.ms group.share.max.assignment.interval.ms group.share.max.delivery.count.limit
        group.share.max.partition.max.record.locks group.share.min.assignment.interval.ms group.share.min.delivery.count.limit
        group.share.min.partition.max.record.locks group.streams.assignment.interval.ms group.streams.max.assignment.interval.ms
        group.streams.min.assignment.interval.ms share.coordinator.cached.buffer.max.bytes""",
}
"""The settings of brokers and topics that were added after 2.1, by the release that added them. Settings of KRaft count as of 3.3."""

DEFAULTS_BEFORE: Mapping[str, tuple[tuple[str, str], ...]] = {
    "group.consumer.migration.policy": (("4.0", "disabled"),),
    "group.coordinator.append.linger.ms": (("4.0", "10"), ("4.2", "5")),
    "group.coordinator.rebalance.protocols": (("4.0", "classic"), ("4.1", "classic,consumer")),
    "group.coordinator.threads": (("4.0", "1"),),
    "group.max.session.timeout.ms": (("2.3", "300000"),),
    "group.share.partition.max.record.locks": (("4.1", "200"),),
    "fetch.max.bytes": (("2.5", "2147483647"),),
    "inter.broker.protocol.version": (
        *(("2.2", "2.1-IV2"), ("2.3", "2.2-IV1"), ("2.4", "2.3-IV1"), ("2.5", "2.4-IV1"), ("2.6", "2.5-IV0"), ("2.7", "2.6-IV0")),
        *(("2.8", "2.7-IV2"), ("3.0", "2.8-IV1"), ("3.1", "3.0-IV1"), ("3.2", "3.1-IV0"), ("3.3", "3.2-IV0"), ("3.4", "3.3-IV3")),
        *(("3.5", "3.4-IV0"), ("3.6", "3.5-IV2"), ("3.7", "3.6-IV2"), ("3.8", "3.7-IV4"), ("3.9", "3.8-IV0")),
    ),
    "log.message.timestamp.after.max.ms": (("4.0", "9223372036854775807"),),
    "message.max.bytes": (("2.5", "1000012"),),
    "metadata.max.retention.bytes": (("3.4", "-1"),),
    "num.recovery.threads.per.data.dir": (("4.0", "1"),),
    "producer.id.expiration.ms": (("3.4", "604800000"),),
    "remote.log.manager.copier.thread.pool.size": (("3.9", "10"), ("4.0", "-1")),
    "remote.log.manager.expiration.thread.pool.size": (("3.9", "10"), ("4.0", "-1")),
    "remote.log.manager.thread.pool.size": (("4.0", "10"),),
    "replica.lag.time.max.ms": (("2.5", "10000"),),
    "share.coordinator.append.linger.ms": (("4.1", "10"), ("4.2", "5")),
    "socket.connection.setup.timeout.max.ms": (("2.8", "127000"),),
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": (("2.5", "60000"),),
    "transaction.partition.verification.enable": (("3.6", "false"),),
}
"""Broker settings with another default in older releases: the text of the default before each release in which it changed.

The settings of TLS are left out, because TLS before 1.2 is not safe.
"""
BOUNDS_BEFORE: Mapping[str, tuple[str, Range]] = {
    "flush.messages": ("3.3", Range(0)),
    "segment.index.bytes": ("3.3", Range(0)),
    "log.segment.bytes": ("4.0", Range(14)),
    "segment.bytes": ("4.1", Range(14)),
}
"""Settings of brokers and topics with a lower bound before a release (KIP-1030)."""

# fmt: off
FORMER: tuple[Former, ...] = (
    Former("2.8", Setting(BROKER, "advertised.host.name", STRING, None)),
    Former("2.8", Setting(BROKER, "advertised.port", INT, None)),
    Former("2.8", Setting(BROKER, "host.name", STRING, "")),
    Former("2.8", Setting(BROKER, "port", INT, 9092)),
    Former("2.8", Setting(BROKER, "quota.consumer.default", LONG, LONG_MAX, Range(1))),
    Former("2.8", Setting(BROKER, "quota.producer.default", LONG, LONG_MAX, Range(1))),
    Former("3.1", Setting(BROKER, "zookeeper.sync.time.ms", INT, 2000)),
    Former("3.9", Setting(BROKER, "auto.include.jmx.reporter", BOOLEAN, True), "3.4"),
    Former("3.9", Setting(BROKER, "broker.id.generation.enable", BOOLEAN, True)),
    Former("3.9", Setting(BROKER, "control.plane.listener.name", STRING, None), "2.2"),
    Former("3.9", Setting(BROKER, "controlled.shutdown.max.retries", INT, 3)),
    Former("3.9", Setting(BROKER, "controlled.shutdown.retry.backoff.ms", LONG, 5000)),
    Former("3.9", Setting(BROKER, "delegation.token.master.key", PASSWORD, None)),
    Former("3.9", Setting(BROKER, "eligible.leader.replicas.enable", BOOLEAN, False), "3.7"),
    Former("3.9", Setting(BROKER, "inter.broker.protocol.version", STRING, "3.9-IV0")),
    Former("3.9", Setting(BROKER, "leader.imbalance.per.broker.percentage", INT, 10)),
    Former("3.9", Setting(BROKER, "log.message.downconversion.enable", BOOLEAN, True, acts=True, dynamic=CLUSTER_WIDE)),
    Former("3.9", Setting(BROKER, "log.message.format.version", STRING, None, MESSAGE_FORMAT, acts=True)),
    Former("3.9", Setting(BROKER, "log.message.timestamp.difference.max.ms", LONG, LONG_MAX, Range(0), acts=True, dynamic=CLUSTER_WIDE)),
    Former("3.9", Setting(BROKER, "offsets.commit.required.acks", SHORT, -1)),
    Former("3.9", Setting(BROKER, "password.encoder.cipher.algorithm", STRING, "AES/CBC/PKCS5Padding")),
    Former("3.9", Setting(BROKER, "password.encoder.iterations", INT, 4096, Range(1024))),
    Former("3.9", Setting(BROKER, "password.encoder.key.length", INT, 128, Range(8))),
    Former("3.9", Setting(BROKER, "password.encoder.keyfactory.algorithm", STRING, None)),
    Former("3.9", Setting(BROKER, "password.encoder.old.secret", PASSWORD, None)),
    Former("3.9", Setting(BROKER, "password.encoder.secret", PASSWORD, None)),
    Former("3.9", Setting(BROKER, "reserved.broker.max.id", INT, 1000, Range(0))),
    Former("3.9", Setting(BROKER, "zookeeper.clientCnxnSocket", STRING, None), "2.5"),
    Former("3.9", Setting(BROKER, "zookeeper.connect", STRING, None)),
    Former("3.9", Setting(BROKER, "zookeeper.connection.timeout.ms", INT, None)),
    Former("3.9", Setting(BROKER, "zookeeper.max.in.flight.requests", INT, 10, Range(1))),
    Former("3.9", Setting(BROKER, "zookeeper.metadata.migration.enable", BOOLEAN, False), "3.4"),
    Former("3.9", Setting(BROKER, "zookeeper.session.timeout.ms", INT, 18000)),
    Former("3.9", Setting(BROKER, "zookeeper.set.acl", BOOLEAN, False)),
    Former("3.9", Setting(BROKER, "zookeeper.ssl.cipher.suites", LIST, None), "2.5"),
    Former("3.9", Setting(BROKER, "zookeeper.ssl.client.enable", BOOLEAN, False), "2.5"),
    Former("3.9", Setting(BROKER, "zookeeper.ssl.crl.enable", BOOLEAN, False), "2.5"),
    Former("3.9", Setting(BROKER, "zookeeper.ssl.enabled.protocols", LIST, None), "2.5"),
    Former("3.9", Setting(BROKER, "zookeeper.ssl.endpoint.identification.algorithm", STRING, "HTTPS"), "2.5"),
    Former("3.9", Setting(BROKER, "zookeeper.ssl.keystore.location", STRING, None), "2.5"),
    Former("3.9", Setting(BROKER, "zookeeper.ssl.keystore.password", PASSWORD, None), "2.5"),
    Former("3.9", Setting(BROKER, "zookeeper.ssl.keystore.type", STRING, None), "2.5"),
    Former("3.9", Setting(BROKER, "zookeeper.ssl.ocsp.enable", BOOLEAN, False), "2.5"),
    Former("3.9", Setting(BROKER, "zookeeper.ssl.protocol", STRING, "TLSv1.2"), "2.5"),
    Former("3.9", Setting(BROKER, "zookeeper.ssl.truststore.location", STRING, None), "2.5"),
    Former("3.9", Setting(BROKER, "zookeeper.ssl.truststore.password", PASSWORD, None), "2.5"),
    Former("3.9", Setting(BROKER, "zookeeper.ssl.truststore.type", STRING, None), "2.5"),
    Former("3.9", Setting(TOPIC, "message.downconversion.enable", BOOLEAN, True,
                          synonyms=("log.message.downconversion.enable",), acts=True)),
    Former("3.9", Setting(TOPIC, "message.format.version", STRING, None, MESSAGE_FORMAT,
                          synonyms=("log.message.format.version",), acts=True)),
    Former("3.9", Setting(TOPIC, "message.timestamp.difference.max.ms", LONG, LONG_MAX, Range(0),
                          synonyms=("log.message.timestamp.difference.max.ms",), acts=True)),
)
# fmt: on


FORMATS_UNTIL = (2, 8)
"""The last release in which `message.format.version` acts. From 3.0 on, messages are stored as record batches in any case (KIP-724)."""
NEWEST_MESSAGE_FORMAT = "3.0-IV1"


def rows_of(release: Release) -> SettingRows:
    """Returns the settings of a release."""
    number = release.number
    rows = {name: _as_it_was(row, number) for name, row in BROKER_SETTINGS.items()}
    former = [_as_it_was(each.setting, number) for each in FORMER if number_of(each.since) <= number <= number_of(each.until)]
    protocol_version = next((row.default for row in former if row.name == "inter.broker.protocol.version"), None)
    message_format = protocol_version if number <= FORMATS_UNTIL else NEWEST_MESSAGE_FORMAT
    changed = {"log.message.format.version": message_format} | ({"zookeeper.session.timeout.ms": 6000} if number < (2, 5) else {})
    rows |= {row.name: row._replace(default=changed.get(row.name, row.default)) for row in former if row.scope is BROKER}
    topic_rows = {name: _as_it_was(row, number) for name, row in TOPIC_SETTINGS.items()}
    topic_rows |= {row.name: row for row in former if row.scope is not BROKER}
    later = frozenset(name for since, names in SINCE.items() if number < number_of(since) for name in names.split())
    return SettingRows(rows, topic_rows, later, number <= FORMATS_UNTIL)


def _as_it_was(row: Setting, number: tuple[int, int]) -> Setting:
    if row.name in BOUNDS_BEFORE and number < number_of(BOUNDS_BEFORE[row.name][0]):
        row = row._replace(valid=BOUNDS_BEFORE[row.name][1])
    for before, text in DEFAULTS_BEFORE.get(row.name, ()):
        if number < number_of(before):
            return row._replace(default=parse(row._replace(valid=None), text))  # today's bounds may be others
    return row
