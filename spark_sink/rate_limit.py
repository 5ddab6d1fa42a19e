"""How far a batch of a stream goes when it may not take everything."""

from __future__ import annotations

import math
from collections.abc import Mapping

from .client import TopicPartition


def limited(starts: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int], limit: int) -> dict[TopicPartition, int]:
    """Ends of about `limit` offsets in all, from each partition in proportion to what it has, but at least one of each that has any."""
    sizes = {partition: max(end - starts[partition], 0) for partition, end in ends.items()}
    total = sum(sizes.values())
    return {
        partition: min(starts[partition] + _share(limit * size / total), ends[partition]) if size else ends[partition]
        for partition, size in sizes.items()
    }


def _share(exact: float) -> int:
    return max(math.floor(exact) if exact >= 1 else math.ceil(exact), 0)
