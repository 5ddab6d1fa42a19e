"""The brokers of a cluster without their sockets: the inputs are bytes and the time, the outputs are bytes and the next deadline.

The core contains no I/O: `network/` moves the bytes, and `network/driver.py` calls the core when a deadline has passed. The core creates
the connections, which know only the state that they share (`output.py`), and gives them the gate and the record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from itertools import count
from typing import TYPE_CHECKING

from ..api.context import Client, Parked
from ..api.registry import CloseConnection
from ..cluster.broker import Broker
from ..cluster.state import ClusterState
from ..scheduling.turns import Turns
from ..settings.record_limits import DEFAULT_LIMITS, RecordLimits
from .connection import Connection
from .output import SharedState

if TYPE_CHECKING:
    from ..faults.table import Faults
    from ..throttling.connection_rates import ConnectionRates
    from ..throttling.quota_gate import QuotaGate
    from ..wire.recording import Recording


class Core(SharedState):
    """Creates the connections of a cluster.

    A core that takes the place of a `former` one continues its record and the numbers of its connections.
    """

    def __init__(
        self, cluster: ClusterState, turns: Turns[Parked], limits: RecordLimits = DEFAULT_LIMITS, former: Core | None = None
    ) -> None:
        super().__init__(cluster, turns, limits, former)
        self._connection_ids: Iterator[int] = count(1) if former is None else former._connection_ids  # noqa: SLF001  (a former object of this class)
        self.connections: dict[Connection, None] = {}
        """The open connections in the order in which they were opened."""
        self.on_gate_change: list[Callable[[], None]] = []
        """Functions that are called when the faults have changed."""
        self._connection_rates: dict[int, ConnectionRates] = {}
        cluster.quotas.on_change.append(self._set_gate)
        if cluster.quotas:  # a restored state may have some
            self._set_gate()

    @cached_property
    def faults(self) -> Faults:
        """The faults of the cluster."""
        from ..faults.table import Faults

        return Faults(self.cluster, lambda: self.connections, self._set_gate)

    @cached_property
    def throttle(self) -> QuotaGate:
        """The gate of client quotas."""
        from ..throttling.quota_gate import QuotaGate

        return QuotaGate(self.cluster, self.clock)

    def _recording(self, broker: Broker, client: Client) -> Recording | None:
        """Returns what a new connection writes down in the record, None if the record is switched off."""
        if (record := self.record) is None:
            return None
        from ..wire.recording import Recording

        return Recording(record, client, broker.node_id, self)

    def connection_rates(self, broker: Broker) -> ConnectionRates:
        """Returns the rates at which connections to a broker are created."""
        from ..throttling.connection_rates import ConnectionRates

        if broker.node_id not in self._connection_rates:
            self._connection_rates[broker.node_id] = ConnectionRates(broker.config, self.cluster.quotas)
        return self._connection_rates[broker.node_id]

    def _set_gate(self) -> None:
        faults = self.faults if "faults" in self.__dict__ and self.faults.active else None
        if self.cluster.quotas:
            self.throttle.inner = faults
        self.gate = self.throttle if self.cluster.quotas else faults
        for told in self.on_gate_change:
            told()

    def connect(
        self, broker: Broker, listener_name: str, host: str, port: int, on_output: Callable[[], None], on_abort: Callable[[], None]
    ) -> Connection:
        """Returns a new connection of a client at host:port to one of the broker's listeners.

        `on_output` is called at the end of a turn in which there is output to write or the connection is to be closed. `on_abort` is
        called when the transport has to be closed at once because writing failed.
        """
        client = Client(listener_name, host, port, next(self._connection_ids))
        connection = Connection(self, broker, client, self._recording(broker, client), on_output, on_abort)
        self.connections[connection] = None
        client.on_close[self] = partial(self.connections.pop, connection, None)
        if self.gate is not None:
            try:
                self.gate.opened(connection, broker)
            except CloseConnection as refused:
                connection.resets = refused.reset
                connection.close(str(refused))
        return connection
