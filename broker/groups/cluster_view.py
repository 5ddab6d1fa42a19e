"""The part of the cluster that groups read, and the method by which they write records. `ClusterState` implements it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from ...protocol.stored.coordinator_records import CoordinatorRecord
from ..transactions.transaction import Producer

if TYPE_CHECKING:
    from ..releases.release import Release
    from ..settings.values import BrokerConfig, GroupConfig
    from ..topics.partition import Topic
    from .consumer.regex_resolutions import Resolutions
    from .share.partitions_view import SharePartitionsView


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
