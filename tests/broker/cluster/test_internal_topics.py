"""Options of internal topics."""

from __future__ import annotations

from odradek.broker.cluster.internal_topics import internal_topic
from odradek.broker.settings.values import BrokerConfig


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
