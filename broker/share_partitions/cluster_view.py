"""The part of the cluster that share partitions and their coordinator use, and the log of the coordinator."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from ...protocol.stored.coordinator_records import CoordinatorRecord

if TYPE_CHECKING:
    from ..scheduling.timers import Timers
    from ..settings.values import BrokerConfig, GroupConfig
    from ..topics.partition import Topic
    from .coordinator import ShareCoordinator


class ClusterView(Protocol):
    """Topics, time, settings and stored states. `ClusterState` implements it."""

    @property
    def timers(self) -> Timers:
        """The timers of the cluster, with its clock."""

    @property
    def config(self) -> BrokerConfig:
        """The broker settings."""

    @property
    def topics_by_id(self) -> Mapping[bytes, Topic]:
        """Topics by topic id (16 bytes)."""

    @property
    def group_configs(self) -> Mapping[str, GroupConfig]:
        """Settings of single groups, by group id. A group without settings has no entry."""

    @property
    def share_states(self) -> ShareCoordinator:
        """The stored states of share partitions."""

    @property
    def wake(self) -> Callable[[Hashable], None]:
        """Resumes the requests that wait for a key."""


class StateLog(Protocol):
    """The log `__share_group_state`. `state_log.ShareStateLog` implements it."""

    def append(self, key: str, records: Sequence[CoordinatorRecord]) -> tuple[int, int]:
        """Appends records to the partition that belongs to the key, and returns its index and the offset of the first record.

        Raises KafkaError with COORDINATOR_NOT_AVAILABLE if the partition has no leader.
        """

    def records(self) -> Iterator[tuple[int, int, CoordinatorRecord]]:
        """Yields (partition index, offset, record) for all records of the log. The log may not exist yet."""

    def delete_before(self, partition: int, offset: int) -> None:
        """Deletes the records of a partition of the log before an offset."""
