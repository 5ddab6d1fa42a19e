"""The controller's view of its cluster: the nodes, and the log of metadata, of which only the length is emulated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..scheduling.timers import Timers
from ..settings.values import BrokerConfig
from ..topics.placement import Racks

if TYPE_CHECKING:
    from ..releases.zookeeper import ZooKeeper
    from .broker import Broker


class Brokers(dict[int, "Broker"]):
    """The nodes by id. `silent` contains those that do not fetch; topics have a live view of it."""

    def __init__(self, zookeeper: ZooKeeper | None) -> None:
        self._zookeeper = zookeeper
        self.silent: set[int] = set()

    @property
    def running(self) -> list[int]:
        """The ids of the nodes that the controller considers alive, in ascending order: those that are registered and not fenced.

        A node that has failed belongs to them until its session expires (`nodes.py`).
        """
        return sorted(node_id for node_id, broker in self.items() if broker.registered and not broker.fenced)

    @property
    def controller_id(self) -> int:
        """The lowest id of a node that is alive, which is reported to clients as the controller; -1 if no node is.

        Clients send requests for the controller to this node. Any node may be reported, because KRaft brokers forward such requests. In a
        cluster with ZooKeeper it is the elected controller.
        """
        alive = [node_id for node_id, broker in self.items() if not broker.fenced]
        return min(alive, default=-1) if self._zookeeper is None else self._zookeeper.elect(alive)

    @property
    def racks(self) -> Racks:
        """The rack of each node, also of those that are not running."""
        return {node_id: broker.rack for node_id, broker in self.items()}


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
