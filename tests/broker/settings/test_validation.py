"""Settings of topics and groups that are accepted and rejected. Expected messages were recorded from Apache Kafka 4.3.1."""

from __future__ import annotations

import pytest

from odradek.broker.settings.properties import InvalidConfig
from odradek.broker.settings.validation import validate_group_configs, validate_topic_configs
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
