"""The part of the cluster that groups read, and the method by which they write records. `ClusterState` implements it.

Kafka's group coordinator sends the requests InitializeShareGroupState, DeleteShareGroupState and ReadShareGroupStateSummary to the share
coordinator. Here both are in one process, so these are method calls of `SharePartitionsView`, which `ClusterState.share_states` implements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ...protocol.stored.coordinator_records import CoordinatorRecord

if TYPE_CHECKING:
    from ..releases.release import Release
    from ..settings.values import BrokerConfig, GroupConfig
    from ..topics.partition import Topic
    from ..transactions.transaction import Producer
    from .consumer.regex_resolutions import Resolutions


UNINITIALIZED_START_OFFSET = -1
"""The start offset of a share partition whose first fetch determines it by `share.auto.offset.reset`."""


class ShareStateSummary(NamedTuple):
    """The stored epochs and offsets of a share partition. `delivery_complete_count` is -1 until its records have been read (KIP-1226)."""

    state_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int


class SharePartitionsView(Protocol):
    """The stored states of share partitions, each a group, a topic id (16 bytes) and a partition index."""

    def initialize(self, group_id: str, topic_id: bytes, partition: int, start_offset: int, state_epoch: int) -> None:
        """Stores a new state. Raises KafkaError with FENCED_STATE_EPOCH or UNKNOWN_TOPIC_OR_PARTITION."""

    def delete(self, group_id: str, topic_id: bytes, partition: int) -> None:
        """Removes a state if it exists. Raises KafkaError with UNKNOWN_TOPIC_OR_PARTITION."""

    def set_start_offset(self, group_id: str, topic_id: bytes, partition: int, start_offset: int, state_epoch: int) -> None:
        """Replaces a state by a new one that begins at `start_offset`. Raises KafkaError as `initialize` does."""

    def summary(self, group_id: str, topic_id: bytes, partition: int) -> ShareStateSummary | None:
        """Returns what is stored of a share partition; None if nothing is."""


class ClusterView(Protocol):
    """Topics, settings of single groups, and the log of the group coordinator."""

    @property
    def topics(self) -> Mapping[str, Topic]:
        """Topics by name."""

    @property
    def topics_by_id(self) -> Mapping[bytes, Topic]:
        """Topics by topic id (16 bytes)."""

    @property
    def topics_version(self) -> int:
        """A number that changes whenever a topic or a partition is created or deleted."""

    @property
    def regexes(self) -> Resolutions:
        """The regular expressions that members of any group subscribe to, with the topics that match."""

    @property
    def release(self) -> Release | None:
        """The release of Kafka that clients see, None for 4.3."""

    @property
    def config(self) -> BrokerConfig:
        """The broker settings."""

    @property
    def group_configs(self) -> Mapping[str, GroupConfig]:
        """Settings of single groups (config resource GROUP), by group id. A group without settings has no entry."""

    @property
    def share_states(self) -> SharePartitionsView:
        """The stored states of the share partitions of all groups."""

    def tell(self, kind: str, text: str, **fields: str | int) -> None:
        """Tells the record of exchanges of an event."""

    def write(self, group_id: str, records: Sequence[CoordinatorRecord], producer: Producer | None = None) -> None:
        """Appends records to the partition of `__consumer_offsets` that belongs to the group.

        With a producer, the records are part of its transaction. Raises StaleProducerEpoch if a newer epoch of the producer has written.
        """
