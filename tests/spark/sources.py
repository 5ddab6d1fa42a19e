"""The names of the two sources, and the options that tests pass to both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.spark.kafka_topics import Broker

OFFICIAL, OURS = "kafka", "odradek"
"""The names for `format`."""

# Tests of missing topics and brokers would wait for the defaults, which suit slow networks.
SHORT_TIMEOUTS = {
    "kafka.max.block.ms": 2000,
    "kafka.fetch.max.wait.ms": 10,
    "kafkaConsumer.pollTimeoutMs": 2000,
    "fetchOffset.retryIntervalMs": 10,
}

OFFICIAL_SPELLINGS = {
    "Kafka option 'kafka.": "Kafka option '",
    "subscribePattern, assign": "subscribepattern, assign",
    "maxRecordsPerPartition must": "maxrecordsperpartition must",
    "minOffsetsPerTrigger(": "minOffsetPerTrigger(",
}
"""odradek's wording to the official connector's, which does not always spell options as users do."""


def official_wording(text: str) -> str:
    """Returns an error text of odradek as the official connector words it."""
    for ours, theirs in OFFICIAL_SPELLINGS.items():
        text = text.replace(ours, theirs)
    return text


def with_broker(broker: Broker, options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns options with the addresses of a broker and short time-outs."""
    return {"kafka.bootstrap.servers": broker.bootstrap_servers} | SHORT_TIMEOUTS | dict(options)
