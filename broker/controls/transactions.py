"""Controls that describe transactions."""

from __future__ import annotations

from datetime import UTC, datetime

from ..frozen_data import FrozenData
from ..topics.names import TRANSACTION_STATE
from .declaration import Controls, control


class TransactionInfo(FrozenData):
    """A transactional id and its last transaction. `started` is None, and `partitions` is empty, while none is open."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    state: str
    timeout_ms: int
    started: datetime | None
    partitions: dict[str, list[int]]
    coordinator: int


class TransactionControls(Controls):
    """The transactions of a cluster."""

    @control("transaction list", reads=True)
    async def transactions(self) -> list[TransactionInfo]:
        """Returns all transactional ids with their transactions."""
        cluster = self._server.cluster
        described = []
        for each in cluster.transactions:
            partitions: dict[str, list[int]] = {}
            for topic, partition in each.partitions:
                partitions.setdefault(topic, []).append(partition)
            described.append(
                TransactionInfo(
                    transactional_id=each.transactional_id,
                    producer_id=each.producer.id,
                    producer_epoch=each.producer.epoch,
                    state=each.state.value,
                    timeout_ms=each.timeout_ms,
                    started=datetime.fromtimestamp(each.start_ms / 1000, UTC) if partitions and each.start_ms >= 0 else None,
                    partitions=partitions,
                    coordinator=cluster.coordinator_log.coordinator(each.transactional_id, TRANSACTION_STATE),
                )
            )
        return described
