"""Decodes large requests in slices, so that other connections are served between them.

A request of up to SLICED_BYTES is decoded at once. The number of array items decides how long decoding takes, and so few bytes contain few
items. A larger request is decoded by a generator (`sliced_decoders`), which ends without a break unless there are many items. Otherwise
the connection keeps the request in flight, and continues to decode in the following turns.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from ...protocol.frame import RequestHeader
from ...protocol.schema import Message, ProtocolError
from ..scheduling.waiting import NEXT_TURN
from .context import Context, Waiting
from .parked import Parked

if TYPE_CHECKING:
    from ..connections.connection import Connection

SLICED_BYTES = 16 * 1024

Decoding = Generator[None, None, tuple[Any, int]]


class NotDecoded(Message):
    """Stands for a request that is still being decoded."""


def decode_large(connection: Connection, header: RequestHeader, frame: memoryview, owns_buffer: bool) -> None:
    """Decodes a request and has the connection answer it, in this turn if it has few items. Raises ProtocolError in this turn.

    The frame is copied if its memory is used for other requests.
    """
    try:
        next(_begun(header, frame))
    except StopIteration as done:
        return connection.answer(header, done.value[0], frame, owns_buffer)
    kept = frame if owns_buffer else memoryview(bytearray(frame))
    context = Context(header.version, connection.client, connection.broker, kept, True, None)
    return connection.resume(Parked(connection, header, NotDecoded(), context, _decode_in_turns(connection, header, kept)))


def _decode_in_turns(connection: Connection, header: RequestHeader, frame: memoryview) -> Waiting:
    try:
        request = yield from _next_turns(_begun(header, frame))
    except ProtocolError as error:
        connection.close(str(error))
    else:
        connection.answer(header, request, frame, True, in_slices=True)
    return None


def _begun(header: RequestHeader, frame: memoryview) -> Decoding:
    return header.api.request.sliced_decoders[header.version](frame, header.position)


def _next_turns(decoding: Decoding) -> Generator[Any, None, Message]:
    while True:
        try:
            next(decoding)
        except StopIteration as done:
            return done.value[0]  # type: ignore[no-any-return]
        yield NEXT_TURN
