"""Misspelt settings are distinguished from settings of other versions, images and plugins."""

from __future__ import annotations

import pytest

from odradek.broker.settings.properties import InvalidConfig
from odradek.broker.settings.rows import BROKER_SETTINGS, GROUP_SETTINGS, TOPIC_SETTINGS
from odradek.broker.settings.spelling import check_scope, check_spelling

FOREIGN = """
zookeeper.connect zookeeper.session.timeout.ms zookeeper.set.acl zookeeper.metadata.migration.enable zookeeper.ssl.client.enable host.name
port advertised.host.name advertised.port log.message.format.version log.message.timestamp.difference.max.ms offsets.commit.required.acks
control.plane.listener.name reserved.broker.max.id max.reserved.broker.id broker.id.generation.enable password.encoder.secret
password.encoder.key.length controlled.shutdown.enable controlled.shutdown.retry.backoff.ms quota.producer.default
delegation.token.master.key producer.purgatory.purge.interval.requests request.purgatory.purge.interval.requests replica.lag.max.messages
log.delete.delay.ms log.max.compaction.lag.ms kafka.metrics.reporters auto.include.jmx.reporter confluent.support.metrics.enable
confluent.metrics.reporter.bootstrap.servers confluent.license.topic.replication.factor confluent.balancer.topic.replication.factor
confluent.schema.registry.url confluent.cluster.link.enable enable.kraft kraft.cluster.id client.users client.passwords inter.broker.user
inter.broker.password certificate.password tls.type tls.client.auth broker.id.command advertised.protocol.name protocol.name volume.dir
ssl.keystore.filename ssl.keystore.credentials ssl.key.credentials rest.port listener.name.external.ssl.keystore.locatio
remote.log.storage.manager.impl.prefix some.plugin.level schema.registry.url controller.quorum.votes zookeeper.conect
"""


@pytest.mark.parametrize("name", FOREIGN.split())
def test_check_spelling_foreign_setting_passes(name: str) -> None:
    check_spelling([name])


def test_check_spelling_every_kafka_setting_passes() -> None:
    check_spelling({*BROKER_SETTINGS, *TOPIC_SETTINGS, *GROUP_SETTINGS})
    check_scope(BROKER_SETTINGS.keys())


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("num.partition", "num.partitions"),
        ("num.partions", "num.partitions"),
        ("num_partitions", "num.partitions"),
        ("numPartitions", "num.partitions"),
        ("default.replication.facter", "default.replication.factor"),
        ("message.max.byte", "message.max.bytes"),
    ],
)
def test_check_spelling_misspelt_setting_raises(name: str, meant: str) -> None:
    with pytest.raises(InvalidConfig, match=rf"^unknown setting {name}; did you mean {meant}\?$"):
        check_spelling([name])


@pytest.mark.parametrize(
    ("name", "scope", "meant"),
    [
        ("retention.ms", "topic", "log.retention.ms"),
        ("max.message.bytes", "topic", "message.max.bytes"),
        ("consumer.session.timeout.ms", "group", "group.consumer.session.timeout.ms"),
    ],
)
def test_check_scope_setting_of_other_scope_raises(name: str, scope: str, meant: str) -> None:
    with pytest.raises(InvalidConfig, match=rf"^{name} is a {scope} setting; did you mean the broker setting {meant}\?$"):
        check_scope([name])
