"""The steps of a captured session in the order in which they happened: requests, responses and the ends of connections.

A replay waits for a response at the moment when the captured client had received it, so that requests which wait for each other, such as
those of two members of a group, do so again.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from ....protocol.frame import read_request_header
from ....protocol.messages.sasl_authenticate import SASL_AUTHENTICATE
from ....protocol.messages.sasl_handshake import SASL_HANDSHAKE
from ....protocol.schema import Message, ProtocolError
from ..exchange import NO_KEY, Entry, Event, Exchange
from ..redaction import holds_secrets
from .ids import Ids

AUTHENTICATION = {NO_KEY, SASL_HANDSHAKE.key, SASL_AUTHENTICATE.key}
"""The requests that are not sent again, because a capture contains no secrets. A replay authenticates by its own settings."""
MASK = b"****"


class Kind(Enum):
    """The kinds of steps."""

    SEND = "send"
    RECEIVE = "receive"
    CLOSE = "close"


class ReplayStep(NamedTuple):
    """A step of a session on a connection. `exchange` is None for the end of the connection."""

    kind: Kind
    connection: int
    exchange: Exchange | None


def steps_of(entries: Iterable[Entry]) -> list[ReplayStep]:
    """Returns the steps of a session."""
    timed: list[tuple[float, int, ReplayStep]] = []
    for entry in entries:
        if isinstance(entry, Event):
            if entry.kind == "connection closed" and entry.connection is not None:
                timed.append((entry.at.wall_ms, len(timed), ReplayStep(Kind.CLOSE, entry.connection, None)))
        elif entry.api_key not in AUTHENTICATION:
            timed.append((entry.received.wall_ms, len(timed), ReplayStep(Kind.SEND, entry.connection, entry)))
            if entry.written is not None:
                timed.append((entry.written.wall_ms, len(timed), ReplayStep(Kind.RECEIVE, entry.connection, entry)))
    return [step for _, _, step in sorted(timed, key=lambda each: each[:2])]


def obstacle(exchange: Exchange) -> str | None:
    """Returns why a request cannot be sent again, None if it can."""
    frame = exchange.request_frame
    if not frame.is_complete:
        return f"only {len(frame.head)} of its {frame.size} bytes were captured"
    try:
        header = read_request_header(memoryview(frame.head))
    except ProtocolError:
        return None
    if holds_secrets(header.api.request) and MASK in frame.head:
        return "it contains a secret, which was not captured"
    return None


def request_frame(exchange: Exchange, ids: Ids) -> bytes:
    """Returns the frame to send: the captured one, with the ids of now if it can be decoded."""
    frame = exchange.request_frame.head
    view = memoryview(frame)
    try:
        header = read_request_header(view)
        if header.version in header.api.declared:
            message: Message = header.api.request.decoders[header.version](view, header.position)[0]
            replaced = ids.translate(message)
            if replaced != message:
                encoded: bytes = replaced.encode(header.version)
                return frame[: header.position] + encoded
    except ProtocolError:
        pass
    return frame
