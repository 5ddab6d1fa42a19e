"""The record of a request that a fault has hit. It is part of what controls return, so this module imports no other."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Exchange:
    """A request that a fault has hit. `time_ms` is the time of the cluster in milliseconds since the Unix epoch."""

    time_ms: int
    node: int
    connection: int
    client_id: str
    api: str
    version: int
    correlation_id: int
    topics: tuple[str, ...]
