"""The progress of a group in a partition. It is a module of its own, so that the declarations of controls import no more of the cluster."""

from __future__ import annotations

from collections.abc import Collection

from ..frozen_data import FrozenData


class OffsetInfo(FrozenData):
    """The progress of a group in a partition.

    `committed` is the committed offset, or None if there is none. `lag` is the number of offsets up to the high watermark; without a
    committed offset it counts from the start of the log. In a share group, `committed` is the start offset, or None before the first
    fetch, and `lag` does not count records after it that are acknowledged or archived.
    """

    topic: str
    partition: int
    committed: int | None
    metadata: str
    lag: int


def total_lag(offsets: Collection[OffsetInfo]) -> int | None:
    """Returns the sum of the lags, None without partitions: a group that reads nothing and has committed nothing has an unknown lag."""
    return sum(each.lag for each in offsets) if offsets else None
