"""Computes where a batch of a stream ends when maxOffsetsPerTrigger limits it."""

from __future__ import annotations

import math
from collections.abc import Mapping

from .client import TopicPartition


def limited_ends(starts: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int], limit: int) -> dict[TopicPartition, int]:
    """Returns ends that together admit about `limit` offsets, shared in proportion to the backlog of each partition.

    A partition with a backlog gets at least one offset, as in Spark's KafkaMicroBatchStream.
    """
    sizes = {partition: max(end - starts[partition], 0) for partition, end in ends.items()}
    total = sum(sizes.values())
    return {
        partition: min(starts[partition] + _share(limit * size / total), ends[partition]) if size else ends[partition]
        for partition, size in sizes.items()
    }


def _share(exact: float) -> int:
    return max(math.floor(exact) if exact >= 1 else math.ceil(exact), 0)
