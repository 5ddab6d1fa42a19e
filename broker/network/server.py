"""The event loop's side of a cluster: its listeners, its connections and one alarm. Everything else is in `core.py`, without I/O."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from random import Random, SystemRandom
from types import FrameType, ModuleType
from typing import cast

from .. import logs
from ..cluster.state import Broker, ClusterState
from ..core import Core
from ..scheduling.timers import Timers
from ..settings.cluster_config import ClusterConfig, NodeConfig, TopicSpec
from ..settings.endpoints import WILDCARDS
from ..settings.listeners import Listener
from .acceptor import Acceptor, bind
from .client_protocol import ClientProtocol

uvloop: ModuleType | None
try:
    import uvloop
except ImportError:  # Windows, or the core alone: asyncio serves, slower
    uvloop = None

log = logging.getLogger("kafka.server.KafkaServer")


def new_event_loop() -> asyncio.AbstractEventLoop:
    """uvloop's where it is installed, else asyncio's; ODRADEK_LOOP=asyncio asks for the latter."""
    if uvloop is None or os.environ.get("ODRADEK_LOOP") == "asyncio":
        # Windows' default loop reads ahead into the buffer that connections share.
        return asyncio.SelectorEventLoop()
    return cast(asyncio.AbstractEventLoop, uvloop.new_event_loop())


class Server:
    """A cluster on the running event loop. `seed` fixes ids and placements; without one they are random."""

    def __init__(self, config: ClusterConfig, topics: Sequence[TopicSpec] = (), *, seed: int | None = None) -> None:
        self.config = config
        self._topics = topics
        self._random: Random = SystemRandom() if seed is None else Random(seed)
        self._loop = asyncio.get_running_loop()
        # Wall-clock time that never jumps: timers and timestamps are of one kind.
        self._epoch_ms = time.time() * 1000 - time.monotonic() * 1000
        self._reserved: dict[Listener, socket.socket] = {}
        self._acceptors: dict[int, list[Acceptor]] = {}
        self._clients: set[ClientProtocol] = set()
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_ms = 0
        self._next_turn: asyncio.Handle | None = None

    @property
    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch."""
        return int(self._epoch_ms + time.monotonic() * 1000)

    @property
    def bootstrap_servers(self) -> str:
        """host:port of each node's first listener, separated by commas."""
        return ",".join(next(iter(node.listeners)).advertised for node in self.config.nodes)

    async def start(self) -> None:
        """Binds every listener, makes the cluster and accepts. Raises OSError with a text for people when an address is taken."""
        try:
            self.config = replace(self.config, nodes=tuple(self._reserve(node) for node in self.config.nodes))
            self.cluster = ClusterState(self.config, Timers(self.now_ms), self._random)
            self.core = Core(self.cluster, time.monotonic)
            for topic in self._topics:
                self.cluster.create_topic(topic.name, topic.partitions, topic.replication_factor, configs=topic.configs)
            for node in self.config.nodes:
                self._listen(node.node_id)
            self._warn_of_open_listeners()
            self.after_turn()
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Closes every listener and connection."""
        for node_id in list(self._acceptors):
            await self._close_node(node_id)
        for reserved in self._reserved.values():
            reserved.close()
        self._reserved.clear()
        for handle in (self._alarm, self._next_turn):
            if handle is not None:
                handle.cancel()

    async def stop_node(self, node_id: int) -> None:
        """Closes a node's listeners and connections, and moves what it led. Nothing happens if it is stopped already."""
        broker = self._broker(node_id)
        if broker.running:
            with self._control(f"stopping node {node_id}"):
                await self._close_node(node_id)
                self.cluster.stop_node(node_id)

    async def start_node(self, node_id: int) -> None:
        """Brings a node back on the ports it had. Nothing happens if it is running."""
        if not self._broker(node_id).running:
            with self._control(f"starting node {node_id}"):
                try:
                    self._listen(node_id)
                    self.cluster.start_node(node_id)
                except BaseException:
                    await self._close_node(node_id)
                    raise

    @contextmanager
    def _control(self, doing: str) -> Iterator[None]:
        """What fails in a step that the program asked for is logged and raised to the program; the turn ends in order all the same."""
        try:
            yield
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
        """Binds a node's ports without listening, so that no other process is given them while the node is stopped."""
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
                "listening on all addresses without encryption and authentication: whoever reaches this machine can read and change "
                "everything; listen on 127.0.0.1 to serve this machine only"
            )

    async def _close_node(self, node_id: int) -> None:
        for acceptor in self._acceptors.pop(node_id, ()):
            await acceptor.close()
        for client in [client for client in self._clients if client.broker.node_id == node_id]:
            client.abort("the node is stopped")
        while any(client.broker.node_id == node_id for client in self._clients):
            await asyncio.sleep(0)

    # One turn of the loop: time in, output out, alarm set

    def begin_turn(self) -> None:
        """Lets the cluster's time catch up."""
        now_ms = self.now_ms
        if now_ms > self.core.timers.now_ms:
            self.core.advance(now_ms)

    def after_turn(self) -> None:
        """Writes what there is to write, and has the loop call again for what is put off and for the next deadline, whatever fails."""
        try:
            self.core.run_ready()
            due_ms = self.core.timers.next_deadline()
            if due_ms is not None and due_ms <= self.core.timers.now_ms:
                self.core.advance(due_ms)  # set in this turn for this moment, as a rebalance that need not be waited for
            self.core.flush()
        finally:
            # Only now: a flush lets requests begin that waited for it, and they may set deadlines of their own.
            self._set_alarm()
            if self.core.has_more and self._next_turn is None:
                self._next_turn = self._loop.call_soon(self._take_next_turn)

    def _set_alarm(self) -> None:
        deadline_ms = self.core.timers.next_deadline()
        if deadline_ms is not None and (self._alarm is None or deadline_ms < self._alarm_ms):
            if self._alarm is not None:
                self._alarm.cancel()
            self._alarm_ms = deadline_ms
            # A millisecond late rather than one early: an alarm before its time would find nothing due.
            self._alarm = self._loop.call_later((deadline_ms - self.now_ms + 1) / 1000, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        self.begin_turn()
        self.after_turn()

    def _take_next_turn(self) -> None:
        self._next_turn = None
        self.begin_turn()
        self.core.next_turn()
        self.after_turn()

    def opened(self, client: ClientProtocol) -> None:
        """Keeps a connection until it is closed."""
        self._clients.add(client)

    def closed(self, client: ClientProtocol) -> None:
        """Forgets a connection."""
        self._clients.discard(client)
        self.left(client.broker, client.host)

    def left(self, broker: Broker, host: str) -> None:
        """A connection that was accepted has ended: there is room for another one."""
        broker.connections.release(host)
        for acceptor in self._acceptors.get(broker.node_id, ()):
            acceptor.resume()


async def _serve(config: ClusterConfig, topics: Sequence[TopicSpec], on_ready: Callable[[Server], None]) -> None:
    server = Server(config, topics)
    ended = asyncio.Event()
    _end_by_signals(asyncio.get_running_loop(), ended)
    await server.start()
    logs.started([node.node_id for node in config.nodes])
    on_ready(server)
    await ended.wait()
    await server.stop()
    log.info("shut down completed")


def _end_by_signals(loop: asyncio.AbstractEventLoop, ended: asyncio.Event) -> None:
    """Has the first SIGTERM or SIGINT set `ended`. The second one ends the process at once, whatever the loop is doing."""

    def first(number: int, frame: object) -> None:
        _handle_signals(lambda number, frame: os._exit(128 + number))
        loop.call_soon_threadsafe(ended.set)

    _handle_signals(first)


def _handle_signals(handler: Callable[[int, FrameType | None], object]) -> None:
    # Not the loop's own handlers, which need a loop that turns, nor the system's, which does nothing in the first process of a container.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handler)


def run(config: ClusterConfig, *, topics: Sequence[TopicSpec] = (), on_ready: Callable[[Server], None]) -> None:
    """Serves until SIGTERM or SIGINT. `on_ready` is given the server once every listener accepts. Raises OSError."""
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(_serve(config, topics, on_ready))
