"""A heartbeat of a member of a streams group and its result, without protocol messages."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

from .configuration import NewTopic
from .member import Endpoint
from .tasks import CurrentTasks
from .topology import Topology

LEAVE_EPOCH, LEAVE_STATIC_EPOCH = -1, -2
"""The epochs in the heartbeats of members that leave for ever or temporarily. Kafka 4.3 refuses static members."""

OwnedTasks = tuple[tuple[str, tuple[int, ...]], ...]
"""(subtopology id, partitions) as a member has sent them."""


class StatusCode(IntEnum):
    """The conditions of a group that its members have to know (Kafka's StreamsGroupHeartbeatResponse.Status)."""

    STALE_TOPOLOGY = 0
    """The member has joined with an older topology than that of the group."""
    MISSING_SOURCE_TOPICS = 1
    INCORRECTLY_PARTITIONED_TOPICS = 2
    MISSING_INTERNAL_TOPICS = 3
    """Internal topics do not exist yet; the heartbeat has requested their creation."""
    SHUTDOWN_APPLICATION = 4
    """A member has requested that all members shut down."""
    ASSIGNMENT_DELAYED = 5
    """The target assignment will be computed later, because of a setting."""


class Status(NamedTuple):
    """A condition with an explanation in Kafka's words."""

    code: StatusCode
    detail: str


class StreamsHeartbeat(NamedTuple):
    """A StreamsGroupHeartbeat request. None (-1 for the timeout) means: unchanged since the last heartbeat.

    The owned tasks are either all None or none of them is. Kafka fails on a heartbeat that `is_malformed`, but checks the member first.
    """

    member_id: str
    epoch: int
    endpoint_epoch: int = 0
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    topology: Topology | None = None
    active: OwnedTasks | None = None
    standby: OwnedTasks | None = None
    warmup: OwnedTasks | None = None
    process_id: str | None = None
    endpoint: Endpoint | None = None
    client_tags: Mapping[str, str] | None = None
    shutdown_application: bool = False
    client_id: str = ""
    client_host: str = ""
    is_malformed: bool = False


class EndpointPartitions(NamedTuple):
    """The partitions that the application at an address can answer queries about, by topic."""

    endpoint: Endpoint
    active: list[tuple[str, list[int]]]
    standby: list[tuple[str, list[int]]]


class StreamsHeartbeatResult(NamedTuple):
    """The result of a `StreamsHeartbeat`.

    `tasks` is None if they have not changed, `endpoints` is None if the member knows them. `missing_topics` have to be created.
    """

    member_id: str
    epoch: int
    heartbeat_interval_ms: int = 0
    statuses: tuple[Status, ...] = ()
    tasks: CurrentTasks | None = None
    endpoint_epoch: int = 0
    endpoints: list[EndpointPartitions] | None = None
    missing_topics: tuple[NewTopic, ...] = ()
