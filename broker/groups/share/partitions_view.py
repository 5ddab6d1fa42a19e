"""The state of share partitions as the group coordinator sees it. `partitions.states.ShareStates` implements it.

Kafka's group coordinator sends the requests InitializeShareGroupState, DeleteShareGroupState and ReadShareGroupStateSummary to the share
coordinator. Here both are in one process, so these are method calls, and `ClusterState.share_states` is the implementation.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

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
