"""Settings of topics and groups that are accepted and rejected. Expected messages were recorded from Apache Kafka 4.3.1."""

from __future__ import annotations

import pytest

from odradek.broker.settings.properties import InvalidConfig
from odradek.broker.settings.validation import validate_broker_configs, validate_group_configs, validate_topic_configs
from odradek.broker.settings.values import BrokerConfig


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"nope": "1"}, "Unknown topic config name: nope"),
        ({"retention.ms": "abc", "nope": "1"}, "Unknown topic config name: nope"),
        ({"message.format.version": "2.8"}, "Unknown topic config name: message.format.version"),
        ({"retention.ms": None}, "Null value not supported for topic configs: retention.ms"),
        ({"retention.ms": "abc"}, "Invalid value abc for configuration retention.ms: Not a number of type LONG"),
        ({"retention.ms": ""}, "Invalid value  for configuration retention.ms: Not a number of type LONG"),
        ({"retention.ms": "1_000"}, "Invalid value 1_000 for configuration retention.ms: Not a number of type LONG"),
        ({"retention.ms": "-2"}, "Invalid value -2 for configuration retention.ms: Value must be at least -1"),
        (
            {"retention.ms": "9223372036854775808"},
            "Invalid value 9223372036854775808 for configuration retention.ms: Not a number of type LONG",
        ),
        ({"segment.bytes": "99999999999"}, "Invalid value 99999999999 for configuration segment.bytes: Not a number of type INT"),
        ({"segment.bytes": "100"}, "Invalid value 100 for configuration segment.bytes: Value must be at least 1048576"),
        ({"cleanup.policy": "none"}, "Invalid value none for configuration cleanup.policy: String must be one of: compact, delete"),
        (
            {"compression.type": "GZIP"},
            "Invalid value GZIP for configuration compression.type: String must be one of: uncompressed, zstd, lz4, snappy, gzip, producer",
        ),
        (
            {"compression.gzip.level": "0"},
            "Invalid value 0 for configuration compression.gzip.level: Value must be between 1 and 9 or equal to -1",
        ),
        ({"preallocate": "yes"}, "Invalid value yes for configuration preallocate: Expected value to be either true or false"),
        ({"min.cleanable.dirty.ratio": "2"}, "Invalid value 2.0 for configuration min.cleanable.dirty.ratio: Value must be no more than 1"),
        (
            {"max.compaction.lag.ms": "5", "min.compaction.lag.ms": "10"},
            "conflict topic config setting min.compaction.lag.ms (10) > max.compaction.lag.ms (5)",
        ),
        (
            {"remote.storage.enable": "true"},
            "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage.",
        ),
    ],
)
def test_validate_topic_configs_invalid_raises_as_kafka(overrides: dict[str, str | None], message: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        validate_topic_configs(overrides)
    assert str(refused.value) == message


def test_validate_topic_configs_valid_passes() -> None:
    validate_topic_configs({"cleanup.policy": "delete,delete", "internal.segment.bytes": "100", "compression.gzip.level": "-1"})


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"nope": "1"}, "Unknown group config name: nope"),
        (
            {"consumer.session.timeout.ms": "1"},
            "consumer.session.timeout.ms must be greater than or equal to group.consumer.min.session.timeout.ms",
        ),
        (
            {"consumer.heartbeat.interval.ms": "46000"},
            "consumer.heartbeat.interval.ms must be less than or equal to group.consumer.max.heartbeat.interval.ms",
        ),
        ({"consumer.session.timeout.ms": "x"}, "Invalid value x for configuration consumer.session.timeout.ms: Not a number of type INT"),
    ],
)
def test_validate_group_configs_invalid_raises_as_kafka(overrides: dict[str, str | None], message: str) -> None:
    validate_group_configs({"consumer.session.timeout.ms": "46000"}, BrokerConfig({}))
    with pytest.raises(InvalidConfig) as refused:
        validate_group_configs(overrides, BrokerConfig({}))
    assert str(refused.value) == message


CURRENT = BrokerConfig({"listeners": "PLAINTEXT://127.0.0.1:9092"})
ONLY_WITH_PREFIX = "These security configs can be dynamically updated only per-listener using the listener prefix"
NOT_FOR_ALL = "Cannot update these configs at default cluster level, broker id must be specified"
THREADS = "Dynamic thread count update validation failed for"


@pytest.mark.parametrize(
    ("overrides", "cluster_wide", "message"),
    [
        ({"num.partitions": "3", "broker.id": "4"}, False, "Cannot update these configs dynamically: [num.partitions, broker.id]"),
        ({"ssl.keystore.type": "JKS"}, False, f"{ONLY_WITH_PREFIX}: [ssl.keystore.type]"),
        ({"listeners": "a"}, True, f"{NOT_FOR_ALL}: [listeners]"),
        ({"listener.name.a.ssl.keystore.type": "JKS"}, True, f"{NOT_FOR_ALL}: [listener.name.a.ssl.keystore.type]"),
        ({"message.max.bytes": "-1"}, False, "Invalid value -1 for configuration message.max.bytes: Value must be at least 0"),
        ({"listener.name.a.max.connections": "x"}, True, "Invalid value x for configuration max.connections: Not a number of type INT"),
        ({"num.io.threads": "17"}, True, f"{THREADS} num.io.threads=17, value should not be greater than double the current value 8"),
        ({"num.io.threads": "3"}, False, f"{THREADS} num.io.threads=3, value should be at least half the current value 8"),
        ({"log.cleaner.threads": "3"}, True, "Log cleaner threads cannot be increased to more than double the current value 1"),
        ({"log.cleaner.threads": "0"}, True, "Log cleaner threads should be at least 1"),
        (
            {"principal.builder.class": "x.Y"},
            False,
            "Invalid value x.Y for configuration principal.builder.class: Class x.Y could not be found.",
        ),
        (
            {"listeners": "PLAINTEXT://127.0.0.1:1"},
            False,
            "listeners cannot be changed while the broker runs; restart it with listeners=PLAINTEXT://127.0.0.1:1",
        ),
    ],
)
def test_validate_broker_configs_raises_as_kafka(overrides: dict[str, str], cluster_wide: bool, message: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        validate_broker_configs(overrides, CURRENT, cluster_wide=cluster_wide)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("overrides", "cluster_wide"),
    [
        ({"message.max.bytes": "100000", "foo.bar": "3"}, True),
        ({"listener.name.a.ssl.keystore.type": "JKS", "ssl.client.auth": "none"}, False),
        ({"listener.name.a.max.connections": "5", "listener.name.a.num.network.threads": "4"}, True),
        ({"log.cleaner.threads": "2"}, True),
        ({"num.io.threads": "16", "background.threads": "5"}, True),
        ({"listeners": "PLAINTEXT://127.0.0.1:9092"}, False),
    ],
)
def test_validate_broker_configs_allowed_change_passes(overrides: dict[str, str], cluster_wide: bool) -> None:
    validate_broker_configs(overrides, CURRENT, cluster_wide=cluster_wide)


def test_cleaner_threads_are_not_reduced_to_less_than_half() -> None:
    current = BrokerConfig({"log.cleaner.threads": "8"})
    validate_broker_configs({"log.cleaner.threads": "4"}, current, cluster_wide=True)
    with pytest.raises(InvalidConfig, match="cannot be reduced to less than half the current value 8"):
        validate_broker_configs({"log.cleaner.threads": "3"}, current, cluster_wide=True)
