"""Misspelt settings are distinguished from settings of other versions, images and plugins."""

from __future__ import annotations

import pytest

from odradek.broker.settings.properties import InvalidConfig
from odradek.broker.settings.rows import BROKER_SETTINGS, GROUP_SETTINGS, TOPIC_SETTINGS
from odradek.broker.settings.spelling import at_broker_level, check_spelling

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
    settings = dict.fromkeys(BROKER_SETTINGS, "1")
    assert at_broker_level(settings) == settings


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
    ("name", "broker_name"),
    [
        ("flush.messages", "log.flush.interval.messages"),
        ("retention.ms", "log.retention.ms"),
        ("max.message.bytes", "message.max.bytes"),
        ("consumer.session.timeout.ms", "group.consumer.session.timeout.ms"),
        ("compression.type", "compression.type"),
        ("some.plugin.setting", "some.plugin.setting"),
    ],
)
def test_at_broker_level_gives_settings_their_broker_name(name: str, broker_name: str) -> None:
    assert at_broker_level({name: "1"}) == {broker_name: "1"}


def test_at_broker_level_both_names_raise() -> None:
    with pytest.raises(InvalidConfig, match=r"^retention.ms is given as log.retention.ms too, which is its name at the broker level"):
        at_broker_level({"log.retention.ms": "1", "retention.ms": "1"})
