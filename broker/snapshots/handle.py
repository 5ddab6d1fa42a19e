"""The handle of a snapshot. It is a module of its own, so that declaring the controls imports nothing else of the snapshots."""

from __future__ import annotations

from ..frozen_data import FrozenData


class Snapshot(FrozenData):
    """A handle of a snapshot. It is valid until the snapshot is closed."""

    id: int
    taken_ms: int
    """The time of the cluster at which it was taken, in milliseconds since the Unix epoch."""
    topics: int
    """The number of topics, internal ones included."""
    log_bytes: int
    """The size of all logs, which the snapshot shares with the cluster."""
