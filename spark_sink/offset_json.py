"""Offsets in the form of Spark's own Kafka source, as they stand in options and checkpoints: `{"topic":{"0":123}}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from .client import TopicPartition

OffsetJson: TypeAlias = dict[str, dict[str, int]]


def to_json(offsets: Mapping[TopicPartition, int]) -> OffsetJson:
    """In the order of topics and partitions, so that equal offsets are equal text."""
    topics: OffsetJson = {}
    for (topic, index), offset in sorted(offsets.items()):
        topics.setdefault(topic, {})[str(index)] = offset
    return topics


def from_json(topics: Mapping[str, Mapping[str, int]]) -> dict[TopicPartition, int]:
    """Raises AttributeError, ValueError for what is not of this form; the offsets are not looked at."""
    return {TopicPartition(topic, int(index)): offset for topic, offsets in topics.items() for index, offset in offsets.items()}
