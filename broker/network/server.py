"""The asyncio side of a cluster: its listeners, its connections, and one alarm for the next deadline.

Every callback of the event loop is one turn: `begin_turn` sets the cluster's time, then bytes are received or put-off work is done, and
`after_turn` resumes woken requests, writes output, sets the alarm and schedules the next turn. The rules themselves are in `core.py`,
without I/O.

A node that is stopped keeps its ports: `ports.py` binds them without listening for as long as the node exists.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from math import inf
from typing import TYPE_CHECKING, TypeVar

from ...protocol.errors import KafkaError
from ...storage.memory import LogMemory
from ..api.gate import Parked
from ..cluster.broker import Broker, Silence
from ..cluster.startup_topics import create_topics
from ..cluster.state import ClusterState
from ..connections.connection import Connection
from ..connections.core import Core
from ..control_errors import ControlError, ControlRefused
from ..scheduling.clock import Clock
from ..scheduling.timers import Timers
from ..scheduling.turns import Turns
from ..settings.cluster_config import ClusterConfig, NodeConfig, TopicSpec
from ..settings.listeners import SASL_PROTOCOLS, TLS_PROTOCOLS
from .acceptor import Acceptor
from .client_protocol import ClientProtocol
from .listener_warnings import warn_of_listeners
from .ports import ReservedPorts
from .random_numbers import generator

if TYPE_CHECKING:
    from pathlib import Path

    from ..faults.fault import Fault
    from ..snapshots.cluster import State
    from ..snapshots.table import Snapshots
    from ..tls.contexts import TlsContexts
    from ..tls.generated import GeneratedTls
    from .capture import Capture
    from .key_sets import KeySets

log = logging.getLogger("kafka.server.KafkaServer")

R = TypeVar("R")


class Server:
    """A cluster on the running event loop. It begins with a saved `state` if there is one.

    With a `seed`, ids and the placement of replicas are reproducible. `data` are files of seed data.
    """

    def __init__(
        self,
        config: ClusterConfig,
        topics: Sequence[TopicSpec] = (),
        *,
        seed: int | None = None,
        state: State | None = None,
        data: Sequence[Path] = (),
    ) -> None:
        self.config = config
        self._topics = topics
        self._data = data
        self._state = state if state is None or seed is None else {**state, "random": None}
        self._random = generator(seed, state)
        self._log_memory: LogMemory | None = None
        self._snapshots: Snapshots | None = None
        self._loop = asyncio.get_running_loop()
        # The wall clock at start plus the monotonic clock: timers and record timestamps use one time, and it never jumps.
        self.clock = Clock(time.time() * 1000, time.monotonic)
        self.generated_tls: GeneratedTls | None = None
        self.tls: TlsContexts | None = None
        self._key_sets: KeySets | None = None
        self.capture: Capture | None = None
        self.on_seed_bytes: Callable[[int], object] | None = None
        self._ports = ReservedPorts()
        self._acceptors: dict[int, list[Acceptor]] = {}
        self._clients: dict[ClientProtocol, None] = {}  # no set, whose order would differ between runs of a seeded cluster
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_ms: float = inf
        self._next_turn: asyncio.Handle | None = None
        self._change_waiters: list[asyncio.Future[None]] = []
        self._nodes_change = asyncio.Lock()
        """Held by controls that close or open listeners, because they wait in between, and the cluster must not be replaced meanwhile."""

    @property
    def now_ms(self) -> int:
        """The cluster's time in milliseconds since the Unix epoch."""
        return self.clock.now_ms

    @property
    def bootstrap_servers(self) -> str:
        """The host:port of each node's listener for clients (`NodeConfig.client_listener`), separated by commas."""
        return ",".join(node.client_listener.advertised for node in self.config.nodes)

    async def start(self) -> None:
        """Binds all listeners, creates the cluster and accepts connections. Raises OSError if an address is in use, and InvalidConfig.

        The seed data is written before any client can connect, so that it belongs to the state after start.
        """
        try:
            self.config = replace(self.config, nodes=tuple(map(self._ports.reserve, self.config.nodes)))
            self.core = self._new_core(self.config, self._state)
            self._log_memory = self.cluster.log_memory
            await self._prepare_security()
            create_topics(self.cluster, self._topics)
            if self._data:
                from ..seed_data.loading import load_files  # imported only if needed, because a start should be fast

                load_files(self.cluster, self._data, self.on_seed_bytes)
            await self._follow_nodes()
            warn_of_listeners(self.config, self.cluster.brokers.values())
            self.after_turn()
        except BaseException:
            await self.stop()
            raise

    @property
    def cluster(self) -> ClusterState:
        """The present cluster, which `restore` replaces."""
        return self.core.cluster

    @property
    def snapshots(self) -> Snapshots:
        """The snapshots, and the state after start.

        That state is taken before the first connection, control or timer, which may change it. Until then, the modules of snapshots need
        not be imported.
        """
        return self._keep_state_after_start()

    def _keep_state_after_start(self) -> Snapshots:
        if self._snapshots is None:
            from ..snapshots.table import Snapshots

            self._snapshots = Snapshots(self.cluster)
        return self._snapshots

    def _new_core(self, config: ClusterConfig, state: State | None, former: Core | None = None) -> Core:
        turns = Turns[Parked](Timers(self.now_ms), time.monotonic)
        if state is None:
            cluster = ClusterState(config, turns, self._random)
        else:
            from ..snapshots.continuation import restore_cluster

            present = None if former is None else former.cluster
            cluster = restore_cluster(state, config, turns, self._random, self._log_memory, present)
        if self.tls is not None:
            cluster.check_tls = self.tls.check
        if self._key_sets is not None:
            cluster.accounts.key_sets = self._key_sets.found
        core = Core(cluster, turns, config.record, former)
        core.on_gate_change.append(self._refuse_or_listen)
        return core

    async def restore(self, state: State, faults: Sequence[Fault] = ()) -> None:
        """Replaces the cluster by one with a state that it had before, and closes all connections with RST. The ports stay.

        Of the faults, only `faults` remain; those of them that were removed are added again. Raises OSError, and changes nothing, if a node
        that has been removed cannot get its port again.
        """
        from ..snapshots.cluster import nodes_of

        async with self._nodes_change:
            with self.control("restoring a state"):
                known = {node.listeners: node for node in self.config.nodes}
                nodes = tuple(known.get(node.listeners, node) for node in nodes_of(state))
                config, before = replace(self.config, nodes=nodes), self.core
                core = self._new_core(config, state, before)
                self._ports.reserve_again(config.nodes)
                self.config, self.core = config, core
                for client in list(self._clients):
                    client.reset("the state of the cluster was replaced")
                if faults or "faults" in vars(before):
                    core.faults.replace(before.faults, faults)
                before.cluster.log_levels.restore()
                if self._log_memory is None:
                    core.turns.background(before.cluster.discard())
                else:  # at once, because the bytes count until they are released
                    deque(before.cluster.discard(), maxlen=0)
                await self._follow_nodes()

    async def _follow_nodes(self) -> None:
        """Opens the listeners of nodes that are running, closes all others, and releases the ports that no node has any more.

        A node that was removed and added again had other ports than a state from before has.
        """
        brokers = self.cluster.brokers
        listening = {broker.node_id: list(broker.listeners.values()) for broker in brokers.values() if broker.running}
        for node_id, acceptors in list(self._acceptors.items()):
            if [acceptor.listener for acceptor in acceptors] != listening.get(node_id):
                await self._close_node(node_id)
        for broker in brokers.values():
            if broker.running and broker.node_id not in self._acceptors:
                self._listen(broker.node_id)
            for acceptor in self._acceptors.get(broker.node_id, ()):
                acceptor.drop_held()
                acceptor.resume() if broker.silence is None else acceptor.pause()
        self._ports.release_all_but({listener for node in self.config.nodes for listener in node.listeners})

    async def in_thread(self, work: Callable[[], R]) -> R:
        """Runs work that takes long, such as writing a file, without delaying the cluster, and returns its result."""
        return await self._loop.run_in_executor(None, work)

    async def _prepare_security(self) -> None:
        """Builds the TLS contexts of all listeners and reads the key sets for tokens. Raises InvalidConfig.

        The modules are imported only if a listener needs them, so that other clusters start as fast as without them.
        """
        protocols = {listener.security_protocol for node in self.config.nodes for listener in node.listeners}
        if protocols.intersection(TLS_PROTOCOLS):
            from ..tls.contexts import TlsContexts
            from ..tls.generated import GeneratedTls

            if self.config.tls:
                self.generated_tls = GeneratedTls(self.config, datetime.now(UTC))
            self.tls = TlsContexts(self.generated_tls)
            self.cluster.check_tls = self.tls.check
            for broker in self.cluster.brokers.values():
                for listener in broker.listeners.values():
                    self.tls.get(broker, listener)
        if protocols.intersection(SASL_PROTOCOLS):
            from .key_sets import KeySets

            self._key_sets = KeySets(self.cluster)
            await self._key_sets.start()

    async def stop(self) -> None:
        """Closes every listener and connection."""
        for node_id in list(self._acceptors):
            await self._close_node(node_id)
        self._ports.release_all_but(())
        if "core" in vars(self):  # not if the start has failed before
            self.cluster.log_levels.restore()
        if self.generated_tls is not None:
            self.generated_tls.close()
        if self._key_sets is not None:
            await self._key_sets.stop()
        for handle in (self._alarm, self._next_turn):
            if handle is not None:
                handle.cancel()
        if self.capture is not None:
            await self.in_thread(self.capture.close)
        self._announce_change()

    def follow(self, capture: Capture | None) -> None:
        """Writes what happens on all connections to a capture, or to none any more."""
        self.capture = capture
        for client in self._clients:
            client.follow(capture)

    # Nodes. The controls check their arguments before they call these methods.

    async def stop_node(self, node_id: int, *, graceful: bool = True) -> None:
        """Closes a node's listeners and connections and moves its leaderships; unless `graceful`, only when its session expires.

        Does nothing if the node is stopped. Raises ValueError for an unknown id.
        """
        async with self._nodes_change:
            if self._broker(node_id).running:
                with self.control(f"stopping node {node_id}"):
                    await self._close_node(node_id)
                    self.cluster.nodes.stop(node_id, graceful=graceful)

    async def start_node(self, node_id: int) -> None:
        """Starts a node on the same ports as before. Does nothing if the node is running. Raises ValueError for an unknown id."""
        async with self._nodes_change:
            if not self._broker(node_id).running:
                with self.control(f"starting node {node_id}"):
                    try:
                        self._listen(node_id)
                        self.cluster.nodes.start(node_id)
                    except BaseException:
                        await self._close_node(node_id)
                        raise

    def silence_node(self, node_id: int, kind: Silence) -> None:
        """Pauses or isolates a running node: its connections stay open, but they are neither read nor answered."""
        with self.control(f"silencing node {node_id}"):
            self.cluster.nodes.silence(node_id, kind)
            for acceptor in self._acceptors[node_id]:
                acceptor.pause()
            for client in self._clients_of(node_id):
                client.silence()

    def end_silence(self, node_id: int) -> None:
        """Ends the silence of a node, which has learned of all changes before it serves its clients again."""
        with self.control(f"ending the silence of node {node_id}"):
            self.cluster.nodes.start(node_id)
            for acceptor in self._acceptors[node_id]:
                acceptor.resume()
            for client in self._clients_of(node_id):
                client.end_silence()

    async def add_node(self, node: NodeConfig) -> None:
        """Adds a node to the cluster, on ports that the kernel chooses. Raises OSError if it cannot listen."""
        async with self._nodes_change:
            with self.control(f"adding node {node.node_id}"):
                bound = self._ports.reserve(node)
                try:
                    self.cluster.nodes.add(bound)
                    self._listen(bound.node_id)
                except BaseException:
                    await self._close_node(bound.node_id)
                    self.cluster.brokers.pop(bound.node_id, None)
                    self._ports.release([bound])
                    raise
                self.config = replace(self.config, nodes=(*self.config.nodes, bound))

    async def remove_node(self, node_id: int) -> None:
        """Moves a node's replicas to other nodes, closes its listeners and connections, and removes it."""
        async with self._nodes_change:
            with self.control(f"removing node {node_id}"):
                await self._close_node(node_id)
                self.cluster.nodes.remove(node_id)
                (removed,) = (node for node in self.config.nodes if node.node_id == node_id)
                self._ports.release([removed])
                self.config = replace(self.config, nodes=tuple(node for node in self.config.nodes if node is not removed))

    @contextmanager
    def control(self, doing: str) -> Iterator[None]:
        """Makes the body of the `with` a turn of its own, for a control, which is an event of the record. Raises what `turn` raises."""
        with self.turn(doing):
            self.core.tell("control", doing)
            yield

    @contextmanager
    def turn(self, doing: str) -> Iterator[None]:
        """Makes the body of the `with` a turn of its own.

        A KafkaError is raised as ControlRefused. Any other exception but a ControlError is logged.
        """
        self._keep_state_after_start()
        self.begin_turn()
        try:
            yield
        except ControlError:
            raise
        except KafkaError as error:
            raise ControlRefused(error.code.name, error.message or "") from None
        except Exception:
            log.exception("an internal error while %s", doing)
            raise
        finally:
            self.after_turn()

    def _broker(self, node_id: int) -> Broker:
        if node_id not in self.cluster.brokers:
            raise ValueError(f"there is no node {node_id!r}; the nodes are {sorted(self.cluster.brokers)}")
        return self.cluster.brokers[node_id]

    def _listen(self, node_id: int) -> None:
        broker = self.cluster.brokers[node_id]
        acceptors = self._acceptors[node_id] = []
        for listener in broker.listeners.values():
            acceptors.append(Acceptor(self, broker, listener))
            acceptors[-1].refuse(self._refuses(acceptors[-1]))
            log.info("[KafkaServer id=%d] listening on %s://%s:%d", node_id, listener.name, listener.host, listener.port)

    def _refuse_or_listen(self) -> None:
        """Lets each listener refuse connections, or not, as the faults say."""
        for acceptors in self._acceptors.values():
            for acceptor in acceptors:
                acceptor.refuse(self._refuses(acceptor))

    def _refuses(self, acceptor: Acceptor) -> bool:
        gate = self.core.gate
        return gate is not None and gate.refuses(acceptor.broker, acceptor.name)

    async def _close_node(self, node_id: int) -> None:
        for acceptor in self._acceptors.pop(node_id, ()):
            await acceptor.close()
        for client in self._clients_of(node_id):
            client.abort("the node is stopped")
        while self._clients_of(node_id):
            await asyncio.sleep(0)

    def _clients_of(self, node_id: int) -> list[ClientProtocol]:
        return [client for client in self._clients if client.broker.node_id == node_id]

    # Turns of the event loop

    def begin_turn(self) -> None:
        """Sets the cluster's time to the current time and runs the timers that are due."""
        core, clock = self.core, self.clock
        core.now_s = now_s = time.monotonic()
        now_ms = int(clock.offset_ms + now_s * clock.ms_per_s)  # as `clock.now_ms`, without a call, because each turn reads it
        if now_ms > core.timers.now_ms:
            core.advance(now_ms)

    def after_turn(self) -> None:
        """Resumes woken requests, writes output, sets the alarm, and schedules the next turn if anything is put off."""
        core = self.core
        timers = core.timers
        try:
            core.run_ready()
            if timers.earliest_ms <= timers.now_ms:
                core.advance(timers.now_ms)  # a timer that was set in this turn without delay, such as a rebalance of a group's only member
            core.flush()
            if self._change_waiters:
                self._announce_change()
        finally:
            # The alarm is set after the flush, because the flush may start held requests, which may set deadlines. It is set in
            # `finally`, because without an alarm no timer would fire any more.
            if timers.earliest_ms < self._alarm_ms:
                self._set_alarm()
            if self._next_turn is None and core.turns.has_more:
                self._next_turn = self._loop.call_soon(self._take_next_turn)

    def _set_alarm(self) -> None:
        """Sets the alarm to the next deadline; `_alarm_ms` is that deadline even if there is no alarm because the time is frozen."""
        deadline_ms = self.core.timers.next_deadline()
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        self._alarm_ms = inf if deadline_ms is None else deadline_ms
        delay_s = None if deadline_ms is None else self.clock.seconds_until(deadline_ms)
        if delay_s is not None:
            # One millisecond later, because the clock may still be before the deadline if the alarm comes early.
            self._alarm = self._loop.call_later(delay_s + 0.001, self._ring)

    def clock_changed(self) -> None:
        """Sets the alarm again, because the time passes at another speed or has moved."""
        self._set_alarm()

    def _ring(self) -> None:
        self._alarm, self._alarm_ms = None, inf
        self._keep_state_after_start()
        self.begin_turn()
        self.after_turn()

    def _take_next_turn(self) -> None:
        self._next_turn = None
        self.begin_turn()
        self.core.next_turn()
        self.after_turn()

    def next_change(self) -> asyncio.Future[None]:
        """Returns a future that is done after the next turn, when the cluster may have changed."""
        future = self._loop.create_future()
        self._change_waiters.append(future)
        return future

    def _announce_change(self) -> None:
        waiters, self._change_waiters = self._change_waiters, []
        for future in waiters:
            if not future.done():
                future.set_result(None)

    def connections(self) -> list[Connection]:
        """Returns the open connections in the order in which they were accepted."""
        connections = [client.connection for client in self._clients]
        return sorted(connections, key=lambda connection: connection.client.connection_id)

    def opened(self, client: ClientProtocol) -> None:
        self._keep_state_after_start()
        self._clients[client] = None

    def closed(self, client: ClientProtocol) -> None:
        self._clients.pop(client, None)
        self.left(client.broker, client.host)

    def left(self, broker: Broker, host: str) -> None:
        """Releases the place of a closed connection and resumes acceptors that were at their limit."""
        broker.connections.release(host)
        for acceptor in self._acceptors.get(broker.node_id, ()):
            acceptor.resume()
