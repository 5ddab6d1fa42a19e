"""Bytes and the time in, bytes and the next alarm out. No I/O: `server.py` moves the bytes and sets the alarm.

A connection has one request in flight; what its peer sends meanwhile stays unparsed, so answers are in order by construction
(as Kafka's SocketServer, which mutes the channel). A handler that waits is parked here until it is woken or its time is up.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Hashable

from ..protocol.errors import ErrorCode, KafkaError
from ..protocol.frame import LENGTH, Buffer, RequestHeader, encode_response, read_request_header
from ..protocol.messages.api_versions import API_VERSIONS
from ..protocol.schema import Message, ProtocolError
from ..storage.memory import untouched
from .cluster import Broker, ClusterState
from .context import Context, Peer, Shortcut
from .handlers import HANDLERS, CloseConnection, failure, unsupported_version
from .waiting import Wait

STAGING_BYTES = 256 * 1024
LARGE_FRAME_BYTES = 128 * 1024
OUTPUT_LIMIT_BYTES = 1024 * 1024

network_log = logging.getLogger("kafka.network.SocketServer")
request_log = logging.getLogger("kafka.server.KafkaApis")

Answering = Generator[Wait, None, Message | None]


class Parked:
    """A request whose handler waits."""

    __slots__ = ("connection", "generator", "header", "keys", "request")

    def __init__(self, connection: Connection, header: RequestHeader, request: Message, generator: Answering) -> None:
        self.connection = connection
        self.header = header
        self.request = request
        self.generator = generator
        self.keys: tuple[Hashable, ...] = ()


class Core:
    """The brokers of a cluster without their sockets."""

    def __init__(self, cluster: ClusterState) -> None:
        self.cluster = cluster
        self.timers = cluster.timers
        # Receiving and parsing are one step, so all connections share the memory that the kernel writes to.
        self.staging = memoryview(bytearray(STAGING_BYTES))
        self.unflushed: list[Connection] = []
        self._waiting: dict[Hashable, dict[Parked, None]] = {}
        self._ready: list[Parked] = []
        cluster.wake = self.wake

    def connect(self, broker: Broker, listener_name: str, host: str, port: int, on_output: Callable[[], None]) -> Connection:
        """A new connection of a client at host:port to one of the broker's listeners; `on_output` is told once per turn to flush."""
        return Connection(self, broker, Peer(listener_name, host, port), on_output)

    def advance(self, now_ms: int) -> None:
        """Moves the time, fires what is due and resumes whom that woke."""
        self.timers.advance(now_ms)
        self.run_ready()

    def wake(self, key: Hashable) -> None:
        """Everyone who waits for `key` looks again when the present request is done."""
        waiting = self._waiting.get(key)
        if waiting:
            self._ready += waiting

    def run_ready(self) -> None:
        """Resumes those that were woken, until nobody is left."""
        while self._ready:
            ready, self._ready = self._ready, []
            for parked in dict.fromkeys(ready):
                if parked.connection.parked is parked:
                    self._unpark(parked)
                    parked.connection.resume(parked)
                    parked.connection.proceed()

    def flush(self) -> None:
        """Has every connection with new output written."""
        while self.unflushed:
            unflushed, self.unflushed = self.unflushed, []
            for connection in unflushed:
                connection.on_output()

    def park(self, parked: Parked, wait: Wait) -> None:
        """Keeps a request until one of its keys is woken or its deadline has come."""
        parked.connection.parked = parked
        parked.keys = tuple(wait.keys)
        for key in parked.keys:
            self._waiting.setdefault(key, {})[parked] = None
        if wait.deadline_ms is not None:
            self.timers.set(parked, wait.deadline_ms - self.timers.now_ms, lambda: self._ready.append(parked))

    def _unpark(self, parked: Parked) -> None:
        parked.connection.parked = None
        self.timers.cancel(parked)
        for key in parked.keys:
            waiting = self._waiting[key]
            waiting.pop(parked, None)
            if not waiting:
                del self._waiting[key]
        parked.keys = ()

    def abandon(self, parked: Parked) -> None:
        """Forgets a request whose connection is gone; its handler's `finally` runs."""
        self._unpark(parked)
        parked.generator.close()


class Connection:
    """One client's connection: `buffer` says where the next bytes go, `received` that they are there, `output` is what to write."""

    def __init__(self, core: Core, broker: Broker, peer: Peer, on_output: Callable[[], None]) -> None:
        self.core = core
        self.broker = broker
        self.peer = peer
        self.on_output = on_output
        self.parked: Parked | None = None
        self.output: list[Buffer] = []
        self.output_bytes = 0
        self.writable = True
        self.closing: str | None = None
        self._shortcut: Shortcut | None = None
        self._unparsed = bytearray()
        self._large: memoryview | None = None
        self._filled = 0
        self._starved = False  # a request is to be received for which there is no memory
        self._used_ms = core.timers.now_ms
        self._idle_timer = object()
        if broker.max_idle_ms >= 0:
            core.timers.set(self._idle_timer, broker.max_idle_ms, self._check_idle)

    def _check_idle(self) -> None:
        """Set once for each connection, and again only when it fires: requests just note the time."""
        timers, limit_ms = self.core.timers, self.broker.max_idle_ms
        idle_ms = timers.now_ms - self._used_ms
        if idle_ms < limit_ms:
            timers.set(self._idle_timer, limit_ms - idle_ms, self._check_idle)
        else:
            self.close(f"idle for {idle_ms} ms, connections.max.idle.ms is {limit_ms}")

    # Bytes in

    @property
    def wants_data(self) -> bool:
        """Whether more should be read: not while requests that were read already wait for their turn."""
        return self._large is not None or not (self._unparsed and (self.busy or self._starved))

    @property
    def busy(self) -> bool:
        """Whether no further request may be begun: one is in flight, or the peer does not read its answers."""
        return self.parked is not None or not self.writable or self.output_bytes > OUTPUT_LIMIT_BYTES

    def buffer(self) -> memoryview:
        """Where to put the next bytes; valid until `received` is called."""
        if self._large is not None:
            return self._large[self._filled :]
        n = len(self._unparsed)
        if n:
            self.core.staging[:n] = self._unparsed
        return self.core.staging[n:]

    def received(self, n: int) -> None:
        """`n` bytes were put into `buffer()`."""
        if self.closing is not None:
            return
        self._used_ms = self.core.timers.now_ms
        if self._large is not None:
            self._filled += n
            if self._filled < len(self._large):
                return
            frame, self._large = self._large, None
            self._handle(frame[LENGTH.size :], owns_buffer=True)
            self.broker.request_memory.release(len(frame))
        else:
            end = len(self._unparsed) + n
            self._unparsed = bytearray()
            self._parse(self.core.staging[:end])
        self.core.run_ready()

    def feed(self, data: Buffer) -> None:
        """The same for bytes that lie elsewhere; for those who have no socket to read from."""
        rest = memoryview(data)
        while rest and self.closing is None:
            room = self.buffer()
            n = min(len(room), len(rest))
            room[:n] = rest[:n]
            rest = rest[n:]
            self.received(n)

    def flushed(self) -> None:
        """The output is written and the peer reads on: requests that waited for that are served now."""
        self._used_ms = self.core.timers.now_ms
        self.proceed()
        self.core.run_ready()

    def proceed(self) -> None:
        """Serves what was received while an earlier request was in flight."""
        if self._unparsed and not self.busy and self.closing is None:
            unparsed, self._unparsed = self._unparsed, bytearray()
            self._parse(memoryview(unparsed))

    def _parse(self, data: memoryview) -> None:
        """Serves the whole frames in `data` while it may, and keeps the rest."""
        position, end = 0, len(data)
        limit = self.broker.request_max_bytes
        while end - position >= LENGTH.size and self.closing is None:
            (size,) = LENGTH.unpack_from(data, position)
            if not 0 <= size <= limit:
                self.close(f"a frame of {size} bytes, socket.request.max.bytes is {limit}")
                return
            if self.busy:
                break
            following = position + LENGTH.size + size
            if following > end:
                if LENGTH.size + size > LARGE_FRAME_BYTES and self._begin_large(data[position:], LENGTH.size + size):
                    return
                break
            self._handle(data[position + LENGTH.size : following], owns_buffer=False)
            position = following
        if position < end:
            self._unparsed = bytearray(data[position:])

    def _begin_large(self, begun: memoryview, size: int) -> bool:
        """The kernel reads a large frame into memory of its own, which the log may keep. False: there is none for now."""
        self._starved = not self.broker.request_memory.take(size, self._feed_again)
        if self._starved:
            return False
        self._large = untouched(size)
        self._filled = len(begun)
        self._large[: self._filled] = begun
        return True

    def _feed_again(self) -> None:
        """There is memory again: the next flush goes on."""
        self._starved = False
        self.core.unflushed.append(self)

    # Requests

    def _handle(self, frame: memoryview, owns_buffer: bool) -> None:
        if self._shortcut is not None and (known := self._shortcut.answer(frame, owns_buffer)) is not None:
            return self._write([known])
        try:
            header = read_request_header(frame)
            api, version = header.api, header.version
            if version not in api.versions:
                if api is not API_VERSIONS:
                    raise ProtocolError(f"{api.name} v{version} is not served")
                return self._send(header._replace(version=0), unsupported_version())
            request = api.request.decoders[version](frame, header.position)[0]
        except ProtocolError as error:
            return self.close(str(error))
        self.peer.client_id = header.client_id or ""
        context = Context(version, self.peer, self.broker, frame, owns_buffer, self.core.wake, self._shortcut)
        try:
            answer = HANDLERS[api.key].rule(request, context)
            if isinstance(answer, Generator):
                self.resume(Parked(self, header, request, answer))
            else:
                self._send(header, answer)
                self._shortcut = context.shortcut
        except Exception as error:
            self._failed(header, request, error)

    def resume(self, parked: Parked) -> None:
        """Runs a waiting handler on, until it waits again or answers."""
        try:
            wait = next(parked.generator)
        except StopIteration as done:
            self._send(parked.header, done.value)
        except Exception as error:
            self._failed(parked.header, parked.request, error)
        else:
            self.core.park(parked, wait)

    def _failed(self, header: RequestHeader, request: Message, error: Exception) -> None:
        """A request refused as a whole. A bug of ours costs it an UNKNOWN_SERVER_ERROR, and the reader of the log a stack trace."""
        code, message = ErrorCode.UNKNOWN_SERVER_ERROR, None
        if isinstance(error, CloseConnection):
            return self.close(str(error))
        if isinstance(error, KafkaError):
            code, message = error.code, error.message
        else:
            request_log.error("%s v%d failed: %r", header.api.name, header.version, request, exc_info=error)
        self._send(header, failure(header.api, request, code, message))

    # Bytes out

    def _send(self, header: RequestHeader, response: Message | None) -> None:
        if response is not None:
            self._write(encode_response(header.api, header.version, header.correlation_id, response))

    def _write(self, parts: list[Buffer]) -> None:
        if not self.output:
            self.core.unflushed.append(self)
        self.output += parts
        self.output_bytes += sum(map(len, parts))

    def take_output(self) -> list[Buffer]:
        """What is to be written now, in this order."""
        output, self.output, self.output_bytes = self.output, [], 0
        return output

    def close(self, reason: str) -> None:
        """Ends the connection once its output is written: for bytes that make no sense, as Kafka does without an answer."""
        if self.closing is None:
            network_log.info("[KafkaServer id=%d] closing the connection of %s: %s", self.broker.node_id, self.peer, reason)
            self.lost(reason)
            self.core.unflushed.append(self)

    def lost(self, reason: str) -> None:
        """The connection is gone."""
        self.closing = self.closing or reason
        self.core.timers.cancel(self._idle_timer)
        self.broker.request_memory.forget(self._feed_again)
        if self._large is not None:
            self.broker.request_memory.release(len(self._large))
        self._unparsed, self._large = bytearray(), None
        if self.parked is not None:
            self.core.abandon(self.parked)
