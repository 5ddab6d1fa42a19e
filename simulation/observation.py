"""Observes the connections of a cluster: which requests were answered, and whether their clients have learned it.

Only Produce and commits of offsets are kept. They are decoded when somebody asks for the history.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from struct import Struct
from typing import Any

from ..protocol.frame import decode_response, read_request_header
from ..protocol.messages.offset_commit import OFFSET_COMMIT
from ..protocol.messages.produce import PRODUCE
from ..protocol.messages.txn_offset_commit import TXN_OFFSET_COMMIT
from ..protocol.schema import ProtocolError

KEPT = {PRODUCE.key, OFFSET_COMMIT.key, TXN_OFFSET_COMMIT.key}
_KEYS = Struct(">hhi")
_CORRELATION = Struct(">i")
_LENGTH_BYTES = 4


@dataclass
class Sent:
    """A request that has arrived at a node. `answered` gives the order of all responses."""

    frame: bytes
    response: bytes | None = None
    answered: int = 0
    is_delivered: bool = False

    def decode(self) -> tuple[str, Any, Any] | None:
        """Returns the client id, the request and its response, None if they cannot be decoded. Without a response, this is None."""
        try:
            frame = memoryview(self.frame)
            header = read_request_header(frame)
            request = header.api.request.decoders[header.version](frame, header.position)[0]
            response = None if self.response is None else decode_response(header.api, header.version, memoryview(self.response))[1]
        except (ProtocolError, KeyError):
            return None
        return header.client_id or "", request, response


class Observation:
    """The requests to the nodes of a cluster, in the order of their arrival, by the key of their API."""

    def __init__(self) -> None:
        self.requests: dict[int, list[Sent]] = {key: [] for key in KEPT}
        self.numbers = count(1)

    def tap(self) -> ConnectionTap:
        """Returns what sees the bytes of a new connection."""
        return ConnectionTap(self)


class _Frames:
    """Finds the frames in a stream of bytes."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def add(self, data: bytes) -> Sequence[bytes]:
        """Returns the frames that are complete, without their length."""
        if not self._bytes and int.from_bytes(data[:_LENGTH_BYTES], "big") == len(data) - _LENGTH_BYTES:
            return (data[_LENGTH_BYTES:],)
        return list(self._split(data))

    def _split(self, data: bytes) -> Iterator[bytes]:
        self._bytes += data
        while len(self._bytes) >= _LENGTH_BYTES:
            end = _LENGTH_BYTES + int.from_bytes(self._bytes[:_LENGTH_BYTES], "big")
            if len(self._bytes) < end:
                return
            frame = bytes(self._bytes[_LENGTH_BYTES:end])
            del self._bytes[:end]
            yield frame


@dataclass
class ConnectionTap:
    """Sees the bytes of one connection."""

    observation: Observation
    _requests: _Frames = field(default_factory=_Frames)
    _answers: _Frames = field(default_factory=_Frames)
    _deliveries: _Frames = field(default_factory=_Frames)
    _open: dict[int, Sent] = field(default_factory=dict)

    def requested(self, data: bytes) -> None:
        for frame in self._requests.add(data):
            if len(frame) >= _KEYS.size:
                key, _, correlation_id = _KEYS.unpack_from(frame)
                if key in KEPT:
                    sent = self._open[correlation_id] = Sent(frame)
                    self.observation.requests[key].append(sent)

    def answered(self, data: bytes) -> None:
        for frame in self._answers.add(data):
            sent = self._open.get(_CORRELATION.unpack_from(frame)[0])
            if sent is not None and sent.response is None:
                sent.response, sent.answered = frame, next(self.observation.numbers)

    def delivered(self, data: bytes) -> None:
        for frame in self._deliveries.add(data):
            sent = self._open.pop(_CORRELATION.unpack_from(frame)[0], None)
            if sent is not None:
                sent.is_delivered = True
