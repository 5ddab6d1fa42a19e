"""One connection of an HTTP listener: reads requests and answers them one at a time.

A control runs as a task, so that a long wait holds up neither other connections nor the brokers. If its client ends the connection, a
control that only reads is cancelled, and so is one that may stop anywhere, such as `clock advance`. Other controls that change the cluster
are completed, because they would otherwise be half done.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing
from http import HTTPStatus
from typing import TYPE_CHECKING, cast

from ...settings.endpoints import bracket
from .requests import MAX_HEAD_BYTES, Request, RequestParser
from .responses import CONTINUE, Problem, Response, Streaming, encode, encode_head

if TYPE_CHECKING:
    from .http_listener import HttpListener

REQUEST_S = 60.0
"""A connection ends unless its next request is complete, and the response before it is read, after this time."""
LINGER_S = 2.0
"""After an error, input is discarded for this time, because closing a socket with unread input destroys the response."""


class HttpConnection(asyncio.Protocol):
    """A connection of a client. The transport of the event loop calls the methods of the first section."""

    def __init__(self, listener: HttpListener) -> None:
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[None] | None = None
        self._may_be_cancelled = False
        self._ending = False
        self._writable = True
        self._unsent_bytes = 0
        self._timer: asyncio.TimerHandle | None = None
        self._room: asyncio.Future[None] | None = None
        self._body_bytes = 0  # of the request that is being answered
        self.is_streaming = False

    @property
    def is_waiting(self) -> bool:
        """Whether the next request is not yet complete."""
        return self._task is None

    @property
    def is_replaceable(self) -> bool:
        """Whether the connection may be closed in favour of another: no control is being carried out for it."""
        return self._task is None or self.is_streaming

    @property
    def held_bytes(self) -> int:
        """The number of bytes of requests that are kept for the connection."""
        return self._parser.buffered_bytes + self._body_bytes

    # Called by the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        host, port = transport.get_extra_info("peername")[:2]
        self._parser = RequestParser(self._admit, f"{bracket(host)}:{port}")
        self._listener.note_use(self)
        if not self._listener.make_room(self):
            listener = self._listener
            listener.log.info("closing a connection: %s has %d connections", listener.name, len(listener.connections) - 1)
            self._transport.abort()
        self._wait_for_request()

    def data_received(self, data: bytes) -> None:
        if not self._ending:
            self._listener.note_use(self)
            self._parser.receive(data)
            is_large = self._task is None and self._parser.buffered_bytes > MAX_HEAD_BYTES
            if is_large and not self._listener.make_room_for_body(self):
                self._refuse(Problem(HTTPStatus.SERVICE_UNAVAILABLE, "the bodies of other requests take all memory for bodies; try again"))
            else:
                self._proceed()

    def eof_received(self) -> bool:
        """Keeps the connection open if a request is being answered, because a client may close only its half of the connection.

        A control that may be cancelled gets one turn to complete, because the client may also have gone.
        """
        if self._task is None:
            return False
        self._ending = True
        if self._may_be_cancelled:
            self._loop.call_soon(self._task.cancel)
        return True

    def connection_lost(self, _error: Exception | None) -> None:
        self._ending = True
        self._parser.discard()
        self._cancel_timer()
        if self._task is not None and self._may_be_cancelled:
            self._task.cancel()
        self._listener.connections.pop(self, None)

    def pause_writing(self) -> None:
        self._writable = False

    def resume_writing(self) -> None:
        self._writable = True
        if self._room is not None and not self._room.done():
            self._room.set_result(None)
        self._proceed()

    def abort(self) -> None:
        """Ends the connection and cancels its control, because the cluster stops."""
        if self._task is not None:
            self._task.cancel()
        self._transport.abort()

    # Requests and responses

    def _admit(self, request: Request) -> None:
        self._listener.admit(request)

    def _proceed(self) -> None:
        """Begins to answer the next request if it is complete and the one before it is answered."""
        if self._ending:
            return
        if self._task is not None or not self._writable:
            if self._parser.buffered_bytes > MAX_HEAD_BYTES:
                self._transport.pause_reading()
            return
        self._transport.resume_reading()
        try:
            request = self._parser.next_request()
        except Problem as problem:
            self._refuse(problem)
            return
        if request is not None:
            self._cancel_timer()
            self._may_be_cancelled = self._listener.may_be_cancelled(request)
            self._body_bytes = len(request.body)
            self._task = self._loop.create_task(self._answer(request))
            self._listener.tasks.add(self._task)
            self._task.add_done_callback(self._listener.tasks.discard)
        elif self._parser.take_continue():
            self._transport.write(CONTINUE)

    async def _answer(self, request: Request) -> None:
        try:
            response = await self._listener.answer(request)
        except asyncio.CancelledError:
            self._transport.abort()
            raise
        finally:
            self._task, self._body_bytes = None, 0
        if isinstance(response, Streaming):
            self._task, self.is_streaming = asyncio.current_task(), True
            return await self._stream(request, response)
        self._listener.log.log(logging.DEBUG if request.method == "GET" else logging.INFO, "%s: %d", request, response.status)
        self._respond(request, response)

    async def _stream(self, request: Request, response: Streaming) -> None:
        """Writes a response without end, as fast as the client reads. The connection ends if it does not read for REQUEST_S."""
        self._transport.write(encode_head(response))
        try:
            async with aclosing(response.pieces) as pieces:
                async for piece in pieces:
                    if request.method == "HEAD" or self._ending:
                        break
                    self._transport.write(piece)
                    if not self._writable:
                        await self._wait_for_room()
        except Exception:
            self._listener.log.exception("an internal error in %s", request)
        finally:
            self._task = None
            self._ending = True
            self._transport.close()

    async def _wait_for_room(self) -> None:
        """Returns when the transport's buffer has room again."""
        self._wait_for_request()
        self._room = self._loop.create_future()
        try:
            await self._room
        finally:
            self._room = None
            self._cancel_timer()

    def _respond(self, request: Request, response: Response) -> None:
        if self._transport.is_closing():
            return
        self._listener.note_use(self)
        keep_alive = request.keep_alive and not self._ending
        self._transport.write(encode(response, keep_alive=keep_alive, with_body=request.method != "HEAD"))
        self._wait_for_request()
        if keep_alive:
            self._proceed()
        else:
            self._ending = True
            self._transport.close()

    def _refuse(self, problem: Problem) -> None:
        """Answers a request that cannot be read, and ends the connection."""
        self._ending = True
        self._parser.discard()
        self._transport.write(encode(self._listener.refusal(problem), keep_alive=False))
        if self._transport.can_write_eof():  # not with TLS
            self._transport.write_eof()
        self._cancel_timer()
        self._timer = self._loop.call_later(LINGER_S, self._transport.abort)

    # The time limit

    def _wait_for_request(self) -> None:
        self._cancel_timer()
        self._unsent_bytes = self._transport.get_write_buffer_size()
        self._timer = self._loop.call_later(REQUEST_S, self._check_progress)

    def _check_progress(self) -> None:
        """Ends the connection unless its client has read a part of the last response since the last check."""
        unsent_bytes = self._transport.get_write_buffer_size()
        if 0 < unsent_bytes < self._unsent_bytes:
            self._wait_for_request()
        else:
            self._transport.abort()

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
