"""The options that limit how much one batch of a stream reads, and where a batch ends because of them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..protocol.client.connection import TopicPartition
from .user_options import INT64_MAX, UserOptions

UNITS_MS = {"us": 0.001, "ms": 1, "": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}


@dataclass(frozen=True)
class TriggerOptions:
    """Limits for all partitions together, in offsets; None stands for no limit."""

    max_offsets: int | None
    min_offsets: int | None
    max_delay_ms: int


NO_LIMIT = TriggerOptions(max_offsets=None, min_offsets=None, max_delay_ms=900_000)


def trigger_options(options: UserOptions) -> TriggerOptions:
    """Parses the limits. Raises ValueError."""
    least, most = _offsets(options, "minOffsetsPerTrigger"), _offsets(options, "maxOffsetsPerTrigger")
    if least is not None and most is not None and least > most:
        raise ValueError(f"The value of minOffsetsPerTrigger({least}) is higher than the maxOffsetsPerTrigger({most}).")
    return TriggerOptions(max_offsets=most, min_offsets=least, max_delay_ms=_duration_ms(options, "maxTriggerDelay", "15m"))


def _offsets(options: UserOptions, name: str) -> int | None:
    return options.integer(name, 0, -INT64_MAX, INT64_MAX) if name in options else None


def _duration_ms(options: UserOptions, name: str, default: str) -> int:
    value = options.text(name, default).lower()
    found = re.fullmatch(r"(\d+)([a-z]*)", value)
    if not found or found[2] not in UNITS_MS:
        raise ValueError(f"Time must be specified as a number of us, ms, s, m, min, h or d, such as 50s; got {value} (option {name!r})")
    return int(int(found[1]) * UNITS_MS[found[2]])


def limit_ends(starts: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int], limit: int) -> dict[TopicPartition, int]:
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
