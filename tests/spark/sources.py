"""The two sources, and the options that both are given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.spark.kafka_topics import Broker

OFFICIAL, OURS = "kafka", "odradek"
"""What `format` takes."""

# The defaults are for slow networks: who waits in a test waits in vain.
IMPATIENT = {
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
"""The official connector does not always spell options as its users do; we do."""


def officially(text: str) -> str:
    """A text of ours as the official connector says it."""
    for ours, theirs in OFFICIAL_SPELLINGS.items():
        text = text.replace(ours, theirs)
    return text


def given(broker: Broker, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options with the address of the broker."""
    return {"kafka.bootstrap.servers": broker.bootstrap_servers} | IMPATIENT | dict(options)
