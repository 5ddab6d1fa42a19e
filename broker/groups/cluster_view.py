"""What groups see of the cluster that they live in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from ...protocol.coordinator_records import CoordinatorRecord
from ..transactions.transaction import Producer

if TYPE_CHECKING:
    from ..settings.values import GroupConfig
    from ..topics.topic import Topic
    from .consumer.resolutions import Resolutions


class ClusterView(Protocol):
    """Topics by name and id, settings of single groups by their names, and where records go."""

    @property
    def topics(self) -> Mapping[str, Topic]: ...

    @property
    def topics_by_id(self) -> Mapping[bytes, Topic]: ...

    @property
    def topics_version(self) -> int:
        """Another number whenever a topic or a partition came or went."""

    @property
    def regexes(self) -> Resolutions:
        """The regular expressions of all groups, and the topics that match them."""

    @property
    def group_configs(self) -> Mapping[str, GroupConfig]: ...

    def write(self, group_id: str, records: Sequence[CoordinatorRecord], producer: Producer | None = None) -> None:
        """Appends to the group's partition of `__consumer_offsets`; what comes with a producer is part of its transaction.

        Raises StaleProducerEpoch.
        """
