"""Producer ids, and the expiration of idle producers (Kafka's ProducerIdManager and ProducerStateManager)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..scheduling.timers import Check, Timers
from ..settings.values import BrokerConfig
from ..topics.partition import Partition

_TIMER = "producer expiration"


class ProducerIds:
    """Generates producer ids, and removes expired producer state from `partitions`. The timer runs while any partition has such state."""

    def __init__(self, timers: Timers, config: BrokerConfig, partitions: Callable[[], Iterable[Partition]]) -> None:
        self._timers, self._partitions = timers, partitions
        self.next_id = 0
        self.check = Check(self.expire, lambda: config.integers["producer.id.expiration.check.interval.ms"], self._next_due_ms)

    def generate(self) -> int:
        """Returns a producer id that was never used before."""
        if _TIMER not in self._timers:
            self._set_timer()
        self.next_id += 1
        return self.next_id - 1

    def continue_from(self, former: ProducerIds) -> None:
        """Leaves out the ids that the cluster before has generated."""
        self.next_id = max(self.next_id, former.next_id)

    def _set_timer(self) -> None:
        self._timers.set(_TIMER, self.check.interval_ms(), self.check)

    def _next_due_ms(self) -> float:
        """Returns when a state expires, 0 if none is left, so that the timer ends."""
        used = [partition.producers for partition in self._partitions() if len(partition.producers)]
        return min((producers.next_expiry_ms() for producers in used), default=0)

    def expire(self) -> None:
        for partition in self._partitions():
            partition.producers.expire(self._timers.now_ms)
        if any(len(partition.producers) for partition in self._partitions()):
            self._set_timer()
