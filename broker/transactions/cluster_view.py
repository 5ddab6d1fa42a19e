"""The operations of the cluster that the transaction coordinator uses."""

from __future__ import annotations

from typing import Protocol

from ...protocol.stored.coordinator_records import CoordinatorRecord
from .transaction import Marker, TopicPartition


class ClusterView(Protocol):
    """The logs of the cluster, their leaders, and the source of producer ids."""

    @property
    def transaction_version(self) -> int:
        """The finalized level of the feature transaction.version. At level 2, the rules of transactions v2 also apply to timeouts."""

    def next_producer_id(self) -> int:
        """Returns a producer id that was never returned before."""

    def coordinator_epoch(self, transactional_id: str) -> int | None:
        """Returns the leader epoch of the id's partition of __transaction_state, or None while the partition has no leader."""

    def write_transaction(self, transactional_id: str, record: CoordinatorRecord) -> None:
        """Appends a record to the id's partition of __transaction_state."""

    def write_marker(self, partition: TopicPartition, marker: Marker) -> bool:
        """Writes a marker. Returns False if that is not complete, so that this must be called again when the partition has changed.

        Returns True for deleted partitions and stale markers, which need no marker.
        """
