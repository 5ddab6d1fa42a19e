"""Converts offsets to and from the JSON form of Spark's own Kafka source in options and checkpoints: `{"topic":{"0":123}}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from .client import TopicPartition

OffsetJson: TypeAlias = dict[str, dict[str, int]]


def to_json(offsets: Mapping[TopicPartition, int]) -> OffsetJson:
    """Converts offsets in the order of topics and partitions, so that equal offsets have equal JSON texts."""
    topics: OffsetJson = {}
    for (topic, index), offset in sorted(offsets.items()):
        topics.setdefault(topic, {})[str(index)] = offset
    return topics


def from_json(topics: Mapping[str, Mapping[str, int]]) -> dict[TopicPartition, int]:
    """Parses offsets. Raises AttributeError or ValueError for JSON of another form; the types of offsets are not checked."""
    return {TopicPartition(topic, int(index)): offset for topic, offsets in topics.items() for index, offset in offsets.items()}
