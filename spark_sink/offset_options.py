"""The options that say where a read starts and ends."""

from __future__ import annotations

from typing import TypeAlias

from .client import EARLIEST, LATEST, TopicPartition
from .given import Given, expected, is_integer

Offsets: TypeAlias = int | dict[TopicPartition, int]
"""EARLIEST or LATEST for all partitions, or for each one an offset or one of these."""

OFFSETS_EXAMPLE = '{"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}'


def offsets(given: Given, name: str, default: str) -> Offsets:
    """Raises ValueError."""
    value = given.text(name, default)
    if value.lower() in ("earliest", "latest"):
        return EARLIEST if value.lower() == "earliest" else LATEST
    found = _by_partition(given, name, OFFSETS_EXAMPLE)
    if not all(offset >= EARLIEST for offset in found.values()):
        raise expected(OFFSETS_EXAMPLE, value, name)
    return found


def _by_partition(given: Given, name: str, example: str) -> dict[TopicPartition, int]:
    topics = given.json_object(name, example)
    try:
        found = {TopicPartition(topic, int(index)): number for topic, numbers in topics.items() for index, number in numbers.items()}
    except (AttributeError, ValueError):
        raise expected(example, given.text(name, ""), name) from None
    if not all(is_integer(number) for number in found.values()):
        raise expected(example, given.text(name, ""), name)
    return found
