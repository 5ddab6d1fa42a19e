"""The options with which Kafka creates its internal topics: `__consumer_offsets`, `__transaction_state` and `__share_group_state`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..settings.values import BrokerConfig
from ..topics.names import CONSUMER_OFFSETS, SHARE_GROUP_STATE, TRANSACTION_STATE

MIN_SEGMENT_BYTES = 1024 * 1024
"""The lowest value that the topic setting segment.bytes accepts."""
_PREFIXES = {
    CONSUMER_OFFSETS: "offsets.topic",
    TRANSACTION_STATE: "transaction.state.log",
    SHARE_GROUP_STATE: "share.coordinator.state.topic",
}
"""The beginning of the names of the broker settings that configure each topic."""


class InternalTopic(NamedTuple):
    """The options of an internal topic when it is created."""

    partitions: int
    replication_factor: int
    configs: Mapping[str, str | None]


def internal_topic(name: str, config: BrokerConfig) -> InternalTopic | None:
    """Returns the options of an internal topic according to the broker settings; None for any other name."""
    prefix = _PREFIXES.get(name)
    if prefix is None:
        return None
    integers = config.integers
    segment_bytes = integers[f"{prefix}.segment.bytes"]
    # The broker settings allow smaller values than segment.bytes. Such a value is set as internal.segment.bytes, which has no lower bound.
    setting = "segment.bytes" if segment_bytes >= MIN_SEGMENT_BYTES else "internal.segment.bytes"
    configs = {"cleanup.policy": "compact", "compression.type": "producer", setting: str(segment_bytes)}
    if name == SHARE_GROUP_STATE:  # the share coordinator deletes what it no longer needs
        configs |= {"cleanup.policy": "delete", "retention.ms": "-1", "min.insync.replicas": str(integers[f"{prefix}.min.isr"])}
    return InternalTopic(integers[f"{prefix}.num.partitions"], integers[f"{prefix}.replication.factor"], configs)
