"""One client's connection: finds frames, serves one request at a time, keeps what must wait.

What a client sends while its request is in flight stays unparsed, so answers are in order by construction (as Kafka's SocketServer, which
mutes the channel). In one turn a connection is served at most TURN_REQUESTS requests, and begins none after TURN_S seconds.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Hashable
from typing import TYPE_CHECKING

from ..protocol.errors import KafkaError
from ..protocol.frame import LENGTH, Buffer, RequestHeader, encode_response, encode_response_in_slices, read_request_header
from ..protocol.messages.api_versions import API_VERSIONS
from ..protocol.schema import Message, ProtocolError
from ..storage.memory import untouched
from .abridged import abridged
from .cluster.broker import Broker
from .context import Client, Context, Shortcut
from .failure import failure
from .foreign import foreign_protocol
from .handlers import HANDLERS, CloseConnection, unsupported_version
from .scheduling.turns import TURN_S
from .scheduling.waiting import NEXT_TURN, Wait

if TYPE_CHECKING:
    from .core import Core

LARGE_FRAME_BYTES = 128 * 1024
OUTPUT_LIMIT_BYTES = 1024 * 1024
TURN_REQUESTS = 100

network_log = logging.getLogger("kafka.network.SocketServer")

Answering = Generator[Wait, None, Message | None]


class Parked:
    """A request whose handler waits. `in_slices` is set once the handler has yielded NEXT_TURN."""

    __slots__ = ("connection", "generator", "header", "in_slices", "keys", "request", "wait")

    def __init__(self, connection: Connection, header: RequestHeader, request: Message, generator: Answering) -> None:
        self.connection = connection
        self.header = header
        self.request = request
        self.generator = generator
        self.wait: Wait | None = None
        self.keys: tuple[Hashable, ...] = ()
        self.in_slices = False


class Connection:
    """`buffer` says where the next bytes go, `received` that they are there, `take_output` what is to be written."""

    def __init__(self, core: Core, broker: Broker, client: Client, on_output: Callable[[], None], on_abort: Callable[[], None]) -> None:
        self.core = core
        self.broker = broker
        self.client = client
        self.on_output = on_output
        self.parked: Parked | None = None
        self.output: list[Buffer] = []
        self.output_bytes = 0
        self.writable = True
        self.closing: str | None = None
        self._on_abort = on_abort
        self._shortcut: Shortcut | None = None
        self._unparsed: Buffer = b""
        self._held = False  # `_unparsed` may hold whole frames
        self._is_put_off = self._flush_is_put_off = False
        self._large: memoryview | None = None
        self._filled = 0
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
        """Whether more should be read: not while requests that were read already are held back."""
        return not self._held

    @property
    def busy(self) -> bool:
        """Whether no further request may be begun: one is in flight or put off, or the peer does not read its answers."""
        return self.parked is not None or self._is_put_off or not self.writable or self.output_bytes > OUTPUT_LIMIT_BYTES

    def buffer(self) -> memoryview:
        """Where to put the next bytes; valid until `received` is called."""
        if self._large is not None:
            return self._large[self._filled :]
        n = len(self._unparsed)
        if n:
            self.core.staging[:n] = self._unparsed
        return self.core.staging[n:]

    def received(self, n: int) -> None:
        """Serves the requests that are complete now that `n` bytes were put into `buffer()`. Raises nothing."""
        if self.closing is not None:
            return
        self._used_ms = self.core.timers.now_ms
        try:
            if self._large is not None:
                self._receive_large(self._large, n)
            else:
                data = self.core.staging[: len(self._unparsed) + n]
                self._unparsed = b""
                rest = self._parse(data)
                if rest:
                    self._unparsed = bytes(rest)
        except Exception as error:
            self.fail(error, "serving its requests")
        self.core.run_ready()

    def flushed(self) -> None:
        """The output is written and the peer reads on: requests that were held back for that are served in the next turn."""
        self._used_ms = self.core.timers.now_ms
        if self._held and not self.busy:
            self._put_off()

    def _put_off(self) -> None:
        self._is_put_off = True
        self.core.turns.put_off(self._take_up)

    def _take_up(self) -> None:
        self._is_put_off = False
        self.proceed()

    def proceed(self) -> None:
        """Serves requests that were held back, if it may now. Raises nothing."""
        if not self._held or self.busy or self.closing is not None:
            return
        self._held = False
        try:
            rest = self._parse(memoryview(self._unparsed))
            self._unparsed = rest if self._held else bytes(rest)  # a view keeps all of the memory that it is part of
        except Exception as error:
            self.fail(error, "serving requests that were held back")
        if not self.output:
            self.ask_for_flush()  # without an answer to write, reading is to go on all the same

    def _parse(self, data: memoryview) -> memoryview:
        """Serves the whole frames in `data` while it may, and returns the rest, which is held back if it may hold whole frames."""
        position, end, served, end_s = 0, len(data), 0, 0.0
        limit, clock = self.broker.request_max_bytes, self.core.clock
        while end - position >= LENGTH.size and self.closing is None:
            (size,) = LENGTH.unpack_from(data, position)
            if not 0 <= size <= limit:
                self._refuse_frame(size, data[position:])
                break
            if self.busy:
                self._held = True
                break
            following = position + LENGTH.size + size
            if following > end:
                if LENGTH.size + size > LARGE_FRAME_BYTES and self._begin_large(data[position:], LENGTH.size + size):
                    return data[end:]
                break
            if not served:
                end_s = clock() + TURN_S
            elif served == TURN_REQUESTS or clock() >= end_s:
                self._held = True
                self._put_off()
                break
            served += 1
            self._handle(data[position + LENGTH.size : following], owns_buffer=False)
            position = following
        return data[position:] if self.closing is None else data[end:]

    def _refuse_frame(self, size: int, data: memoryview) -> None:
        foreign = foreign_protocol(bytes(data[: LENGTH.size]))
        hint = f"; this looks like {foreign}, but the listener is {self.broker.listeners[self.client.listener_name].security_protocol}"
        self.close(f"a frame of {size} bytes, socket.request.max.bytes is {self.broker.request_max_bytes}{hint if foreign else ''}")

    def _begin_large(self, begun: memoryview, size: int) -> bool:
        """Has the kernel read a large frame into memory of its own, which the log may keep. False if there is none for now."""
        memory = self.broker.request_memory
        if not memory.take(size, self.ask_for_flush):
            self._held = True
            return False
        try:
            self._large = untouched(size)
        except MemoryError as error:
            memory.release(size)
            self.close(f"no memory for a request of {size} bytes: {error}", logging.ERROR)
            return True
        self._filled = len(begun)
        self._large[: self._filled] = begun
        return True

    def _receive_large(self, frame: memoryview, n: int) -> None:
        self._filled += n
        if self._filled == len(frame):
            self._large = None
            try:
                self._handle(frame[LENGTH.size :], owns_buffer=True)
            finally:
                self.broker.request_memory.release(len(frame))

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
        self.client.client_id = header.client_id or ""
        context = Context(version, self.client, self.broker, frame, owns_buffer, self._shortcut)
        try:
            answer = HANDLERS[api.key].rule(request, context)
            if isinstance(answer, Generator):
                self.resume(Parked(self, header, request, answer))
            else:
                self._send(header, answer)
                self._shortcut = context.shortcut
        except Exception as error:
            self._refuse(header, request, error)

    def resume(self, parked: Parked) -> None:
        """Runs a handler on, until it waits again or answers. Raises nothing."""
        try:
            self._run_on(parked)
        except Exception as error:
            self._refuse(parked.header, parked.request, error)

    def _run_on(self, parked: Parked) -> None:
        try:
            wait = next(parked.generator)
        except StopIteration as done:
            response = done.value
        else:
            return self.core.park(parked, wait)
        if parked.in_slices and response is not None:
            parked.generator = self._send_in_slices(parked.header, response)
            return self._run_on(parked)
        self._send(parked.header, response)

    def _refuse(self, header: RequestHeader, request: Message, error: Exception) -> None:
        """Answers a request that its handler refused as a whole. Any exception that is no refusal is an error of ours."""
        if isinstance(error, CloseConnection):
            return self.close(str(error))
        if isinstance(error, KafkaError):
            try:
                return self._send(header, failure(header.api, request, error.code, error.message))
            except Exception as unexpected:
                error = unexpected
        self.fail(error, f"serving {header.api.name} v{header.version}: {abridged(request)}")

    # Bytes out

    def _send(self, header: RequestHeader, response: Message | None) -> None:
        if response is not None:
            self._write(encode_response(header.api, header.version, header.correlation_id, response))

    def _send_in_slices(self, header: RequestHeader, response: Message) -> Answering:
        parts: list[Buffer] = []
        for _ in encode_response_in_slices(header.api, header.version, header.correlation_id, response, parts):
            yield NEXT_TURN
        self._write(parts)
        return None

    def _write(self, parts: list[Buffer]) -> None:
        if not self.output:
            self.ask_for_flush()
        self.output += parts
        self.output_bytes += sum(map(len, parts))

    def take_output(self, limit: int | None = None) -> list[Buffer]:
        """The next bytes to write, in order: all of them, or at most `limit`."""
        output = self.output
        if limit is None or self.output_bytes <= limit:
            self.output, self.output_bytes = [], 0
            return output
        taken, room, number = [], limit, 0
        while len(output[number]) <= room:
            taken.append(output[number])
            room -= len(output[number])
            number += 1
        cut = memoryview(output[number])
        if room:
            taken.append(cut[:room])
        self.output = [cut[room:], *output[number + 1 :]]
        self.output_bytes -= limit
        return taken

    def flush_later(self) -> None:
        """Has the connection flushed again in the next turn: it has output left, and others are served first."""
        if not self._flush_is_put_off:
            self._flush_is_put_off = True
            self.core.turns.put_off(self._flush_now)

    def _flush_now(self) -> None:
        self._flush_is_put_off = False
        self.ask_for_flush()

    def ask_for_flush(self) -> None:
        """Has the connection flushed at the end of this turn."""
        self.core.unflushed.append(self)

    # The end

    def close(self, reason: str, level: int = logging.INFO) -> None:
        """Ends the connection once its output is written: for bytes that make no sense, as Kafka does without an answer."""
        if self.closing is None:
            network_log.log(level, "[KafkaServer id=%d] closing the connection of %s: %s", self.broker.node_id, self.client, reason)
            self._end(reason)

    def fail(self, error: Exception, doing: str) -> None:
        """Logs an error of ours, with a stack trace, and ends the connection once the answers before it are written."""
        self.log_failure(error, doing)
        if self.closing is None:
            self._end("an internal error")

    def abort(self, error: Exception, doing: str) -> None:
        """Logs an error of ours, with a stack trace, and ends the connection without writing anything more."""
        self.log_failure(error, doing)
        self.lost("an internal error")
        self.output, self.output_bytes = [], 0
        self._on_abort()

    def log_failure(self, error: Exception, doing: str) -> None:
        """Logs an error of ours with a stack trace."""
        text = "[KafkaServer id=%d] closing the connection of %s: an internal error while %s"
        network_log.error(text, self.broker.node_id, self.client, doing, exc_info=error)

    def _end(self, reason: str) -> None:
        self.lost(reason)
        self.ask_for_flush()

    def lost(self, reason: str) -> None:
        """Releases all that the connection holds, because it is gone. Raises nothing."""
        self.closing = self.closing or reason
        self.core.timers.cancel(self._idle_timer)
        memory = self.broker.request_memory
        memory.forget(self.ask_for_flush)
        if self._large is not None:
            memory.release(len(self._large))
        self._unparsed, self._large, self._held = b"", None, False
        if self.parked is not None:
            self.core.abandon(self.parked)
