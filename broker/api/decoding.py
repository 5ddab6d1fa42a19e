"""Decodes large requests in slices, so that other connections are served between them.

A request of up to SLICED_BYTES is decoded at once. The number of array items decides how long decoding takes, and so few bytes contain few
items. A larger request is decoded by a generator (`sliced_decoders`), which ends without a break unless there are many items. Otherwise
the connection keeps the request in flight, and continues to decode in the following turns.
"""

from __future__ import annotations

from collections.abc import Generator

from ...protocol.frame import RequestHeader
from ...protocol.schema import Message
from ..scheduling.waiting import NEXT_TURN, Wait

SLICED_BYTES = 16 * 1024


class NotDecoded(Message):
    """Stands for a request that is still being decoded."""


def decode_in_slices(header: RequestHeader, frame: memoryview) -> Generator[Wait, None, Message]:
    """Returns the request in a frame. Raises ProtocolError if it cannot be decoded."""
    decoding = header.api.request.sliced_decoders[header.version](frame, header.position)
    while True:
        try:
            next(decoding)
        except StopIteration as done:
            return done.value[0]  # type: ignore[no-any-return]
        yield NEXT_TURN
