"""One client's connection: splits the received bytes into frames, serves one request at a time, and collects the responses.

Receiving. All connections share the staging buffer of the core. `buffer` returns the memory for the next bytes, and `received` serves the
frames that are complete; an incomplete one at the end is copied to `_unparsed`. A frame larger than LARGE_FRAME_BYTES is received into a
memory block of its own (`large_frame.py`), which the log may keep without a copy, and which is given back afterwards. It counts towards
`queued.max.request.bytes`. After a large frame, only FRAME_START_BYTES are read into the staging buffer, because the next frame is
probably large too.

Authentication. On a SASL listener, `authentication.py` answers the frames of a client until it is authenticated.

One request in flight. While a handler waits, further bytes of its client stay unparsed (`_held`), so responses are in the order of the
requests, as with Kafka's SocketServer, which mutes the channel. Requests are held back in the same way while the client does not read its
responses, so that the memory of a connection is bounded.

Turns. In one turn of the event loop a connection serves at most TURN_REQUESTS requests, and starts none after TURN_S seconds. The
remaining frames are served in the next turn (`scheduling/turns.py`).

Errors. A request that cannot be parsed closes the connection, as in Kafka. A KafkaError of a handler becomes an error response
(`failure.py`). Any other exception is a bug in odradek: `fail` logs it with its stack trace and closes this connection only.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

from ...protocol.errors import KafkaError
from ...protocol.frame import LENGTH, Buffer, RequestHeader, read_request_header
from ...protocol.messages.api_versions import API_VERSIONS
from ...protocol.schema import Message, ProtocolError
from ...storage.blocks import TOUCH_BYTES
from ..api.context import Client, Context, Shortcut, Waiting
from ..api.decoding import SLICED_BYTES, decode_large
from ..api.failure import failure_in_slices
from ..api.gate import Asked, Sparing
from ..api.parked import Parked, Undecoded
from ..api.registry import HANDLERS, CloseConnection
from ..cluster.broker import Broker
from ..handlers import load_handler, unsupported_version
from ..scheduling.turns import TURN_S
from ..short_repr import short_repr
from .large_frame import LARGE_FRAME_BYTES, LargeFrame, begin_large_frame
from .output import Output
from .protocol_sniffing import refusal

if TYPE_CHECKING:
    from .authentication import Authentication
    from .core import Core

LENGTH_BYTES, _unpack_length = LENGTH.size, LENGTH.unpack_from
FRAME_START_BYTES = 16 * 1024
"""The most bytes whose pages are provided at once."""
OUTPUT_LIMIT_BYTES = 1024 * 1024
TURN_REQUESTS = 100

Answer = list[Buffer] | Waiting | None
"""The result of a shortcut for a request that it has not answered at once, see `Shortcut.answer`."""
ANSWERED: Answer = []
"""Stands for the response to a request that is answered. Compared by identity."""

network_log = logging.getLogger("kafka.network.SocketServer")


class Connection(Output):
    """A connection without its socket: `buffer` and `received` take bytes in, `take_output` returns the bytes to write.

    `closing` is the reason for closing the connection, or None while it is open, and `resets` whether it is closed with RST instead of
    FIN. After FIN comes RST if it `leaves_unread` bytes that Kafka would not have read. `parked` is the request in flight, or None.
    """

    def __init__(self, core: Core, broker: Broker, client: Client, on_output: Callable[[], None], on_abort: Callable[[], None]) -> None:
        super().__init__(core, core.recording(broker, client), on_output)
        self.broker = broker
        self.client = client
        self.parked: Parked | None = None
        self.writable = True
        self.closing: str | None = None
        self.resets = self.leaves_unread = False
        self.sparing = Sparing()
        self._on_abort = on_abort
        self._shortcut: Shortcut | None = None
        self.max_frame_bytes = broker.request_max_bytes
        self._authentication: Authentication | None = None
        if (listener := broker.sasl_listener(client.listener_name)) is not None:
            from .authentication import Authentication

            self._authentication = Authentication(listener, client, broker, self.write)
            self.max_frame_bytes = self._authentication.max_frame_bytes
        self._unparsed: Buffer = b""
        self._held = False  # whether `_unparsed` may contain whole frames
        self._is_put_off = False
        self._large: LargeFrame | None = None
        self._served: LargeFrame | None = None
        self._step_bytes = TOUCH_BYTES
        self._staging = core.staging
        self._used_ms = core.timers.now_ms
        self._idle_timer = object()
        if broker.max_idle_ms >= 0:
            core.timers.set(self._idle_timer, broker.max_idle_ms, self._check_idle)

    def _check_idle(self) -> None:
        """Closes the connection if it has been idle for `connections.max.idle.ms`.

        A request does not move the timer, because that would be expensive: it only stores the time in `_used_ms`, and a timer that fires
        too early is set again.
        """
        timers, limit_ms = self.core.timers, self.broker.max_idle_ms
        idle_ms = timers.now_ms - self._used_ms
        if idle_ms < limit_ms:
            timers.set(self._idle_timer, limit_ms - idle_ms, self._check_idle)
        else:
            self.close(f"idle for {idle_ms} ms, connections.max.idle.ms is {limit_ms}")

    # Bytes in

    @property
    def wants_data(self) -> bool:
        """Whether more bytes should be read. False while received requests are held back."""
        return not self._held

    @property
    def busy(self) -> bool:
        """Whether no request may be started, because one is in flight or put off, or because the client does not read its responses."""
        return self.parked is not None or self._is_put_off or not self.writable or self.output_bytes > OUTPUT_LIMIT_BYTES

    @property
    def unserved(self) -> Buffer | None:
        """The received bytes that are not served yet; None while a request is served, or received into its own memory."""
        return None if self.parked or self.output or self._large else self._unparsed

    def buffer(self) -> memoryview:
        """Returns the memory for the next bytes. It is valid until `received` is called."""
        if self._large is not None:
            return self._large.buffer
        n = len(self._unparsed)
        if not n:
            return self._staging
        self.core.staging[:n] = self._unparsed
        return self.core.staging[n:]

    def received(self, n: int) -> None:
        """Serves the requests that are complete with `n` more bytes in `buffer()`. Raises no exception."""
        if self.closing is not None:
            return
        self._used_ms = self.core.timers.now_ms
        try:
            if self._large is not None:
                self._receive_large(self._large, n)
            else:
                data = self.core.staging[: len(self._unparsed) + n]
                self._unparsed = b""
                parsed = self._parse(data)
                if parsed < len(data):
                    self._unparsed = bytes(data[parsed:])
                if self._large is None:
                    self._staging = self.core.staging
                if self._held and self.recording is not None:
                    self.recording.received = self.core.timers.now_ms, self.core.now_s
        except Exception as error:
            self.fail(error, "serving its requests")
        self.core.run_ready()

    def flushed(self) -> None:
        """Called when all output is written. Held requests, if any, are served in the next turn."""
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
        """Serves held requests unless the connection is busy. Raises no exception."""
        if not self._held or self.busy or self.closing is not None:
            return
        self._held = False
        try:
            data = memoryview(self._unparsed)
            rest = data[self._parse(data) :]
            self._unparsed = rest if self._held else bytes(rest)  # a small view would keep its whole memory block alive
            if not self._held and self.recording is not None:
                self.recording.received = None
        except Exception as error:
            self.fail(error, "serving requests that were held back")
        if not self.output:
            self.ask_for_flush()  # the flush also resumes reading, so it is needed even if there is no response to write

    def _parse(self, data: memoryview) -> int:
        """Serves the complete frames in `data` until the connection is busy or its share of the turn is used up.

        Returns the number of bytes that need not be kept.
        """
        position, end, served, end_s = 0, len(data), 0, 0.0
        core, recording = self.core, self.recording
        clock = core.clock
        # The last `run` requests, from `first` on, are not recorded yet. Their responses are those of the output from `earlier` on.
        run, first, earlier = 0, 0, len(self.output)
        refused: int | None = None
        while end - position >= LENGTH_BYTES and self.closing is None:
            (size,) = _unpack_length(data, position)
            if not 0 <= size <= self.max_frame_bytes:
                refused = size
                break
            if self.busy:
                self._held = True
                break
            following = position + LENGTH_BYTES + size
            if following > end:
                if LENGTH_BYTES + size > LARGE_FRAME_BYTES and self._begin_large(data[position:], LENGTH_BYTES + size):
                    end = position
                break
            if served:
                if served == TURN_REQUESTS or clock() >= end_s:
                    self._held = True
                    self._put_off()
                    break
            elif following < end:  # a single request needs no time limit
                end_s = clock() + TURN_S
            served += 1
            response = self._answer_at_once(data, position + LENGTH_BYTES, size, False)
            if response is ANSWERED:
                run += 1
            else:
                if run and recording is not None:
                    recording.run(data[first:position], run, self.output[earlier:])
                self._serve(data[position:following], response, owns_buffer=False)
                run, first, earlier = 0, following, len(self.output)
            position = following
        if run and recording is not None:
            recording.run(data[first:position] if first else data[:position], run, self.output[earlier:] if earlier else self.output)
        if refused is not None:
            self._refuse_frame(refused, data[position:])
        return position if self.closing is None and end > position else len(data)

    def _refuse_frame(self, size: int, data: memoryview) -> None:
        self.leaves_unread = len(data) > LENGTH_BYTES
        listener, limit = self.broker.listeners[self.client.listener_name], self.max_frame_bytes
        self.close(refusal(size, bytes(data[:LENGTH_BYTES]), limit, limit == self.broker.request_max_bytes, listener.security_protocol))

    def _begin_large(self, begun: memoryview, size: int) -> bool:
        """Starts to receive a large frame into its own memory. Returns False to stop reading if queued.max.request.bytes is used up."""
        if not self.broker.request_memory.take(size, self.ask_for_flush):
            self._held = True  # stops reading until memory is released, which asks for a flush
            return False
        try:
            self._large = begin_large_frame(begun, size, self._step_bytes, self.broker.request_memory, self.core.cluster.blocks)
        except MemoryError as error:
            self.close(f"no memory for a request of {size} bytes: {error}", logging.ERROR)
        return True

    def _receive_large(self, large: LargeFrame, n: int) -> None:
        if large.received(n):
            self._large, self._served, self._step_bytes = None, large, large.step_bytes
            self._staging = self.core.staging[:FRAME_START_BYTES]
            try:
                self._serve_large(large.frame)
            finally:
                self._release_served()

    def _release_served(self) -> None:
        """Releases the frame of the last large request, unless the request is still decoded or served in slices."""
        if self._served is not None and (self.parked is None or self.parked.wait is not None):
            self._served.release()
            self._served = None

    # Requests

    def _serve_large(self, data: memoryview) -> None:
        earlier = len(self.output)
        response = self._answer_at_once(data, LENGTH_BYTES, len(data) - LENGTH_BYTES, True)
        if response is not ANSWERED:
            self._serve(data, response, owns_buffer=True)
        elif self.recording is not None:
            self.recording.run(data, 1, self.output[earlier:])

    def _answer_at_once(self, data: memoryview, position: int, size: int, owns_buffer: bool) -> Answer:
        """Tries the shortcut for the request in `size` bytes of `data` from `position` on. Every request passes here.

        Returns ANSWERED if the request is answered, otherwise what the shortcut has returned, which is None if there is none.
        """
        core, shortcut = self.core, self._shortcut
        gate = core.gate
        if shortcut is None or not core.cluster.shortcut_allowed or not (gate is None or self.sparing.state is gate.state):
            return None
        response = shortcut.answer(data, position, size, owns_buffer)
        if gate is not None and response is not None:
            self.sparing.count += 1
        if response.__class__ is not bytes:
            return response  # type: ignore[return-value]
        if response:
            if not self.output:
                self.ask_for_flush()
            self.output.append(response)
            self.output_bytes += len(response)
        return ANSWERED

    def _serve(self, data: memoryview, response: Answer, owns_buffer: bool) -> None:
        """Serves the request in `data`, with its length: as the shortcut says, or by its handler if the shortcut has returned None."""
        frame, recording = data[LENGTH_BYTES:], self.recording
        if isinstance(response, list):
            return self.write(response) if recording is None else recording.answered(data, response, self.write)
        if recording is not None:
            recording.begin(frame, self._authentication is not None and self._authentication.takes_token)
        if response is None:
            self._handle(frame, owns_buffer)
        else:
            self.resume(Undecoded(self, bytes(frame), response))
        if recording is not None and self.parked is None:
            recording.finish()

    def _handle(self, frame: memoryview, owns_buffer: bool) -> None:
        if self._authentication is not None and not self._admits(self._authentication, frame):
            return
        try:
            header = read_request_header(frame)
            api, version = header.api, header.version
            release = self.core.cluster.release
            if version not in (api.versions if release is None else release.serves(api)):
                if api is not API_VERSIONS:
                    raise ProtocolError(f"{api.name} v{version} is not served")
                return self.send(header._replace(version=0), unsupported_version(self.core.cluster))
            if len(frame) > SLICED_BYTES:
                return decode_large(self, header, frame, owns_buffer)
            request = api.request.decoders[version](frame, header.position)[0]
        except ProtocolError as error:
            return self.close(str(error))
        self.answer(header, request, frame, owns_buffer)

    def answer(self, header: RequestHeader, request: Message, frame: memoryview, owns_buffer: bool, in_slices: bool = False) -> None:
        """Passes a decoded request to its handler. With `in_slices`, the response is encoded in slices. Raises no exception."""
        gate, api, version = self.core.gate, header.api, header.version
        self.client.client_id = header.client_id or ""
        context = Context(version, self.client, self.broker, frame, owns_buffer, self._shortcut)
        try:
            rule = (HANDLERS.get(api.key) or load_handler(api.key)).rule
            answer = rule(request, context) if gate is None else gate.serve(Asked(self, header, request, context, rule))
            # The end of a session must be noticed at the next request, which the shortcut would not do.
            if self._authentication is None or not self._authentication.expires:
                self._shortcut = context.shortcut
            if isinstance(answer, Generator):
                try:
                    wait = next(answer)
                except StopIteration as done:
                    answer = done.value
                else:
                    return self.core.park(Parked(self, header, request, context, answer), wait)
            if in_slices and answer is not None:
                return self.resume(Parked(self, header, request, context, self.send_in_slices(header, answer)))
            self.send(header, answer)
        except Exception as error:
            self._refuse(header, request, context, error)

    def touch(self) -> None:
        """Has the connection count as used now, so that it is not closed as idle."""
        self._used_ms = self.core.timers.now_ms

    def mute(self, milliseconds: int) -> None:
        """Holds back the requests that follow the current one, for the given time (KIP-219)."""
        self._is_put_off = True
        self.core.timers.set(self, milliseconds, self._take_up)

    def forget_shortcut(self) -> None:
        """Has all further requests decoded, until the handler stores a new shortcut."""
        self._shortcut = None

    def _admits(self, authentication: Authentication, frame: memoryview) -> bool:
        """Returns whether the handlers serve a frame. Otherwise the frame is answered here, as part of the authentication."""
        try:
            if authentication.admits(frame):
                return True
            refusal = authentication.serve(frame)
        except (CloseConnection, ProtocolError) as error:
            self.close(str(error))
            return False
        self.max_frame_bytes = authentication.max_frame_bytes
        if refusal is not None:
            context = Context(0, self.client, self.broker, frame, False, None)
            self.resume(Parked(self, authentication.REFUSED_HEADER, authentication.REFUSED_REQUEST, context, refusal))
        return False

    def resume(self, parked: Parked) -> None:
        """Continues a handler until it waits again or returns. Raises no exception."""
        try:
            self._continue(parked)
        except Exception as error:
            self._refuse(parked.header, parked.request, parked.context, error)
        if self._served is not None:
            self._release_served()
        if self.parked is None and self.recording is not None:
            self.recording.finish()

    def _continue(self, parked: Parked) -> None:
        try:
            wait = next(parked.generator)
        except StopIteration as done:
            response = done.value
        else:
            return self.core.park(parked, wait)
        if isinstance(response, list):
            return self.write(response)
        if parked.in_slices and response is not None:
            parked.generator = self.send_in_slices(parked.header, response)
            return self._continue(parked)
        self.send(parked.header, response)

    def _refuse(self, header: RequestHeader, request: Message, context: Context, error: Exception) -> None:
        """Answers a request whose handler raised KafkaError. CloseConnection closes the connection; any other exception is a bug."""
        if isinstance(error, CloseConnection):
            self.resets = error.reset
            return self.close(str(error))
        if isinstance(error, KafkaError):
            refusal = failure_in_slices(header.api, request, error.code, error.message)
            return self.resume(Parked(self, header, request, context, refusal))
        self.fail(error, f"serving {header.api.name} v{header.version}: {short_repr(request)}")

    # Bytes out

    def ask_for_flush(self) -> None:
        self.core.unflushed.append(self)

    # Closing

    def close(self, reason: str, level: int = logging.INFO) -> None:
        """Closes the connection once its output is written. A malformed request gets no response, as in Kafka."""
        if self.closing is None:
            network_log.log(level, "[KafkaServer id=%d] closing the connection of %s: %s", self.broker.node_id, self.client, reason)
            self._end(reason)

    def fail(self, error: Exception, doing: str) -> None:
        """Logs a bug with its stack trace and closes the connection once the responses to earlier requests are written."""
        self.log_failure(error, doing)
        if self.closing is None:
            self._end("an internal error")

    def abort(self, error: Exception, doing: str) -> None:
        """Logs a bug with its stack trace and closes the connection at once, without writing its output."""
        self.log_failure(error, doing)
        self.lost("an internal error")
        self.output, self.output_bytes = [], 0
        self._on_abort()

    def log_failure(self, error: Exception, doing: str) -> None:
        text = "[KafkaServer id=%d] closing the connection of %s: an internal error while %s"
        network_log.error(text, self.broker.node_id, self.client, doing, exc_info=error)

    def _end(self, reason: str) -> None:
        self.lost(reason)
        self.ask_for_flush()

    def lost(self, reason: str, *, by_client: bool = False) -> None:
        """Releases the memory, the timer and the waiting request of a closed connection. Raises no exception."""
        if self.closing is None:
            self.closing = reason
            if self.recording is not None:
                self.recording.ended(reason, by_client=by_client, resets=self.resets or self.leaves_unread)
        if self.core.gate is not None:
            self.core.gate.closed(self)
        self.core.connections.pop(self, None)
        on_close, self.client.on_close = self.client.on_close, {}
        for release in on_close.values():
            release()
        self.core.timers.cancel(self._idle_timer)
        self.broker.request_memory.forget(self.ask_for_flush)
        self.core.timers.cancel(self)
        if self._large is not None:
            self._large.release()
        self._unparsed, self._large, self._held = b"", None, False
        if self.parked is not None:
            self.core.abandon(self.parked)
        self._release_served()
