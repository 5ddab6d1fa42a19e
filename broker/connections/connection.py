"""One client's connection: splits the received bytes into frames and serves one request at a time.

Receiving. All connections share the staging buffer of the core. `buffer` returns the memory for the next bytes, and `received` serves the
frames that are complete; an incomplete one at the end is copied to `_unparsed`. A frame larger than LARGE_FRAME_BYTES is received into a
memory block of its own (`large_frame.py`), which the log may keep without a copy, and which is given back afterwards. It counts towards
`queued.max.request.bytes`. After a large frame, only FRAME_START_BYTES are read into the staging buffer, because the next frame is
probably large too.

Authentication. On a SASL listener, `authentication.py` answers the frames of a client until it is authenticated.

One request in flight. While a handler waits, further bytes of its client stay unparsed, so that responses are in the order of the requests,
as with Kafka's SocketServer, which mutes the channel. Requests are held back in the same way while the client does not read its responses,
so that the memory of a connection is bounded. `state.py` says what happens to received bytes.

Turns. In one turn of the event loop a connection serves at most TURN_REQUESTS requests, and starts none after TURN_S seconds. The
remaining frames are served in the next turn (`scheduling/turns.py`).

Errors. A request that cannot be parsed closes the connection, as in Kafka. A KafkaError of a handler becomes an error response
(`failure.py`). Any other exception is a bug in odradek: `fail` logs it with its stack trace and closes this connection only.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from functools import partial
from typing import TYPE_CHECKING

from ...protocol.errors import KafkaError
from ...protocol.frame import LENGTH, Buffer, RequestHeader, read_request_header
from ...protocol.messages.api_versions import API_VERSIONS
from ...protocol.schema import Message, ProtocolError
from ...storage.blocks import TOUCH_BYTES
from ..api.context import Client, Context, Parked, Shortcut, Undecoded, Waiting
from ..api.decoding import SLICED_BYTES, NotDecoded, decode_in_slices
from ..api.failure import failure_in_slices
from ..api.gate import Asked, Sparing
from ..api.registry import HANDLERS, CloseConnection
from ..cluster.broker import Broker
from ..handlers import load_handler, unsupported_version
from ..scheduling.turns import TURN_S
from ..scheduling.waiting import NEXT_TURN, Wait
from ..short_repr import short_repr
from .large_frame import LARGE_FRAME_BYTES, LargeFrame, begin_large_frame
from .output import Output, SharedState
from .protocol_sniffing import refusal
from .state import CLOSED, HELD, PUT_OFF, READING, WHEN_BUSY, WHEN_DUE, WHEN_MUTED

if TYPE_CHECKING:
    from ..wire.recording import Recording
    from .authentication import Authentication

LENGTH_BYTES, _unpack_length = LENGTH.size, LENGTH.unpack_from
FRAME_START_BYTES = 16 * 1024
"""The most bytes whose pages are provided at once."""
OUTPUT_LIMIT_BYTES = 1024 * 1024
TURN_REQUESTS = 100


class Connection(Output):
    """A connection without its socket: `buffer` and `received` take bytes in, `take_output` returns the bytes to write.

    `writable` is whether the transport takes output. `parked` is the request in flight if its handler waits, or None.
    """

    def __init__(
        self,
        core: SharedState,
        broker: Broker,
        client: Client,
        recording: Recording | None,
        on_output: Callable[[], None],
        on_abort: Callable[[], None],
    ) -> None:
        super().__init__(core, broker, client, recording, on_output, on_abort)
        self.parked: Parked | None = None
        self.writable = True
        self.sparing = Sparing()
        self._state = READING
        self._shortcut: Shortcut | None = None
        self.max_frame_bytes = broker.request_max_bytes
        self._authentication: Authentication | None = None
        if (listener := broker.sasl_listener(client.listener_name)) is not None:
            from .authentication import Authentication

            self._authentication = Authentication(listener, client, core.cluster, broker, self.write)
            self.max_frame_bytes = self._authentication.max_frame_bytes
        self._unparsed: Buffer = b""
        self._large: LargeFrame | None = None
        self._served: LargeFrame | None = None
        self._step_bytes = TOUCH_BYTES
        self._staging = core.staging

    # Bytes in

    @property
    def wants_data(self) -> bool:
        """Whether more bytes should be read. False while received requests are held back."""
        return self._state is not HELD and self._state is not PUT_OFF

    @property
    def busy(self) -> bool:
        """Whether no request may be started, because one is in flight or put off, or because the client does not read its responses."""
        return (
            self.parked is not None
            or not self.writable
            or self.output_bytes > OUTPUT_LIMIT_BYTES
            or (self._state is not READING and self._state in WHEN_DUE)
        )

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
                if self._state is not READING and self.recording is not None and not self.wants_data:
                    self.recording.received = self.core.timers.now_ms, self.core.now_s
        except Exception as error:  # noqa: BLE001  (of any handler)
            self.fail(error, "serving its requests")
        self.core.run_ready()

    def flushed(self) -> None:
        """Called when all output is written. Held requests, if any, are served in the next turn."""
        self._used_ms = self.core.timers.now_ms
        if self._state is HELD and not self.busy:
            self._put_off()

    def _put_off(self) -> None:
        self._state = PUT_OFF
        self.core.turns.put_off(self._take_up)

    def _take_up(self) -> None:
        """Called in the turn to which requests were put off, and at the end of `mute`."""
        self._state = WHEN_DUE.get(self._state, self._state)
        self._proceed()

    def mute(self, milliseconds: int) -> None:
        """Holds back the requests that follow the current one, for the given time (KIP-219)."""
        self._state = WHEN_MUTED.get(self._state, self._state)
        self.core.timers.set(self, milliseconds, self._take_up)

    def _hold(self) -> None:
        """Stops reading, because a request has begun that cannot be served yet."""
        self._state = WHEN_BUSY.get(self._state, self._state)

    def _proceed(self) -> None:
        """Serves held requests unless the connection is busy. Raises no exception."""
        if self._state is not HELD or self.busy:
            return
        self._state = READING
        try:
            data = memoryview(self._unparsed)
            rest = data[self._parse(data) :]
            self._unparsed = bytes(rest) if self.wants_data else rest  # a small view would keep its whole memory block alive
            if self.wants_data and self.recording is not None:
                self.recording.received = None
        except Exception as error:  # noqa: BLE001  (of any handler)
            self.fail(error, "serving requests that were held back")
        if not self.output:
            self.ask_for_flush()  # the flush also resumes reading, so it is needed even if there is no response to write

    def _parse(self, data: memoryview) -> int:
        """Serves the complete frames in `data` until the connection is busy or its share of the turn is used up.

        Returns the number of bytes that need not be kept.
        """
        position, end, served, end_s = 0, len(data), 0, 0.0
        clock, shortcut = self.core.clock, self._usable_shortcut()
        # The last `run` requests, from `first` on, are not recorded yet. Their responses are those of the output from `earlier` on.
        run, first, earlier = 0, 0, len(self.output)
        while end - position >= LENGTH_BYTES and self.closing is None:
            (size,) = _unpack_length(data, position)
            if not 0 <= size <= self.max_frame_bytes:
                break
            if self.busy:
                self._hold()
                break
            following = position + LENGTH_BYTES + size
            if following > end:
                break
            if served:
                if served == TURN_REQUESTS or clock() >= end_s:
                    self._put_off()
                    break
            elif following < end:  # a single request needs no time limit
                end_s = clock() + TURN_S
            served += 1
            answer = None if shortcut is None else shortcut.answer(data, position + LENGTH_BYTES, size, False)
            if isinstance(answer, bytes):
                run += 1
                self.write_run(answer)
            else:
                self._end_run(data[first:position], run, earlier)
                self._serve(data[position:following], answer, owns_buffer=False)
                shortcut = self._usable_shortcut() if following < end else None
                run, first, earlier = 0, following, len(self.output)
            position = following
        self._end_run(data[first:position], run, earlier)
        return position if position == end else self._begin_frame(data[position:], position)

    def _begin_frame(self, begun: memoryview, position: int) -> int:
        """Begins to receive a large frame, or refuses a frame of an impossible size. Returns what `_parse` returns."""
        if self.closing is None and len(begun) >= LENGTH_BYTES:
            (size,) = _unpack_length(begun)
            if not 0 <= size <= self.max_frame_bytes:
                self._refuse_frame(size, begun)
            elif LENGTH_BYTES + size > LARGE_FRAME_BYTES and not self.busy and self._begin_large(begun, LENGTH_BYTES + size):
                return position + len(begun)
        return position if self.closing is None else position + len(begun)

    def _refuse_frame(self, size: int, data: memoryview) -> None:
        self.leaves_unread = len(data) > LENGTH_BYTES
        listener, limit = self.broker.listeners[self.client.listener_name], self.max_frame_bytes
        self.close(refusal(size, bytes(data[:LENGTH_BYTES]), limit, limit == self.broker.request_max_bytes, listener.security_protocol))

    def _begin_large(self, begun: memoryview, size: int) -> bool:
        """Starts to receive a large frame into its own memory. Returns False to stop reading if queued.max.request.bytes is used up."""
        if not self.broker.request_memory.take(size, self.ask_for_flush):
            self._hold()  # until memory is released, which asks for a flush
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
                self._parse_large(large.frame)
            finally:
                self._release_served()

    def _release_served(self) -> None:
        """Releases the frame of the last large request, unless the request is still decoded or served in slices."""
        if self._served is not None and (self.parked is None or self.parked.wait is not None):
            self._served.release()
            self._served = None

    # Requests

    def _usable_shortcut(self) -> Shortcut | None:
        """Returns the shortcut for the next request; None if the request has to be decoded. Every request passes here."""
        core, gate = self.core, self.core.gate
        if self._shortcut is None or not core.cluster.shortcut_allowed or not (gate is None or self.sparing.state is gate.state):
            return None
        return self._shortcut

    def _end_run(self, data: memoryview, count: int, earlier: int) -> None:
        """Counts and records requests in a row that a shortcut has answered at once. Their responses are the output from `earlier` on."""
        if self.core.gate is not None:
            self.sparing.count += count
        if count and self.recording is not None:
            self.recording.run(data, count, self.output[earlier:] if earlier else self.output)

    def _parse_large(self, data: memoryview) -> None:
        earlier, shortcut = len(self.output), self._usable_shortcut()
        answer = None if shortcut is None else shortcut.answer(data, LENGTH_BYTES, len(data) - LENGTH_BYTES, True)
        if not isinstance(answer, bytes):
            return self._serve(data, answer, owns_buffer=True)
        self.write_run(answer)
        self._end_run(data, 1, earlier)

    def _serve(self, data: memoryview, answer: list[Buffer] | Waiting | None, owns_buffer: bool) -> None:
        """Serves the request in `data`, with its length: as the shortcut says, or by its handler if there is no answer."""
        frame, recording = data[LENGTH_BYTES:], self.recording
        if answer is not None and self.core.gate is not None:
            self.sparing.count += 1
        if isinstance(answer, list):
            return self.write(answer) if recording is None else recording.write_answer(data, answer, self.write)
        if recording is not None:
            recording.begin(frame, self._authentication is not None and self._authentication.takes_token)
        if answer is None:
            self._handle(frame, owns_buffer)
        else:
            self._resume(Undecoded(self, self.core.cluster, bytes(frame), answer))
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
                return self._decode_large(header, frame, owns_buffer)
            request = api.request.decoders[version](frame, header.position)[0]
        except ProtocolError as error:
            return self.close(str(error))
        self._answer(header, request, frame, owns_buffer)

    def _decode_large(self, header: RequestHeader, frame: memoryview, owns_buffer: bool) -> None:
        """Decodes and answers a request, in this turn if it has few items. Its frame is copied if its memory is used for other requests."""
        try:
            next(decode_in_slices(header, frame))
        except StopIteration as done:
            return self._answer(header, done.value, frame, owns_buffer)
        kept = frame if owns_buffer else memoryview(bytearray(frame))
        context = Context(header.version, self.client, self.core.cluster, self.broker, kept, True, None)
        self._resume(Parked(self, header, NotDecoded(), context, self._decode_in_turns(header, kept)))

    def _decode_in_turns(self, header: RequestHeader, frame: memoryview) -> Waiting:
        try:
            request = yield from decode_in_slices(header, frame)
        except ProtocolError as error:
            self.close(str(error))
        else:
            self._answer(header, request, frame, True, in_slices=True)
        return None

    def _answer(self, header: RequestHeader, request: Message, frame: memoryview, owns_buffer: bool, in_slices: bool = False) -> None:
        """Passes a decoded request to its handler. With `in_slices`, the response is encoded in slices. Raises no exception."""
        gate, api, version = self.core.gate, header.api, header.version
        self.client.client_id = header.client_id or ""
        context = Context(version, self.client, self.core.cluster, self.broker, frame, owns_buffer, self._shortcut)
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
                    return self._park(Parked(self, header, request, context, answer), wait)
            if in_slices and answer is not None:
                return self._resume(Parked(self, header, request, context, self.send_in_slices(header, answer)))
            self.send(header, answer)
        except Exception as error:  # noqa: BLE001  (of any handler)
            self._refuse(header, request, context, error)

    def forget_shortcut(self) -> None:
        """Drops the shortcut, so that requests are decoded until a handler stores a new one."""
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
            context = Context(0, self.client, self.core.cluster, self.broker, frame, False, None)
            self._resume(Parked(self, authentication.REFUSED_HEADER, authentication.REFUSED_REQUEST, context, refusal))
        return False

    def resume_parked(self, parked: Parked) -> None:
        """Continues a request that was woken or whose turn has come. Does nothing unless it is the request in flight."""
        if self.parked is parked:
            self.parked = None
            self._resume(parked)
            if self.parked is not parked:
                self.core.turns.withdraw(parked)
            self._proceed()

    def _park(self, parked: Parked, wait: Wait) -> None:
        """Keeps a request until one of its keys is woken or its deadline has passed; for NEXT_TURN, until the next turn."""
        self.parked, turns = parked, self.core.turns
        if wait is NEXT_TURN:
            turns.withdraw(parked)
            parked.in_slices = True
            turns.put_off(partial(self.resume_parked, parked))
        else:
            if self.recording is not None and wait is not parked.wait:
                self.recording.wait(wait)
            turns.register(parked, wait)

    def _abandon(self, parked: Parked) -> None:
        """Drops the request in flight of a closed connection, and closes its generator so that its `finally` clauses run."""
        self.parked = None
        self.core.turns.withdraw(parked)
        try:
            parked.generator.close()
        except Exception as error:  # noqa: BLE001  (of any handler)
            self.log_failure(error, "withdrawing a request that waited")

    def _resume(self, parked: Parked) -> None:
        """Continues a handler until it waits again or returns. Raises no exception."""
        try:
            self._continue(parked)
        except Exception as error:  # noqa: BLE001  (of any handler)
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
            return self._park(parked, wait)
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
            return self._resume(Parked(self, header, request, context, refusal))
        self.fail(error, f"serving {header.api.name} v{header.version}: {short_repr(request)}")

    def lost(self, reason: str, *, by_client: bool = False) -> None:
        if self.core.gate is not None:
            self.core.gate.closed(self)
        super().lost(reason, by_client=by_client)
        self.broker.request_memory.forget(self.ask_for_flush)
        self.core.timers.cancel(self)
        if self._large is not None:
            self._large.release()
        self._unparsed, self._large, self._state = b"", None, CLOSED
        if self.parked is not None:
            self._abandon(self.parked)
        self._release_served()
