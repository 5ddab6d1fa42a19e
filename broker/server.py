"""The event loop's side: listeners, transports, and one alarm. Everything else is in `core.py` and below, without I/O."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import signal
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random, SystemRandom
from types import ModuleType
from typing import cast

from . import logs
from .cluster import Broker, ClusterState
from .core import Connection, Core
from .listeners import ClusterConfig, Listener, NodeConfig, TopicSpec
from .timers import Timers

uvloop: ModuleType | None
try:
    import uvloop
except ImportError:  # Windows, or the core alone: asyncio serves, slower
    uvloop = None

log = logging.getLogger("kafka.server.KafkaServer")
network_log = logging.getLogger("kafka.network.SocketServer")

BACKLOG = 1024
ACCEPT_RETRY_S = 1.0


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
        self._transports: set[ClientProtocol] = set()
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_ms = 0

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
            self.core = Core(self.cluster)
            for topic in self._topics:
                self.cluster.create_topic(topic.name, topic.partitions, topic.replication_factor, configs=topic.configs)
            for node in self.config.nodes:
                self._listen(node.node_id)
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
        if self._alarm is not None:
            self._alarm.cancel()

    async def stop_node(self, node_id: int) -> None:
        """Closes a node's listeners and connections, and moves what it led. Nothing happens if it is stopped already."""
        broker = self._broker(node_id)
        if broker.running:
            await self._close_node(node_id)
            self.cluster.stop_node(node_id)
            self.after_turn()

    async def start_node(self, node_id: int) -> None:
        """Brings a node back on the ports it had. Nothing happens if it is running."""
        if not self._broker(node_id).running:
            self._listen(node_id)
            self.cluster.start_node(node_id)
            self.after_turn()

    def _broker(self, node_id: int) -> Broker:
        if node_id not in self.cluster.brokers:
            raise ValueError(f"there is no node {node_id!r}; the nodes are {sorted(self.cluster.brokers)}")
        return self.cluster.brokers[node_id]

    def _reserve(self, node: NodeConfig) -> NodeConfig:
        """Binds a node's ports without listening: nobody else is given them, also while the node is stopped."""
        bound = []
        for listener in node.listeners:
            reserved = _bind(listener)
            bound.append(listener.bound(reserved.getsockname()[1]))
            self._reserved[bound[-1]] = reserved
        return node.bound(bound)

    def _listen(self, node_id: int) -> None:
        broker = self.cluster.brokers[node_id]
        acceptors = self._acceptors[node_id] = []
        for listener in broker.listeners.values():
            acceptors.append(Acceptor(self, broker, listener))
            log.info("[KafkaServer id=%d] listening on %s://%s:%d", node_id, listener.name, listener.host, listener.port)

    async def _close_node(self, node_id: int) -> None:
        for acceptor in self._acceptors.pop(node_id):
            await acceptor.close()
        for transport in [transport for transport in self._transports if transport.broker.node_id == node_id]:
            transport.abort("the node is stopped")
        while any(transport.broker.node_id == node_id for transport in self._transports):
            await asyncio.sleep(0)

    # One turn of the loop: time in, output out, alarm set

    def begin_turn(self) -> None:
        """Lets the cluster's time catch up."""
        now_ms = self.now_ms
        if now_ms > self.core.timers.now_ms:
            self.core.advance(now_ms)

    def after_turn(self) -> None:
        """Writes what there is to write, and sets the alarm for the next deadline."""
        self.core.run_ready()
        due_ms = self.core.timers.next_deadline()
        if due_ms is not None and due_ms <= self.core.timers.now_ms:
            self.core.advance(due_ms)  # set in this turn for this moment, as a rebalance that need not be waited for
        self.core.flush()
        # Only now: a flush lets requests begin that waited for it, and they may set deadlines of their own.
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

    def opened(self, transport: ClientProtocol) -> None:
        """Keeps a connection until it is closed."""
        self._transports.add(transport)

    def closed(self, transport: ClientProtocol) -> None:
        """Forgets a connection."""
        self._transports.discard(transport)
        self.left(transport.broker, transport.host)

    def left(self, broker: Broker, host: str) -> None:
        """A connection that was accepted has ended: there is room for another one."""
        broker.connections.release(host)
        for acceptor in self._acceptors.get(broker.node_id, ()):
            acceptor.resume()


class Acceptor:
    """Listens for one listener. asyncio's own server loses connections that it accepted in the moment it is closed (CPython 3.11)."""

    def __init__(self, server: Server, broker: Broker, listener: Listener) -> None:
        self._server = server
        self._broker = broker
        self._name = listener.name
        self._loop = asyncio.get_running_loop()
        self._opening: set[asyncio.Task[object]] = set()
        self._socket = _bind(listener)
        try:
            self._socket.listen(BACKLOG)
        except OSError as error:
            self._socket.close()
            raise _explained(error, listener) from error
        self._socket.setblocking(False)
        self._paused = True
        self.resume()

    async def close(self) -> None:
        """Stops listening; connections that are just being opened are open when this returns."""
        self._loop.remove_reader(self._socket)
        self._socket.close()
        await asyncio.gather(*self._opening, return_exceptions=True)

    def resume(self) -> None:
        """Accepts again, if it had to stop."""
        if self._paused and self._socket.fileno() >= 0:
            self._paused = False
            self._loop.add_reader(self._socket, self._accept)

    def _pause(self) -> None:
        self._paused = True
        self._loop.remove_reader(self._socket)

    def _accept(self) -> None:
        quotas = self._broker.connections
        try:
            while not quotas.full:
                accepted, (host, *_) = self._socket.accept()
                if quotas.take(host):
                    self._open(accepted, host)
                else:
                    accepted.close()
                    network_log.info(
                        "[KafkaServer id=%d] rejected a connection from %s: it has as many as max.connections.per.ip allows, %d",
                        self._broker.node_id,
                        host,
                        quotas.most_from(host),
                    )
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError as error:
            network_log.warning("[KafkaServer id=%d] cannot accept for now: %s", self._broker.node_id, error)
            self._loop.call_later(ACCEPT_RETRY_S, self.resume)
        else:
            network_log.info(
                "[KafkaServer id=%d] accepts nobody until somebody leaves: max.connections is %d", self._broker.node_id, quotas.most
            )
        self._pause()

    def _open(self, accepted: socket.socket, host: str) -> None:
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        opening = self._loop.connect_accepted_socket(lambda: ClientProtocol(self._server, self._broker, self._name, host), accepted)
        task = self._loop.create_task(opening)
        self._opening.add(task)
        task.add_done_callback(lambda done: self._opened(done, host))

    def _opened(self, task: asyncio.Task[object], host: str) -> None:
        self._opening.discard(task)
        if task.cancelled() or (error := task.exception()) is None:
            return
        network_log.warning("[KafkaServer id=%d] a connection was not opened: %s", self._broker.node_id, error)
        self._server.left(self._broker, host)


class ClientProtocol(asyncio.BufferedProtocol):
    """Moves the bytes of one connection between its transport and the core."""

    def __init__(self, server: Server, broker: Broker, listener_name: str, host: str) -> None:
        self.server = server
        self.broker = broker
        self.host = host
        self._listener_name = listener_name
        self._reading = True
        self._writable = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begins."""
        self._transport = cast(asyncio.Transport, transport)
        # Older transports of asyncio copy what they cannot send at once; one piece is then better than many (see `flush`).
        self._vectored = type(transport).__module__.startswith("uvloop")
        _, port, *_ = transport.get_extra_info("peername") or ("unknown", 0)
        self.server.begin_turn()
        self.connection: Connection = self.server.core.connect(self.broker, self._listener_name, self.host, port, self.flush)
        self.server.opened(self)
        self.server.after_turn()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where the next bytes go."""
        return self.connection.buffer()

    def buffer_updated(self, nbytes: int) -> None:
        """Serves what has arrived, and all that it woke, and writes all answers."""
        server = self.server
        server.begin_turn()
        self.connection.received(nbytes)
        server.after_turn()
        if self._reading and not self.connection.wants_data:
            self._reading = False
            self._transport.pause_reading()

    def flush(self) -> None:
        """Writes the connection's output in one go, without a copy where the transport can."""
        connection = self.connection
        output = connection.take_output()
        if self._transport.is_closing():
            return  # `connection_lost` is on its way
        if output:
            if self._vectored:
                self._transport.writelines(output)
            else:
                # asyncio's writelines ignores back-pressure in some releases (CVE-2024-12254); write does not.
                self._transport.write(b"".join(output))
        if connection.closing is not None:
            if self._writable:
                self._transport.close()
            else:
                self._transport.abort()  # who does not read would keep it open for ever
        elif self._writable:
            connection.flushed()
            self._resume_reading()

    def _resume_reading(self) -> None:
        if not self._reading and self.connection.wants_data:
            self._reading = True
            self._transport.resume_reading()

    def pause_writing(self) -> None:
        """The peer does not read: nothing more is served until it does."""
        self._writable = False
        self.connection.writable = False

    def resume_writing(self) -> None:
        """The peer reads again."""
        self._writable = True
        self.connection.writable = True
        self.connection.flushed()
        self._resume_reading()
        self.server.after_turn()

    def abort(self, reason: str) -> None:
        """Ends the connection without waiting for its peer."""
        self.connection.lost(reason)
        self._transport.abort()

    def eof_received(self) -> bool:
        """The client has sent all it will: the connection ends."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Withdraws what waits for this connection."""
        if self.connection.closing is None:
            network_log.debug("[KafkaServer id=%d] %s has disconnected", self.broker.node_id, self.connection.peer)
        self.connection.lost("the client has disconnected")
        self.server.closed(self)


def _bind(listener: Listener) -> socket.socket:
    """A socket bound to a listener's address. Raises OSError with a text for people."""
    try:
        host = listener.host or "0.0.0.0"  # what an empty host means in Kafka
        found = socket.getaddrinfo(host, listener.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        # "localhost" is both ::1 and 127.0.0.1 on many systems; what clients are told is IPv4.
        family, kind, protocol, _, address = min(found, key=lambda info: info[0] != socket.AF_INET)
    except OSError as error:
        raise _explained(error, listener) from error
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError as error:
        bound.close()
        raise _explained(error, listener) from error
    return bound


def _explained(error: OSError, listener: Listener) -> OSError:
    reason = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
    advice = "; choose another port, or port 0 for any free one" if error.errno == errno.EADDRINUSE else ""
    return OSError(error.errno, f"cannot listen on {listener.host}:{listener.port}: {reason}{advice}")


async def _serve(config: ClusterConfig, topics: Sequence[TopicSpec], on_ready: Callable[[Server], None]) -> None:
    server = Server(config, topics)
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    await server.start()
    logs.started([node.node_id for node in config.nodes])
    on_ready(server)
    await ended.wait()
    await server.stop()
    log.info("shut down completed")


def run(config: ClusterConfig, *, topics: Sequence[TopicSpec] = (), on_ready: Callable[[Server], None]) -> None:
    """Serves until SIGTERM or SIGINT. `on_ready` is given the server once every listener accepts. Raises OSError."""
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(_serve(config, topics, on_ready))
