"""The brokers of a cluster without their sockets: the inputs are bytes and the time, the outputs are bytes and the next deadline.

The core contains no I/O: `network/` moves the bytes, and `network/driver.py` calls the core when a deadline has passed. The core holds the
state that connections share: the staging buffer, the list of connections with unwritten output, and the requests that wait
(`scheduling/turns.py`).

An exception affects only the connection on which it occurs: it is logged once, that connection is closed, and the turn
continues.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from itertools import count
from typing import TYPE_CHECKING

from ..api.context import Client
from ..api.gate import Gate
from ..api.parked import Parked
from ..api.registry import CloseConnection
from ..cluster.broker import Broker
from ..cluster.state import ClusterState
from ..scheduling.turns import Turns
from ..scheduling.waiting import NEXT_TURN, Wait
from ..settings.cluster_config import DEFAULT_LIMITS, RecordLimits
from .connection import Connection

if TYPE_CHECKING:
    from ..faults.table import Faults
    from ..throttling.connection_rates import ConnectionRates
    from ..throttling.quota_gate import QuotaGate
    from ..topics.partition import Partition, Topic
    from ..wire.record import Record
    from ..wire.recording import Recording

STAGING_BYTES = 256 * 1024


class Core:
    """Creates the connections of a cluster, resumes their waiting requests and flushes their output.

    `limits` are those of the record of exchanges. A core that takes the place of a `former` one continues its record.
    """

    def __init__(
        self, cluster: ClusterState, turns: Turns[Parked], limits: RecordLimits = DEFAULT_LIMITS, former: Core | None = None
    ) -> None:
        self.cluster = cluster
        self.turns = turns
        self.timers = turns.timers
        self.clock = turns.clock
        self.now_s = turns.clock()
        """The time of the clock at the beginning of this turn."""
        # All connections share this receive buffer, because received bytes are parsed before another connection receives any.
        self.staging = memoryview(bytearray(STAGING_BYTES))
        self.unflushed: list[Connection] = []
        self._limits = limits
        self._wall_offset_ms: float = turns.timers.now_ms - turns.clock() * 1000 if former is None else former._wall_offset_ms
        self._record: Record | None = None if former is None else former._record
        if self._record is not None:
            self._record.topic_names.topics = cluster.topics_by_id
        cluster.on_event, cluster.topics.on_leader_change = self.tell, self._leader_changed
        cluster.on_topic_deletion = self._topic_deleted
        self._connection_ids: Iterator[int] = count(1) if former is None else former._connection_ids
        self.connections: dict[Connection, None] = {}
        """The open connections in the order in which they were opened."""
        self.gate: Gate | None = None
        """The gate that requests pass through. It is None without any fault or quota, so that requests then cost nothing more."""
        self.on_gate_change: list[Callable[[], None]] = []
        """Functions that are called when the faults have changed."""
        self._connection_rates: dict[int, ConnectionRates] = {}
        cluster.quotas.on_change.append(self._set_gate)
        if cluster.quotas:  # a restored state may have some
            self._set_gate()

    @cached_property
    def faults(self) -> Faults:
        """The faults of the cluster. Their modules are imported when they are first needed, because most clusters have none."""
        from ..faults.table import Faults

        return Faults(self.cluster, lambda: self.connections, self._set_gate)

    @cached_property
    def throttle(self) -> QuotaGate:
        """The gate of client quotas, whose modules are imported when there are any."""
        from ..throttling.quota_gate import QuotaGate

        return QuotaGate(self.cluster, self.clock)

    @property
    def record(self) -> Record | None:
        """The record of exchanges, None if it is switched off. Its modules are imported when the first connection is opened."""
        if self._record is None and self._limits.are_positive:
            from ..wire.record import Record

            self._record = Record(self._wall_offset_ms, *self._limits)
            self._record.topic_names.topics = self.cluster.topics_by_id
        return self._record

    def tell(self, kind: str, text: str, node: int | None = None, **fields: str | int) -> None:
        """Adds an event to the record."""
        if (record := self.record) is not None:
            record.tell(kind, (self.timers.now_ms, self.clock()), text, node, None, fields)

    def _leader_changed(self, partition: Partition) -> None:
        if (record := self.record) is not None:
            record.tell_leader((self.timers.now_ms, self.clock()), partition)

    def _topic_deleted(self, topic: Topic) -> None:
        if self._record is not None:
            self._record.topic_names.remember(topic)

    def recording(self, broker: Broker, client: Client) -> Recording | None:
        """Returns what a new connection writes down in the record, None if the record is switched off."""
        if (record := self.record) is None:
            return None
        from ..wire.recording import Recording

        return Recording(record, client, broker, self)

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
        connection = Connection(self, broker, Client(listener_name, host, port, next(self._connection_ids)), on_output, on_abort)
        self.connections[connection] = None
        if self.gate is not None:
            try:
                self.gate.opened(connection, broker)
            except CloseConnection as refused:
                connection.resets = refused.reset
                connection.close(str(refused))
        return connection

    def advance(self, now_ms: int) -> None:
        """Sets the time to `now_ms`, runs the timers that are due and resumes the requests that they woke."""
        self.timers.advance(now_ms)
        self.run_ready()

    def next_turn(self) -> None:
        """Runs the work that was put off to this turn and resumes the requests that it woke."""
        self.turns.next_turn()
        self.run_ready()

    def run_ready(self) -> None:
        """Resumes the requests that were woken, until none is left. Their responses are written before those of this turn's requests."""
        if not self.turns.woken:
            return
        unflushed, self.unflushed = self.unflushed, []
        while self.turns.woken:
            for parked in self.turns.take_woken():
                self._resume(parked)
        self.unflushed += unflushed

    def _resume(self, parked: Parked) -> None:
        connection = parked.connection
        if connection.parked is parked:
            connection.parked = None
            connection.resume(parked)
            if connection.parked is not parked:
                self.turns.withdraw(parked)
            connection.proceed()

    def flush(self) -> None:
        """Calls `on_output` of every connection that has new output or is to be closed."""
        while self.unflushed:
            unflushed, self.unflushed = self.unflushed, []
            for connection in unflushed:
                try:
                    connection.on_output()
                except Exception as error:
                    connection.abort(error, "writing its answers")

    def park(self, parked: Parked, wait: Wait) -> None:
        """Keeps a request until one of its keys is woken or its deadline has passed; for NEXT_TURN, until the next turn."""
        parked.connection.parked = parked
        if wait is NEXT_TURN:
            self.turns.withdraw(parked)
            parked.in_slices = True
            self.turns.put_off(partial(self._resume, parked))
        else:
            recording = parked.connection.recording
            if recording is not None and wait is not parked.wait:
                recording.wait(wait)
            self.turns.register(parked, wait)

    def abandon(self, parked: Parked) -> None:
        """Drops a request whose connection is closed, and closes its generator so that its `finally` clauses run."""
        parked.connection.parked = None
        self.turns.withdraw(parked)
        try:
            parked.generator.close()
        except Exception as error:
            parked.connection.log_failure(error, "withdrawing a request that waited")
