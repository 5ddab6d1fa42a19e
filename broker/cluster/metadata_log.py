"""The log of cluster metadata, of which only the length is emulated (Kafka's `__cluster_metadata`)."""

from __future__ import annotations

from ..scheduling.timers import Timers
from ..settings.values import BrokerConfig


class MetadataLog:
    """Counts the records that the controller would write. The first `nodes` records register the nodes."""

    def __init__(self, timers: Timers, config: BrokerConfig, nodes: int) -> None:
        self._timers, self._config = timers, config
        self._start_ms = timers.now_ms
        self._records = nodes

    def add(self, records: int = 1) -> None:
        """Counts the records of a change."""
        self._records += records

    def continue_from(self, former: MetadataLog) -> None:
        """Counts the restoring of a state as one record after those of the cluster that the state replaces."""
        self._records += max(0, former.end_offset - self.end_offset) + 1

    @property
    def changes(self) -> int:
        """The records of changes. In contrast to the end of the log, it does not depend on the time that has passed."""
        return self._records

    @property
    def end_offset(self) -> int:
        """The end of the log: the records of changes, and the no-op record that a controller writes at each idle interval (KIP-835)."""
        interval_ms = self._config.integers["metadata.max.idle.interval.ms"]
        idle_records = (self._timers.now_ms - self._start_ms) // interval_ms if interval_ms else 0
        return self._records + idle_records
