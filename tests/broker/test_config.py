"""How settings are parsed, looked up, described and refused. Expected texts were asked from Apache Kafka 4.3.1."""

from __future__ import annotations

import pytest

from odradek.broker.settings.rows import TOPIC_SETTINGS
from odradek.broker.settings.values import (
    BrokerConfig,
    ConfigEntry,
    ConfigSource,
    ConfigType,
    GroupConfig,
    InvalidConfig,
    Synonym,
    TopicConfig,
    parse,
    text_of,
    validate_group_configs,
    validate_topic_configs,
)

TOPIC, OWN, CLUSTER_WIDE = ConfigSource.TOPIC, ConfigSource.DYNAMIC_BROKER, ConfigSource.DYNAMIC_DEFAULT_BROKER
STATIC, DEFAULT = ConfigSource.STATIC_BROKER, ConfigSource.DEFAULT


def one(entries: list[ConfigEntry]) -> ConfigEntry:
    (entry,) = entries
    return entry


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("retention.ms", " 5 ", 5),
        ("segment.bytes", "+2000000", 2_000_000),
        ("preallocate", "TRUE", True),
        ("cleanup.policy", "delete, compact ", ("delete", "compact")),
        ("cleanup.policy", "", ()),
        ("min.cleanable.dirty.ratio", "1e-1", 0.1),
        ("min.cleanable.dirty.ratio", "0.5f", 0.5),
        ("leader.replication.throttled.replicas", "0:1,1:2", ("0:1", "1:2")),
    ],
)
def test_parse(name: str, text: str, value: object) -> None:
    assert parse(TOPIC_SETTINGS[name], text) == value


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
def test_bad_topic_configs_are_refused_in_kafkas_words(overrides: dict[str, str | None], message: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        validate_topic_configs(overrides)
    assert str(refused.value) == message


def test_good_topic_configs_are_not_refused() -> None:
    validate_topic_configs({"cleanup.policy": "delete,delete", "internal.segment.bytes": "100", "compression.gzip.level": "-1"})


def test_text_is_javas() -> None:
    doubles = {
        0.5: "0.5",
        0.0: "0.0",
        1e7: "1.0E7",
        1.7976931348623157e308: "1.7976931348623157E308",
        0.0001: "1.0E-4",
        12345678.9: "1.23456789E7",
    }
    assert {value: text_of(value) for value in doubles} == doubles
    assert [text_of(value) for value in (None, True, 5, ("a", "b"), (), float("nan"), float("-inf"))] == [
        None, "true", "5", "a,b", "", "NaN", "-Infinity",
    ]  # fmt: skip


def test_values_are_looked_up_by_type() -> None:
    config = BrokerConfig({"num.partitions": "4", "auto.create.topics.enable": "False", "foo.bar": "x"})
    assert config.integers["num.partitions"] == 4
    assert config.booleans["auto.create.topics.enable"] is False
    assert config.doubles["log.cleaner.min.cleanable.ratio"] == 0.5
    assert config.texts["log.message.timestamp.type"] == "CreateTime"
    assert config.lists["log.cleanup.policy"] == ("delete",)
    assert "log.retention.ms" not in config.integers


def test_replicas_are_at_most_the_nodes() -> None:
    factors = [BrokerConfig({}, nodes=nodes).integers["default.replication.factor"] for nodes in (1, 2, 3, 5)]
    assert factors == [1, 2, 3, 3]
    given = BrokerConfig({"offsets.topic.replication.factor": "3", "transaction.state.log.min.isr": "2"}, nodes=1)
    assert given.integers["offsets.topic.replication.factor"] == given.integers["transaction.state.log.min.isr"] == 1


def test_bad_broker_settings_are_refused_and_unknown_ones_kept() -> None:
    with pytest.raises(InvalidConfig, match=r"Invalid value many for configuration num.partitions: Not a number of type INT"):
        BrokerConfig({"num.partitions": "many"})
    config = BrokerConfig({"zookeeper.connect": "zk:2181", "num.io.threads": "16", "num.partitions": "2"})
    assert config.ignored() == ["num.io.threads", "zookeeper.connect"]


def test_broker_entries() -> None:
    config = BrokerConfig({"log.flush.interval.ms": "5000", "auto.create.topics.enable": "FALSE", "log.cleanup.policy": "compact, delete"})
    assert one(config.describe(["log.flush.interval.ms"])) == ConfigEntry(
        "log.flush.interval.ms", "5000", False, STATIC, False, ConfigType.LONG, None,
        [Synonym("log.flush.interval.ms", "5000", STATIC), Synonym("log.flush.scheduler.interval.ms", "9223372036854775807", DEFAULT)],
    )  # fmt: skip
    created = one(config.describe(["auto.create.topics.enable"]))
    assert (created.value, created.read_only, created.source) == ("false", True, STATIC)
    assert [synonym.value for synonym in created.synonyms] == ["FALSE", "true"]
    assert one(config.describe(["log.cleanup.policy"])).value == "compact,delete"
    nothing = one(config.describe(["log.retention.ms"]))
    assert (nothing.value, nothing.source, nothing.synonyms) == (None, DEFAULT, [])
    assert config.describe(["nope"]) == []
    assert len(config.describe()) == len(config.describe([])) == 341


def test_secrets_and_what_kafka_does_not_know_have_no_value() -> None:
    config = BrokerConfig({"foo.bar": "x", "ssl.key.password": "secret", "listener.name.external.ssl.keystore.location": "/x"})
    assert one(config.describe(["foo.bar"])) == ConfigEntry(
        "foo.bar", None, True, STATIC, True, ConfigType.UNKNOWN, None, [Synonym("foo.bar", None, STATIC)]
    )
    password = one(config.describe(["ssl.key.password"]))
    assert (password.value, password.is_sensitive, password.synonyms) == (None, True, [Synonym("ssl.key.password", None, STATIC)])
    override = one(config.describe(["listener.name.external.ssl.keystore.location"]))
    assert (override.value, override.read_only, override.type) == ("/x", True, ConfigType.STRING)


def test_internal_settings_are_shown_where_they_are_set() -> None:
    name = "unstable.api.versions.enable"
    assert BrokerConfig({}).describe([name]) == []
    assert one(BrokerConfig({name: "true"}).describe([name])).value == "true"


def test_dynamic_settings_go_before_static_ones() -> None:
    config = BrokerConfig({"message.max.bytes": "1"})
    config.alter(own={"message.max.bytes": "3"}, cluster_wide={"message.max.bytes": "2", "min.insync.replicas": "1"})
    assert config.integers["message.max.bytes"] == 3
    entry = one(config.describe(["message.max.bytes"]))
    assert [(synonym.value, synonym.source) for synonym in entry.synonyms] == [
        ("3", OWN), ("2", CLUSTER_WIDE), ("1", STATIC), ("1048588", DEFAULT),
    ]  # fmt: skip
    assert [(entry.name, entry.value, entry.synonyms) for entry in config.describe_cluster_wide()] == [
        ("message.max.bytes", "2", [Synonym("message.max.bytes", "2", CLUSTER_WIDE)]),
        ("min.insync.replicas", "1", [Synonym("min.insync.replicas", "1", CLUSTER_WIDE)]),
    ]
    config.alter(own={}, cluster_wide={})
    assert config.integers["message.max.bytes"] == 1


def test_a_refused_change_changes_nothing() -> None:
    config = BrokerConfig({})
    topic = TopicConfig(config, {"retention.ms": "5"})
    with pytest.raises(InvalidConfig):
        config.alter(own={"message.max.bytes": "x"}, cluster_wide={})
    with pytest.raises(InvalidConfig):
        topic.alter({"retention.ms": "x"})
    assert (config.own, config.integers["message.max.bytes"]) == ({}, 1_048_588)
    assert (topic.overrides, topic.integers["retention.ms"]) == ({"retention.ms": "5"}, 5)


@pytest.mark.parametrize(
    ("static", "retention_ms"),
    [
        ({}, 604_800_000),
        ({"log.retention.hours": "1"}, 3_600_000),
        ({"log.retention.hours": "1", "log.retention.minutes": "2"}, 120_000),
        ({"log.retention.hours": "1", "log.retention.minutes": "2", "log.retention.ms": "3"}, 3),
        ({"log.retention.hours": "-1"}, -1),
    ],
)
def test_retention_falls_back_to_the_finest_unit(static: dict[str, str], retention_ms: int) -> None:
    assert TopicConfig(BrokerConfig(static), {}).integers["retention.ms"] == retention_ms


def test_topic_entries() -> None:
    broker = BrokerConfig({"log.retention.hours": "1", "log.cleanup.policy": "compact, delete"})
    inherited = TopicConfig(broker, {})
    # Kafka says DEFAULT here: hours are no synonym that it shows.
    assert one(inherited.describe(["retention.ms"]))[1:4] == ("3600000", False, DEFAULT)
    overridden = TopicConfig(broker, {"cleanup.policy": "compact", "retention.ms": "7"})
    assert one(overridden.describe(["cleanup.policy"])).synonyms == [
        Synonym("cleanup.policy", "compact", TOPIC),
        Synonym("log.cleanup.policy", "compact, delete", STATIC),
        Synonym("log.cleanup.policy", "delete", DEFAULT),
    ]
    assert one(overridden.describe(["retention.ms"])).synonyms == [Synonym("retention.ms", "7", TOPIC)]
    assert one(inherited.describe(["cleanup.policy"]))[1:4] == ("compact,delete", False, STATIC)
    assert one(inherited.describe(["segment.jitter.ms"])).synonyms == []
    assert len(inherited.describe()) == 33


def test_a_topic_follows_its_broker_when_told() -> None:
    broker = BrokerConfig({})
    topic = TopicConfig(broker, {"retention.ms": "5"})
    broker.alter(own={"message.max.bytes": "99", "log.retention.ms": "6"}, cluster_wide={})
    topic.reload()
    assert (topic.integers["max.message.bytes"], topic.integers["retention.ms"]) == (99, 5)
    topic.alter({})
    assert topic.integers["retention.ms"] == 6


def test_group_configs() -> None:
    broker = BrokerConfig({"group.consumer.session.timeout.ms": "50000"})
    group = GroupConfig(broker, {"consumer.heartbeat.interval.ms": "6000"})
    assert (group.integers["consumer.session.timeout.ms"], group.integers["consumer.heartbeat.interval.ms"]) == (50_000, 6_000)
    assert one(group.describe(["share.isolation.level"])).synonyms == [Synonym("share.isolation.level", "read_uncommitted", DEFAULT)]
    assert one(group.describe(["consumer.heartbeat.interval.ms"])).source is ConfigSource.GROUP


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
def test_bad_group_configs(overrides: dict[str, str | None], message: str) -> None:
    validate_group_configs({"consumer.session.timeout.ms": "46000"}, BrokerConfig({}))
    with pytest.raises(InvalidConfig) as refused:
        validate_group_configs(overrides, BrokerConfig({}))
    assert str(refused.value) == message


def test_broker_config_without_classic_protocol_raises() -> None:
    assert BrokerConfig({"group.coordinator.rebalance.protocols": "classic"}).lists["group.coordinator.rebalance.protocols"] == ("classic",)
    with pytest.raises(InvalidConfig, match=r"must contain classic: Disabling the 'classic' protocol is not supported\."):
        BrokerConfig({"group.coordinator.rebalance.protocols": "consumer"})
