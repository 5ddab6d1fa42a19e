"""Assigns the responses of one connection to its requests, from the first bytes of each frame.

A broker answers in the order of the requests, and some requests have no response (Produce with acks=0). A response therefore belongs to the
oldest open request with its correlation id, and the requests before that one have no response.

After a SaslHandshake of version 0, frames are bare tokens without a header. Their number depends on the mechanism: SCRAM has two
exchanges of tokens, PLAIN and OAUTHBEARER have one.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from struct import Struct
from typing import Generic, NamedTuple, TypeVar

from ...protocol.frame import Buffer, read_request_header
from ...protocol.messages.sasl_handshake import SASL_HANDSHAKE, SaslHandshakeRequest
from ...protocol.schema import ProtocolError

T = TypeVar("T")

HEADER_BYTES = 8
"""The size of key, version and correlation id."""
CORRELATION_ID_BYTES = 4
MAX_OPEN = 10_000
"""The most open requests of a connection. The oldest ones are given up, because a capture may contain requests without any response."""
TOKENS = {"PLAIN": 1, "OAUTHBEARER": 1, "SCRAM-SHA-256": 2, "SCRAM-SHA-512": 2}
NO_ERROR = bytes(2)
_ENDLESS = 1 << 31
_HEADER = Struct(">hhi")
_HANDSHAKE_V0 = SASL_HANDSHAKE.key.to_bytes(2, "big") + bytes(2)


class RequestStart(NamedTuple):
    """The first fields of a request. The key is None for a frame without a header: a bare token, or a frame that is too short."""

    key: int | None
    version: int
    correlation_id: int


HEADLESS = RequestStart(None, 0, 0)


class Pairing(Generic[T]):
    """The open requests of a connection, each with an item of the caller."""

    def __init__(self) -> None:
        self._open: deque[tuple[RequestStart, T]] = deque()
        self._ids: Counter[int] = Counter()
        self._mechanism = ""
        self._tokens = 0

    def add_request(self, head: Buffer, item: T) -> RequestStart:
        """Adds a request that begins with `head`, which has HEADER_BYTES unless the frame is shorter, and returns its first fields."""
        start = HEADLESS if self._tokens or len(head) < HEADER_BYTES else RequestStart(*_HEADER.unpack_from(head))
        self._tokens -= self._tokens > 0
        self._open.append((start, item))
        self._ids[start.correlation_id] += 1
        return start

    def request_completed(self, frame: Buffer) -> None:
        """Takes all bytes of a request into account, which may be the SaslHandshake that chooses a mechanism."""
        if bytes(frame[:4]) == _HANDSHAKE_V0:
            self._mechanism = _mechanism(frame)

    def response_completed(self, start: RequestStart, frame: Buffer) -> None:
        """Takes all bytes of a response into account: after one to a SaslHandshake of version 0, tokens follow unless it has an error."""
        if start[:2] == (SASL_HANDSHAKE.key, 0) and frame[CORRELATION_ID_BYTES : CORRELATION_ID_BYTES + 2] == NO_ERROR:
            self._tokens = TOKENS.get(self._mechanism, _ENDLESS)

    def take_request(self, head: Buffer) -> tuple[list[T], tuple[RequestStart, T] | None]:
        """Removes the request to which a response belongs that begins with `head`.

        Returns the items of the requests before it, which have no response, and the request; None if there is none with this id.
        """
        if self._open and self._open[0][0] is HEADLESS:
            return [], self._pop()
        correlation_id = int.from_bytes(head[:CORRELATION_ID_BYTES], "big", signed=True)
        if not self._ids[correlation_id]:
            return [], None
        skipped = []
        while self._open[0][0].correlation_id != correlation_id:
            skipped.append(self._pop()[1])
        return skipped, self._pop()

    def expects(self, head: Buffer) -> bool:
        """Returns whether there is a request with the correlation id in the first bytes of a response."""
        return int.from_bytes(head[:CORRELATION_ID_BYTES], "big", signed=True) in self._ids

    def first_while(self, condition: Callable[[T], bool]) -> list[T]:
        """Removes the oldest requests for as long as the condition holds for their items, and returns these."""
        found = []
        while self._open and condition(self._open[0][1]):
            found.append(self._pop()[1])
        return found

    def drop_oldest(self) -> list[T]:
        """Removes the oldest requests if there are more than MAX_OPEN, and returns their items."""
        return [self._pop()[1] for _ in range(len(self._open) - MAX_OPEN)]

    def rest(self) -> list[T]:
        """Removes all requests and returns their items, because the connection has ended."""
        return [self._pop()[1] for _ in range(len(self._open))]

    def _pop(self) -> tuple[RequestStart, T]:
        start, item = self._open.popleft()
        self._ids[start.correlation_id] -= 1
        if not self._ids[start.correlation_id]:
            del self._ids[start.correlation_id]
        return start, item


def _mechanism(frame: Buffer) -> str:
    """Returns the mechanism in a SaslHandshake request of version 0, "" if it cannot be read."""
    try:
        view = memoryview(frame)
        request: SaslHandshakeRequest = SASL_HANDSHAKE.request.decoders[0](view, read_request_header(view).position)[0]
        return request.mechanism
    except ProtocolError:
        return ""
