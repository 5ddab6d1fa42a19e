"""Settings are looked up, inherited, changed and described. Expected entries were recorded from Apache Kafka 4.3.1."""

from __future__ import annotations

import pytest

from odradek.broker.settings.properties import InvalidConfig
from odradek.broker.settings.rows import BROKER_SETTINGS, TOPIC_SETTINGS
from odradek.broker.settings.types import ConfigType
from odradek.broker.settings.values import (
    BrokerConfig,
    ConfigEntry,
    ConfigSource,
    GroupConfig,
    ListenerSettings,
    Synonym,
    TopicConfig,
    base_name,
    parse,
    text_of,
)

TOPIC, OWN, CLUSTER_WIDE = ConfigSource.TOPIC, ConfigSource.DYNAMIC_BROKER, ConfigSource.DYNAMIC_DEFAULT_BROKER
STATIC, DEFAULT = ConfigSource.STATIC_BROKER, ConfigSource.DEFAULT


def one(entries: list[ConfigEntry]) -> ConfigEntry:
    (entry,) = entries
    return entry


def test_config_values_are_looked_up_by_type() -> None:
    config = BrokerConfig({"num.partitions": "4", "auto.create.topics.enable": "False", "foo.bar": "x"})
    assert config.integers["num.partitions"] == 4
    assert config.booleans["auto.create.topics.enable"] is False
    assert config.doubles["log.cleaner.min.cleanable.ratio"] == 0.5
    assert config.texts["log.message.timestamp.type"] == "CreateTime"
    assert config.lists["log.cleanup.policy"] == ("delete",)
    assert "log.retention.ms" not in config.integers


def test_broker_config_caps_replicas_at_number_of_nodes() -> None:
    factors = [BrokerConfig({}, nodes=nodes).integers["default.replication.factor"] for nodes in (1, 2, 3, 5)]
    assert factors == [1, 2, 3, 3]
    config = BrokerConfig({"offsets.topic.replication.factor": "3", "transaction.state.log.min.isr": "2"}, nodes=1)
    assert config.integers["offsets.topic.replication.factor"] == config.integers["transaction.state.log.min.isr"] == 1


def test_broker_config_rejects_invalid_and_keeps_unknown() -> None:
    with pytest.raises(InvalidConfig, match=r"Invalid value many for configuration num.partitions: Not a number of type INT"):
        BrokerConfig({"num.partitions": "many"})
    config = BrokerConfig({"zookeeper.connect": "zk:2181", "num.io.threads": "16", "num.partitions": "2"})
    assert config.ignored_settings() == ["num.io.threads", "zookeeper.connect"]


def test_broker_config_describe_returns_entries() -> None:
    config = BrokerConfig({"log.flush.interval.ms": "5000", "auto.create.topics.enable": "FALSE", "log.cleanup.policy": "compact, delete"})
    text = BROKER_SETTINGS["log.flush.interval.ms"].documentation
    assert one(config.describe(["log.flush.interval.ms"])) == ConfigEntry(
        "log.flush.interval.ms", "5000", False, STATIC, False, ConfigType.LONG, text,
        [Synonym("log.flush.interval.ms", "5000", STATIC), Synonym("log.flush.scheduler.interval.ms", "9223372036854775807", DEFAULT)],
    )  # fmt: skip
    created = one(config.describe(["auto.create.topics.enable"]))
    assert (created.value, created.read_only, created.source) == ("false", True, STATIC)
    assert [synonym.value for synonym in created.synonyms] == ["FALSE", "true"]
    assert one(config.describe(["log.cleanup.policy"])).value == "compact,delete"
    nothing = one(config.describe(["log.retention.ms"]))
    assert (nothing.value, nothing.source, nothing.synonyms) == (None, DEFAULT, [])
    assert config.describe(["nope"]) == []
    assert len(config.describe()) == len(config.describe([])) == 340


def test_broker_config_describe_hides_secrets_and_unknown() -> None:
    config = BrokerConfig({"foo.bar": "x", "ssl.key.password": "secret", "listener.name.external.ssl.keystore.location": "/x"})
    assert one(config.describe(["foo.bar"])) == ConfigEntry(
        "foo.bar", None, True, STATIC, True, ConfigType.UNKNOWN, None, [Synonym("foo.bar", None, STATIC)]
    )
    password = one(config.describe(["ssl.key.password"]))
    assert (password.value, password.is_sensitive, password.synonyms) == (None, True, [Synonym("ssl.key.password", None, STATIC)])
    override = one(config.describe(["listener.name.external.ssl.keystore.location"]))
    assert (override.value, override.read_only, override.type) == ("/x", True, ConfigType.STRING)


def test_broker_config_describe_shows_internal_only_if_set() -> None:
    name = "unstable.api.versions.enable"
    assert BrokerConfig({}).describe([name]) == []
    assert one(BrokerConfig({name: "true"}).describe([name])).value == "true"


def test_broker_config_dynamic_takes_precedence_over_static() -> None:
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


def test_config_alter_invalid_changes_nothing() -> None:
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
def test_topic_config_retention_uses_finest_unit(static: dict[str, str], retention_ms: int) -> None:
    assert TopicConfig(BrokerConfig(static), {}).integers["retention.ms"] == retention_ms


def test_topic_config_describe_returns_entries() -> None:
    broker = BrokerConfig({"log.retention.hours": "1", "log.cleanup.policy": "compact, delete"})
    inherited = TopicConfig(broker, {})
    # Kafka returns DEFAULT here, because it does not list log.retention.hours as a synonym.
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


def test_topic_config_reload_reads_changed_broker() -> None:
    broker = BrokerConfig({})
    topic = TopicConfig(broker, {"retention.ms": "5"})
    broker.alter(own={"message.max.bytes": "99", "log.retention.ms": "6"}, cluster_wide={})
    topic.reload()
    assert (topic.integers["max.message.bytes"], topic.integers["retention.ms"]) == (99, 5)
    topic.alter({})
    assert topic.integers["retention.ms"] == 6


def test_topic_configs_without_overrides_share_their_values() -> None:
    broker = BrokerConfig({})
    one, other, own = TopicConfig(broker, {}), TopicConfig(broker, {}), TopicConfig(broker, {"retention.ms": "1"})
    assert one.values is other.values and one.integers is other.integers and one.derived is not other.derived
    one.alter({"retention.ms": "2"})
    assert [config.integers["retention.ms"] for config in (one, other, own)] == [2, 604_800_000, 1]
    one.alter({})
    assert one.values is other.values
    broker.alter(own={}, cluster_wide={"log.retention.ms": "3"})
    for config in (one, other, own):
        config.reload()
    assert [config.integers["retention.ms"] for config in (one, other, own)] == [3, 3, 1]


def test_group_config_inherits_from_broker() -> None:
    broker = BrokerConfig({"group.consumer.session.timeout.ms": "50000"})
    group = GroupConfig(broker, {"consumer.heartbeat.interval.ms": "6000"})
    assert (group.integers["consumer.session.timeout.ms"], group.integers["consumer.heartbeat.interval.ms"]) == (50_000, 6_000)
    assert one(group.describe(["share.isolation.level"])).synonyms == [Synonym("share.isolation.level", "read_uncommitted", DEFAULT)]
    assert one(group.describe(["consumer.heartbeat.interval.ms"])).source is ConfigSource.GROUP


def test_broker_config_without_classic_protocol_raises() -> None:
    assert BrokerConfig({"group.coordinator.rebalance.protocols": "classic"}).lists["group.coordinator.rebalance.protocols"] == ("classic",)
    with pytest.raises(InvalidConfig, match=r"must contain classic: Disabling the 'classic' protocol is not supported\."):
        BrokerConfig({"group.coordinator.rebalance.protocols": "consumer"})


def test_cleaner_threads_need_a_buffer_each() -> None:
    """KafkaConfig.validateValues demands more than 1 MiB per thread."""
    settings = {"log.cleaner.threads": "2", "log.cleaner.dedupe.buffer.size": str(2 << 20)}
    with pytest.raises(InvalidConfig, match="at least 1MB per cleaner thread"):
        BrokerConfig(settings)
    config = BrokerConfig(settings | {"log.cleaner.dedupe.buffer.size": str((2 << 20) + 2)})
    with pytest.raises(InvalidConfig, match="at least 1MB per cleaner thread"):
        config.with_dynamic(own={}, cluster_wide={"log.cleaner.threads": "3"})


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
def test_parse_returns_typed_value(name: str, text: str, value: object) -> None:
    assert parse(TOPIC_SETTINGS[name], text) == value


def test_text_of_returns_text_that_java_shows() -> None:
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


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("num.partitions", "num.partitions"),
        ("listener.name.external.ssl.keystore.location", "ssl.keystore.location"),
        ("listener.name.external.scram-sha-256.sasl.jaas.config", "sasl.jaas.config"),
        ("listener.name.external.unknown.setting", "unknown.setting"),
        ("listener.name.external", "listener.name.external"),
    ],
)
def test_base_name_is_name_without_prefix(name: str, expected: str) -> None:
    assert base_name(name) == expected


REAUTH = "connections.max.reauth.ms"


def test_listener_value_precedes_that_of_all_listeners() -> None:
    config = BrokerConfig({REAUTH: "5", f"listener.name.external.{REAUTH}": "7", "sasl.enabled.mechanisms": "PLAIN, SCRAM-SHA-256"})
    assert [ListenerSettings(config, name).integer(REAUTH) for name in ("EXTERNAL", "INTERNAL")] == [7, 5]
    assert ListenerSettings(config, "EXTERNAL").words("sasl.enabled.mechanisms") == ("PLAIN", "SCRAM-SHA-256")


def test_listener_value_without_any_is_the_default() -> None:
    settings = ListenerSettings(BrokerConfig({}), "EXTERNAL")
    assert (settings.integer(REAUTH), settings.text("ssl.keystore.location"), settings.text("ssl.client.auth")) == (0, "", "none")
    assert settings.override(REAUTH) is None


def test_listener_value_follows_dynamic_changes() -> None:
    name = f"listener.name.external.{REAUTH}"
    config = BrokerConfig({name: "1"})
    settings = ListenerSettings(config, "EXTERNAL")
    config.alter(own={}, cluster_wide={name: "2"})
    assert settings.integer(REAUTH) == 2
    config.alter(own={name: "3"}, cluster_wide={name: "2"})
    assert settings.integer(REAUTH) == 3


def test_listener_value_of_a_mechanism_has_its_prefix() -> None:
    config = BrokerConfig({"listener.name.external.scram-sha-256.connections.max.reauth.ms": "9"})
    settings = ListenerSettings(config, "EXTERNAL")
    assert (settings.of_mechanism("SCRAM-SHA-256", REAUTH), settings.of_mechanism("PLAIN", REAUTH)) == ("9", None)


def test_listener_value_invalid_is_refused() -> None:
    settings = ListenerSettings(BrokerConfig({f"listener.name.external.{REAUTH}": "soon"}), "EXTERNAL")
    with pytest.raises(InvalidConfig, match=REAUTH):
        settings.integer(REAUTH)
