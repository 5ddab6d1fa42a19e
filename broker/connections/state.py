"""The states of a connection: what happens to the bytes that its client sends."""

from __future__ import annotations

from enum import Enum, auto


class ConnectionState(Enum):
    """Whether the bytes of a client are read, and what is awaited before the next request is served.

    | state   | bytes    | left for | when |
    |---------|----------|----------|------|
    | READING | read     | HELD     | a frame begins while the connection is busy, or there is no memory for a large frame |
    |         |          | PUT_OFF  | the requests of this turn are served, and there are more |
    |         |          | MUTED    | `mute` (KIP-219) |
    | MUTED   | read     | PUT_OFF  | a frame begins |
    |         |          | READING  | the time of `mute` is over |
    | HELD    | not read | PUT_OFF  | all output is written (`flushed`), or `mute` |
    |         |          | READING  | the request in flight is answered, or the turn has come, unless the connection is still busy |
    | PUT_OFF | not read | HELD     | the next turn has come, or the time of `mute` is over |
    | any     |          | CLOSED   | `lost` |

    A connection is busy while a request is in flight (`parked`), while it is MUTED or PUT_OFF, and while the client does not read.
    """

    READING = auto()
    MUTED = auto()
    HELD = auto()
    PUT_OFF = auto()
    CLOSED = auto()


READING, MUTED, HELD, PUT_OFF, CLOSED = ConnectionState

WHEN_BUSY = {READING: HELD, MUTED: PUT_OFF}
"""The states after a frame has begun that cannot be served yet."""
WHEN_MUTED = {READING: MUTED, HELD: PUT_OFF}
WHEN_DUE = {MUTED: READING, PUT_OFF: HELD}
"""The states after the turn has come to which requests were put off, or the time of `mute` is over."""
