"""A heartbeat of a consumer group's member and its result, without the differences between protocol versions."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .assignors import Slot

LEAVE_EPOCH = -1
"""The epoch in the heartbeat of a member that leaves."""
LEAVE_STATIC_EPOCH = -2
"""The epoch in the heartbeat of a static member that leaves temporarily and may return within its session timeout."""


class ConsumerHeartbeat(NamedTuple):
    """A ConsumerGroupHeartbeat request. None (-1 for the timeout) means: unchanged since the last heartbeat."""

    member_id: str
    epoch: int
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    topics: frozenset[str] | None = None
    regex: str | None = None
    assignor: str | None = None
    owned: frozenset[Slot] | None = None
    client_id: str = ""
    client_host: str = ""
    may_describe: Callable[[str], bool] | None = None
    """Returns whether the client may describe a topic, so that a regular expression may match it; None if it may describe all."""

    @property
    def is_full(self) -> bool:
        """Whether the heartbeat contains all fields, as after a join or an error. Its result contains the assignment then."""
        subscribes = self.topics is not None or self.regex is not None
        return self.epoch == 0 or (self.rebalance_timeout_ms != -1 and self.owned is not None and subscribes)


class ConsumerHeartbeatResult(NamedTuple):
    """The result of a `ConsumerHeartbeat`. `assignment` is None if the assignment has not changed."""

    member_id: str
    epoch: int
    heartbeat_interval_ms: int = 0
    assignment: frozenset[Slot] | None = None
