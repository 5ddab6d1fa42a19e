"""The asyncio side of a cluster: its listeners, its connections, and one alarm for the next deadline.

Every callback of the event loop is one turn: `begin_turn` sets the cluster's time, then bytes are received or put-off work is done, and
`after_turn` resumes woken requests, writes output, sets the alarm and schedules the next turn. The rules themselves are in `core.py`,
without I/O.

A node that is stopped keeps its ports: `_reserve` binds them without listening for as long as the cluster exists.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from random import Random, SystemRandom
from types import ModuleType
from typing import cast

from .. import logs
from ..cluster.broker import Broker
from ..cluster.state import ClusterState
from ..connection import Connection, Parked
from ..control_errors import ControlError
from ..core import Core
from ..scheduling.clock import Clock
from ..scheduling.timers import Timers
from ..scheduling.turns import Turns
from ..settings.cluster_config import ClusterConfig, NodeConfig, TopicSpec
from ..settings.endpoints import WILDCARDS
from ..settings.listeners import Listener
from ..signals import end_by_signals
from ..tls.contexts import TlsContexts
from ..tls.generated import GeneratedTls
from .acceptor import Acceptor, bind
from .client_protocol import ClientProtocol
from .key_sets import KeySets

uvloop: ModuleType | None
try:
    import uvloop
except ImportError:  # on Windows, or without the extra; asyncio works too, but is slower
    uvloop = None

log = logging.getLogger("kafka.server.KafkaServer")


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Returns a uvloop event loop if uvloop is installed, unless ODRADEK_LOOP=asyncio is set, and otherwise one of asyncio."""
    if uvloop is None or os.environ.get("ODRADEK_LOOP") == "asyncio":
        # The default loop of Windows reads ahead, which would overwrite the buffer that the connections share.
        return asyncio.SelectorEventLoop()
    return cast(asyncio.AbstractEventLoop, uvloop.new_event_loop())


class Server:
    """A cluster on the running event loop. With a `seed`, ids and the placement of replicas are reproducible."""

    def __init__(self, config: ClusterConfig, topics: Sequence[TopicSpec] = (), *, seed: int | None = None) -> None:
        self.config = config
        self._topics = topics
        self._random: Random = SystemRandom() if seed is None else Random(seed)
        self._loop = asyncio.get_running_loop()
        # The wall clock at start plus the monotonic clock: timers and record timestamps use one time, and it never jumps.
        self.clock = Clock(time.time() * 1000, time.monotonic)
        self.generated_tls: GeneratedTls | None = None
        self._key_sets: KeySets | None = None
        self._reserved: dict[Listener, socket.socket] = {}
        self._acceptors: dict[int, list[Acceptor]] = {}
        self._clients: set[ClientProtocol] = set()
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_ms = 0
        self._next_turn: asyncio.Handle | None = None
        self._change_waiters: list[asyncio.Future[None]] = []

    @property
    def now_ms(self) -> int:
        """The cluster's time in milliseconds since the Unix epoch."""
        clock = self.clock
        return int(clock.offset_ms + time.monotonic() * clock.ms_per_s)  # as `clock.now_ms`, without a call, because each turn reads it

    @property
    def bootstrap_servers(self) -> str:
        """The host:port of each node's listener for clients (`NodeConfig.client_listener`), separated by commas."""
        return ",".join(node.client_listener.advertised for node in self.config.nodes)

    async def start(self) -> None:
        """Binds all listeners, creates the cluster and accepts connections. Raises OSError if an address is in use."""
        try:
            self.config = replace(self.config, nodes=tuple(self._reserve(node) for node in self.config.nodes))
            turns = Turns[Parked](Timers(self.now_ms), time.monotonic)
            self.cluster = ClusterState(self.config, turns, self._random)
            self.core = Core(self.cluster, turns)
            self._prepare_tls()
            self._key_sets = KeySets(self.cluster)
            await self._key_sets.start()
            for topic in self._topics:
                self.cluster.create_topic(topic.name, topic.partitions, topic.replication_factor, configs=topic.configs)
            for node in self.config.nodes:
                self._listen(node.node_id)
            self._warn_of_open_listeners()
            self._warn_of_missing_users()
            self.after_turn()
        except BaseException:
            await self.stop()
            raise

    def _prepare_tls(self) -> None:
        """Builds the TLS contexts of all listeners. Raises InvalidConfig."""
        if self.config.tls:
            self.generated_tls = GeneratedTls(self.config, datetime.now(UTC))
        self.tls = TlsContexts(self.generated_tls)
        self.cluster.check_tls = self.tls.check
        for broker in self.cluster.brokers.values():
            for listener in broker.listeners.values():
                self.tls.get(broker, listener)

    async def stop(self) -> None:
        """Closes every listener and connection."""
        for node_id in list(self._acceptors):
            await self._close_node(node_id)
        for reserved in self._reserved.values():
            reserved.close()
        self._reserved.clear()
        if self.generated_tls is not None:
            self.generated_tls.close()
        if self._key_sets is not None:
            await self._key_sets.stop()
        for handle in (self._alarm, self._next_turn):
            if handle is not None:
                handle.cancel()
        self._announce_change()

    async def stop_node(self, node_id: int) -> None:
        """Closes a node's listeners and connections and moves its leaderships.

        Does nothing if the node is stopped. Raises ValueError for an unknown id.
        """
        broker = self._broker(node_id)
        if broker.running:
            with self.control(f"stopping node {node_id}"):
                await self._close_node(node_id)
                self.cluster.stop_node(node_id)

    async def start_node(self, node_id: int) -> None:
        """Starts a node on the same ports as before. Does nothing if the node is running. Raises ValueError for an unknown id."""
        if not self._broker(node_id).running:
            with self.control(f"starting node {node_id}"):
                try:
                    self._listen(node_id)
                    self.cluster.start_node(node_id)
                except BaseException:
                    await self._close_node(node_id)
                    raise

    @contextmanager
    def control(self, doing: str) -> Iterator[None]:
        """Makes the body of the `with` a turn of its own, for a control. Any exception but a ControlError is logged."""
        self.begin_turn()
        try:
            yield
        except ControlError:
            raise
        except Exception:
            log.exception("an internal error while %s", doing)
            raise
        finally:
            self.after_turn()

    def _broker(self, node_id: int) -> Broker:
        if node_id not in self.cluster.brokers:
            raise ValueError(f"there is no node {node_id!r}; the nodes are {sorted(self.cluster.brokers)}")
        return self.cluster.brokers[node_id]

    def _reserve(self, node: NodeConfig) -> NodeConfig:
        """Binds a node's ports without listening, so that no other process gets them while the node is stopped."""
        bound = []
        for listener in node.listeners:
            reserved = bind(listener)
            bound.append(listener.bound(reserved.getsockname()[1]))
            self._reserved[bound[-1]] = reserved
        return node.bound(bound)

    def _listen(self, node_id: int) -> None:
        broker = self.cluster.brokers[node_id]
        acceptors = self._acceptors[node_id] = []
        for listener in broker.listeners.values():
            acceptors.append(Acceptor(self, broker, listener))
            log.info("[KafkaServer id=%d] listening on %s://%s:%d", node_id, listener.name, listener.host, listener.port)

    def _warn_of_open_listeners(self) -> None:
        listeners = [listener for node in self.config.nodes for listener in node.listeners]
        if any(listener.host in WILDCARDS and listener.security_protocol == "PLAINTEXT" for listener in listeners):
            log.warning(
                "listening on all addresses without encryption and authentication: every host that reaches this machine can read and "
                "change all data; listen on 127.0.0.1 to serve this machine only"
            )

    def _warn_of_missing_users(self) -> None:
        for broker in self.cluster.brokers.values():
            for name in broker.listeners:
                sasl = broker.sasl.get(name)
                if sasl is not None and "PLAIN" in sasl.enabled and not sasl.plain_users:
                    text = "[KafkaServer id=%d] listener %s enables PLAIN but has no users; set listener.name.%s.plain.sasl.jaas.config"
                    log.warning(text, broker.node_id, name, name.lower())

    async def _close_node(self, node_id: int) -> None:
        for acceptor in self._acceptors.pop(node_id, ()):
            await acceptor.close()
        for client in [client for client in self._clients if client.broker.node_id == node_id]:
            client.abort("the node is stopped")
        while any(client.broker.node_id == node_id for client in self._clients):
            await asyncio.sleep(0)

    # Turns of the event loop

    def begin_turn(self) -> None:
        """Sets the cluster's time to the current time and runs the timers that are due."""
        now_ms = self.now_ms
        if now_ms > self.core.timers.now_ms:
            self.core.advance(now_ms)

    def after_turn(self) -> None:
        """Resumes woken requests, writes output, sets the alarm, and schedules the next turn if anything is put off."""
        try:
            self.core.run_ready()
            due_ms = self.core.timers.next_deadline()
            if due_ms is not None and due_ms <= self.core.timers.now_ms:
                self.core.advance(due_ms)  # a timer that was set in this turn without delay, such as a rebalance of a group's only member
            self.core.flush()
            if self._change_waiters:
                self._announce_change()
        finally:
            # The alarm is set after the flush, because the flush may start held requests, which may set deadlines. It is set in
            # `finally`, because without an alarm no timer would fire any more.
            self._set_alarm()
            if self.core.turns.has_more and self._next_turn is None:
                self._next_turn = self._loop.call_soon(self._take_next_turn)

    def _set_alarm(self) -> None:
        deadline_ms = self.core.timers.next_deadline()
        if deadline_ms is not None and (self._alarm is None or deadline_ms < self._alarm_ms):
            if self._alarm is not None:
                self._alarm.cancel()
                self._alarm = None
            delay_s = self.clock.seconds_until(deadline_ms)
            if delay_s is not None:
                self._alarm_ms = deadline_ms
                # One millisecond later, because the clock may still be before the deadline if the alarm comes early.
                self._alarm = self._loop.call_later(delay_s + 0.001, self._ring)

    def clock_changed(self) -> None:
        """Sets the alarm again, because the time passes at another speed or has moved."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        self._set_alarm()

    def _ring(self) -> None:
        self._alarm = None
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
        self._clients.add(client)

    def closed(self, client: ClientProtocol) -> None:
        self._clients.discard(client)
        self.left(client.broker, client.host)

    def left(self, broker: Broker, host: str) -> None:
        """Releases the place of a closed connection and resumes acceptors that were at their limit."""
        broker.connections.release(host)
        for acceptor in self._acceptors.get(broker.node_id, ()):
            acceptor.resume()


async def _serve(config: ClusterConfig, topics: Sequence[TopicSpec], on_ready: Callable[[Server], None]) -> None:
    server = Server(config, topics)
    ended = asyncio.Event()
    end_by_signals(asyncio.get_running_loop(), ended)
    await server.start()
    logs.started([node.node_id for node in config.nodes])
    on_ready(server)
    await ended.wait()
    await server.stop()
    log.info("shut down completed")


def run(config: ClusterConfig, *, topics: Sequence[TopicSpec] = (), on_ready: Callable[[Server], None]) -> None:
    """Runs a cluster until SIGTERM or SIGINT. Calls `on_ready` once all listeners accept. Raises OSError if an address is in use."""
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(_serve(config, topics, on_ready))
