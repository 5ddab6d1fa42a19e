"""The bytes of one connection as a capture shows them: without secrets, but with the lengths and the boundaries that they had.

Frames are found as the broker finds them, in both directions. The bytes of a frame without secrets pass as they come. A frame that may
contain secrets is held until it is complete, and is then shown as one piece, redacted by `redaction.py`. If it is larger than HELD_BYTES or
cannot be decoded, only its header is shown. The comments name the errors in a response.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

from ...protocol.frame import LENGTH, Buffer
from ...protocol.messages import LOADED, load_api
from ...protocol.messages.sasl_handshake import SASL_HANDSHAKE
from ...protocol.schema import Api
from .exchange import HEAD_BYTES, Frame, decoded_response, error_names
from .pairing import CORRELATION_ID_BYTES, HEADER_BYTES, HEADLESS, Pairing, RequestStart
from .redaction import MAX_VERSION, blank, holds_secrets, redact_request, redact_response, visible_bytes

HELD_BYTES = 1024 * 1024
ALL = 1 << 62
"""More bytes than any frame has. It also stands for the size of a frame whose length is negative, because it ends the connection."""
Parsing = Generator[None, None, None]
"""A parser that yields when it needs more bytes."""


class Piece(NamedTuple):
    """The bytes that are shown in place of some that were read or written at once, and the comments on them."""

    data: bytes
    comments: list[str]


class CapturedStream:
    """Both directions of a connection."""

    def __init__(self) -> None:
        pairing = Pairing[None]()
        self._requests = _Requests(pairing)
        self._responses = _Responses(pairing)

    def show(self, from_client: bool, data: Buffer) -> Piece:
        """Returns what is shown now that the next bytes of a direction are known. It may be less, or more, than these bytes."""
        return self._direction(from_client).show(data)

    def rest(self, from_client: bool) -> bytes:
        """Returns what is shown of the bytes that are held, because the connection has ended."""
        return self._direction(from_client).rest()

    def remaining(self, from_client: bool) -> int:
        """Returns how many bytes are still to come of the frame whose first bytes have been shown."""
        return self._direction(from_client).remaining

    def _direction(self, from_client: bool) -> _Direction:
        return self._requests if from_client else self._responses


class _Treatment(NamedTuple):
    """The part of a frame that may be shown: the first `visible` bytes. If it `holds` secrets, it has to be complete to show more of it."""

    holds: bool
    visible: int


PLAIN = _Treatment(False, ALL)
UNKNOWN = _Treatment(False, 0)


class _Direction:
    """One direction of a connection. `_held` are bytes that are not shown yet, always from the start of a frame on."""

    header_bytes: int

    def __init__(self, pairing: Pairing[None]) -> None:
        self.pairing = pairing
        self._held = bytearray()
        self._input = memoryview(b"")
        self._shown: list[Buffer] = []
        self._comments: list[str] = []
        self._treatment = UNKNOWN
        self._remaining = 0
        self._parsing = self._parse()

    def show(self, data: Buffer) -> Piece:
        self._input = memoryview(data)
        next(self._parsing)
        shown, comments = self._shown, self._comments
        self._shown, self._comments = [], []
        return Piece(b"".join(shown), comments)

    def rest(self) -> bytes:
        """Returns the header of an incomplete frame, and asterisks in place of its other bytes."""
        held, self._held = bytes(self._held), bytearray()
        return blank(held, LENGTH.size + self._treatment.visible)

    @property
    def remaining(self) -> int:
        """How many bytes are still to come of the frame whose first bytes have been shown."""
        return self._remaining

    def _parse(self) -> Parsing:
        while True:
            self._treatment = UNKNOWN
            yield from self._hold(LENGTH.size)
            (size,) = LENGTH.unpack(self._held)
            size = size if size >= 0 else ALL
            yield from self._hold(LENGTH.size + min(size, self.header_bytes))
            self._treatment = treatment = self.begun(bytes(self._held[LENGTH.size :]))
            if treatment.holds and size <= HELD_BYTES:
                yield from self._hold(LENGTH.size + size)
            length, frame = bytes(self._held[: LENGTH.size]), bytes(self._held[LENGTH.size :])
            self._held.clear()
            head = bytearray(frame[:HEAD_BYTES])
            self._shown += [length, self.redact(frame) if len(frame) == size else blank(frame, treatment.visible)]
            yield from self._pass(size - len(frame), head, treatment.visible)
            self.completed(frame, Frame(bytes(head), size))

    def _hold(self, size: int) -> Parsing:
        """Waits until `size` bytes are held."""
        while len(self._held) < size:
            self._held += self._take(size - len(self._held))
            if len(self._held) < size:
                yield

    def _pass(self, size: int, head: bytearray, visible: int) -> Parsing:
        """Shows the next `size` bytes when they come, and adds them to the head of their frame."""
        self._remaining = size
        while self._remaining:
            taken = self._take(self._remaining)
            self._remaining -= len(taken)
            head += taken[: HEAD_BYTES - len(head)]
            self._shown.append(taken if visible == ALL else blank(taken))
            if self._remaining:
                yield

    def _take(self, size: int) -> memoryview:
        taken, self._input = self._input[:size], self._input[size:]
        return taken

    def begun(self, head: bytes) -> _Treatment:
        """Called with the first bytes of a frame, `header_bytes` unless the frame is shorter."""
        raise NotImplementedError

    def redact(self, frame: bytes) -> Buffer:
        """Returns a complete frame without secrets."""
        raise NotImplementedError

    def completed(self, held: bytes, frame: Frame) -> None:
        """Called when all bytes of a frame have been shown. `held` are those of its bytes that were held."""
        raise NotImplementedError


class _Requests(_Direction):
    header_bytes = HEADER_BYTES
    _start = HEADLESS

    def begun(self, head: bytes) -> _Treatment:
        self._start = start = self.pairing.add_request(head, None)
        self.pairing.drop_oldest()
        api = _api_of(start.key)
        if api is None or not 0 <= start.version <= MAX_VERSION:
            return UNKNOWN if start is HEADLESS else _Treatment(False, visible_bytes(head))
        return _Treatment(True, HEADER_BYTES) if api is SASL_HANDSHAKE or holds_secrets(api.request) else PLAIN

    def redact(self, frame: bytes) -> Buffer:
        return blank(frame) if self._start is HEADLESS else redact_request(frame)

    def completed(self, held: bytes, _: Frame) -> None:
        self.pairing.request_completed(held)


class _Responses(_Direction):
    header_bytes = CORRELATION_ID_BYTES
    _asked: RequestStart | None = None

    def begun(self, head: bytes) -> _Treatment:
        found = self.pairing.take_request(head)[1]
        self._asked = None if found is None else found[0]
        api = self._api
        if api is None:
            return UNKNOWN if self._asked is HEADLESS else _Treatment(False, CORRELATION_ID_BYTES)
        return _Treatment(True, CORRELATION_ID_BYTES) if holds_secrets(api.response) else PLAIN

    @property
    def _api(self) -> Api | None:
        return None if self._asked is None else _api_of(self._asked.key)

    def redact(self, frame: bytes) -> Buffer:
        if self._asked is HEADLESS:
            return blank(frame)
        return redact_response(self._api, 0 if self._asked is None else self._asked.version, frame)

    def completed(self, _: bytes, frame: Frame) -> None:
        if self._asked is None:
            return
        self.pairing.response_completed(self._asked, frame.head)
        response = decoded_response(self._api, self._asked.version, frame)
        if response is not None and (names := error_names(response)):
            self._comments.append(f"error: {', '.join(names)}")


def _api_of(key: int | None) -> Api | None:
    return None if key is None else LOADED.get(key) or load_api(key)
