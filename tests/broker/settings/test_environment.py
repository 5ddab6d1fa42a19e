"""Environment variables of other Kafka images are accepted, with the same meaning."""

from __future__ import annotations

import pytest

from odradek.broker.cli import _parser
from odradek.broker.commands.serve import cluster_config, topic_specs
from odradek.broker.settings.cluster_config import TopicSpec
from odradek.broker.settings.properties import InvalidConfig, settings_of
from tests.broker.settings.environments import ENVIRONMENTS


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_environment_of_image_configures_same_listeners(name: str) -> None:
    environ, expected = ENVIRONMENTS[name]
    cluster = cluster_config(_parser().parse_args(["serve"]), environ)
    listeners = [each for node in cluster.nodes for each in node.listeners]
    assert [f"{each.node_id} {each.name} {each.host}:{each.port} {each.advertised}" for each in listeners] == expected


def test_settings_of_skips_variables_of_start_scripts() -> None:
    environ = {
        "KAFKA_BROKER_ID": "1",
        "KAFKA_LISTENER_NAME_A__B_SSL_KEY": "x",
        "KAFKA_FOO___BAR": "y",
        "KAFKA_HEAP_OPTS": "-Xmx1g",
        "KAFKA_OPTS": "-Dx",
        "KAFKA_JVM_PERFORMANCE_OPTS": "-server",
        "KAFKA_LOG4J_LOGGERS": "kafka=WARN",
        "KAFKA_LOG4J_ROOT_LOGLEVEL": "WARN",
        "KAFKA_JMX_PORT": "9101",
        "KAFKA_CREATE_TOPICS": "a:1:1",
        "KAFKA_CREATE_TOPICS_SEPARATOR": ",",
        "KAFKA_": "nothing",
        "CLUSTER_ID": "abc",
        "PATH": "/bin",
    }
    assert settings_of(environ) == {"broker.id": "1", "listener.name.a_b.ssl.key": "x", "foo-bar": "y"}


def test_settings_of_prefers_bitnami_names() -> None:
    assert settings_of({"KAFKA_CFG_NUM_PARTITIONS": "3", "KAFKA_NUM_PARTITIONS": "2", "KAFKA_CFG_A__B": "c"}) == {
        "num.partitions": "3",
        "a_b": "c",
    }


def created(text: str) -> list[TopicSpec]:
    environ = {"KAFKA_CREATE_TOPICS": text}
    options = _parser().parse_args(["serve", "--topic", "first:1"])
    return topic_specs(options, environ, cluster_config(options, environ))[1:]


def test_create_topics_returns_topic_specs() -> None:
    compacted = TopicSpec("Topic2", 3, 2, {"cleanup.policy": "compact"})
    assert created("Topic1:1:1, Topic2:3:2:compact,") == [TopicSpec("Topic1", 1, 1), compacted]
    assert created("a:1:1\nb:2\n") == [TopicSpec("a", 1, 1), TopicSpec("b", 2)]
    assert created("") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("orders", "invalid topic 'orders' in KAFKA_CREATE_TOPICS: write name:partitions:replicas"),
        ("orders:1:1:compact:x", "topic orders: Invalid value compact:x for configuration cleanup.policy"),
        ("orders:1:3", "topic orders: replication factor 3 exceeds the number of nodes"),
        ("first:1:1", "topic first is specified twice"),
    ],
)
def test_create_topics_invalid_raises(text: str, message: str) -> None:
    with pytest.raises(InvalidConfig, match=message):
        created(text)


def test_listeners_in_environment_make_one_node() -> None:
    def nodes(*argv: str, **environ: str) -> int:
        return len(cluster_config(_parser().parse_args(["serve", *argv]), environ).nodes)

    assert nodes(KAFKA_LISTENERS="A://:9092") == 1
    assert nodes(KAFKA_ADVERTISED_LISTENERS="A://kafka:9092") == 1
    assert nodes("--nodes", "3", KAFKA_LISTENERS="A://:9092") == 3
    assert nodes("--listener", "B://127.0.0.1:9092", KAFKA_LISTENERS="A://:9092") == 2
    assert nodes(KAFKA_NUM_PARTITIONS="3") == 2


def test_topic_setting_in_environment_is_ignored() -> None:
    cluster = cluster_config(_parser().parse_args(["serve"]), {"KAFKA_MAX_MESSAGE_BYTES": "1000", "KAFKA_RETENTION_MS": "5"})
    assert cluster.ignored == ("max.message.bytes", "retention.ms")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("KAFKA_NUM_PARTITION", "num.partitions"),
        ("KAFKA_CFG_AUTO_CREATE_TOPIC_ENABLE", "auto.create.topics.enable"),
        ("KAFKA_LOG_RETENTION_HOUR", "log.retention.hours"),
    ],
)
def test_misspelt_variable_raises(name: str, meant: str) -> None:
    with pytest.raises(InvalidConfig, match=rf"unknown setting \S+; did you mean {meant}\?"):
        cluster_config(_parser().parse_args(["serve"]), {name: "1"})
