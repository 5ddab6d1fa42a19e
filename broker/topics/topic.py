"""A topic: its id, configs and partitions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence

from ...storage.blocks import KEEPS_NOTHING, Blocks
from ...storage.memory import LogMemory
from ..settings.values import TopicConfig
from .names import INTERNAL_TOPICS
from .partition import Partition


class Topic:
    """A topic. `topic_id` has 16 bytes; `memory` counts the bytes of the partitions' logs where memory is limited, `blocks` supplies it.

    `silent_nodes` is a live view of the nodes that do not fetch, because they are stopped, paused or isolated.
    """

    def __init__(
        self,
        name: str,
        topic_id: bytes,
        config: TopicConfig,
        memory: LogMemory | None = None,
        blocks: Blocks = KEEPS_NOTHING,
        silent_nodes: Collection[int] = frozenset(),
    ) -> None:
        self.name = name
        self.id = topic_id
        self.config = config
        self.memory = memory
        self.silent_nodes = silent_nodes
        self.blocks = blocks
        self.partitions: list[Partition] = []
        self.on_leader_change: Callable[[Partition], None] = lambda partition: None
        """Called after each change of the leader of a partition."""
        self.descriptions: dict[Hashable, tuple[bytes, ...]] = {}
        """The encoded topic for Metadata (`topic_descriptions.py`). Each change of what Metadata contains replaces the dictionary."""

    @property
    def is_internal(self) -> bool:
        """Whether Kafka stores its own state in the topic."""
        return self.name in INTERNAL_TOPICS

    def partition(self, index: int) -> Partition | None:
        """Returns the partition with this index; None if the topic has fewer partitions or the index is negative."""
        return self.partitions[index] if 0 <= index < len(self.partitions) else None

    def add_partitions(self, assignments: Iterable[Sequence[int]], running: Iterable[int], leader_epoch: int = 0) -> None:
        """Adds one partition for each list of replicas. Replicas on `running` nodes begin in sync."""
        for replicas in assignments:
            isr = [node for node in replicas if node in running]
            self.partitions.append(Partition(self, len(self.partitions), replicas, isr, leader_epoch))
        self.descriptions = {}
