"""Names of topics, and options of internal topics."""

from __future__ import annotations

import pytest

from odradek.broker.settings.values import BrokerConfig
from odradek.broker.topics.topics import illegal_name, internal_topic
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.broker.harness import World


@pytest.mark.parametrize(
    ("name", "legal"), [("a.b_c-D9", True), ("x" * 249, True), ("x" * 250, False), ("", False), (".", False), ("a b", False)]
)
def test_illegal_name_returns_a_reason(name: str, legal: bool) -> None:
    assert (illegal_name(name) is None) == legal


def test_create_with_metric_name_in_use_is_refused_until_deleted() -> None:
    cluster = World().cluster
    topic = cluster.topics.create("a.b", 1)
    with pytest.raises(KafkaError, match=r"collides with existing topic: a\.b") as refused:
        cluster.topics.create("a_b", 1)
    assert refused.value.code == ErrorCode.INVALID_TOPIC_EXCEPTION
    cluster.delete_topic(topic)
    assert cluster.topics.create("a_b", 1).name == "a_b"


def test_internal_topic_follows_broker_settings() -> None:
    config = BrokerConfig({"offsets.topic.num.partitions": "7", "offsets.topic.segment.bytes": "1048576"}, nodes=3)
    assert internal_topic("__consumer_offsets", config) == (
        7,
        3,
        {"cleanup.policy": "compact", "compression.type": "producer", "segment.bytes": "1048576"},
    )


def test_internal_topic_with_small_segments_uses_internal_config() -> None:
    options = internal_topic("__transaction_state", BrokerConfig({"transaction.state.log.segment.bytes": "1000"}, nodes=1))
    assert options is not None
    assert options.configs["internal.segment.bytes"] == "1000"


def test_internal_topic_of_other_name_is_none() -> None:
    assert internal_topic("t", BrokerConfig({}, nodes=1)) is None
