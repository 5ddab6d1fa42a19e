"""The states of share partitions in memory only, until `partitions/` writes them to `__share_group_state`."""

from __future__ import annotations

from ....protocol.errors import ErrorCode, KafkaError
from .partitions_view import UNINITIALIZED_START_OFFSET, ShareStateSummary


class StatesInMemory:
    """A `SharePartitionsView`."""

    def __init__(self) -> None:
        self._states: dict[tuple[str, bytes, int], ShareStateSummary] = {}

    def initialize(self, group_id: str, topic_id: bytes, partition: int, start_offset: int, state_epoch: int) -> None:
        if partition < 0:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        self._states[group_id, topic_id, partition] = ShareStateSummary(
            state_epoch, 0, start_offset, 0 if start_offset != UNINITIALIZED_START_OFFSET else -1
        )

    set_start_offset = initialize

    def delete(self, group_id: str, topic_id: bytes, partition: int) -> None:
        self._states.pop((group_id, topic_id, partition), None)

    def summary(self, group_id: str, topic_id: bytes, partition: int) -> ShareStateSummary | None:
        return self._states.get((group_id, topic_id, partition))
