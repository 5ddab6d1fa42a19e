"""Connections to brokers: `Line` moves frames, and `Connection` sends requests in versions that both sides support."""

from __future__ import annotations

import socket
from collections import deque
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from ...protocol.client_versions import ClientVersions
from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.frame import LENGTH, decode_response, encode_request
from ...protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest
from ...protocol.messages.fetch import FETCH
from ...protocol.messages.offset_commit import OFFSET_COMMIT
from ...protocol.messages.offset_fetch import OFFSET_FETCH
from ...protocol.messages.produce import PRODUCE
from ...protocol.schema import Api, Message, ProtocolError
from .healthcheck import secured

if TYPE_CHECKING:
    from ...protocol.client_security.settings import ClientSecurity

Address = tuple[str, int]

MAX_RESPONSE_BYTES = 1 << 30
CLIENT_ID = "odradek"
CEILINGS = {PRODUCE.key: 12, FETCH.key: 12, OFFSET_COMMIT.key: 9, OFFSET_FETCH.key: 9}
"""Highest versions used of some APIs, by key: later ones identify topics by id, and the commands have names."""


class Line:
    """A connection to a broker. Raises OSError, and Refused if the broker does not accept the credentials."""

    def __init__(self, address: Address, security: ClientSecurity | None, timeout_s: float) -> None:
        self.address = address
        self._stack = ExitStack()
        plain = self._stack.enter_context(socket.create_connection(address, timeout_s))
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket = self._stack.enter_context(secured(plain, address[0], security))
        except BaseException:
            self._stack.close()
            raise
        self.is_closed = False

    def send(self, frame: bytes) -> None:
        self._socket.sendall(LENGTH.pack(len(frame)) + frame)

    def receive(self, correlation_id: int) -> bytes:
        """Returns the next response with a correlation id. Others, for which nobody waits any more, are left out."""
        while True:
            (size,) = LENGTH.unpack(self._read(LENGTH.size))
            if not LENGTH.size <= size <= MAX_RESPONSE_BYTES:
                raise ProtocolError(f"a response of {size} bytes")
            frame = self._read(size)
            if LENGTH.unpack_from(frame)[0] == correlation_id:
                return frame

    def _read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            part = self._socket.recv(min(size - len(data), 1 << 20))
            if not part:
                self.close()
                raise ConnectionError("the broker has closed the connection")
            data += part
        return bytes(data)

    def close(self) -> None:
        self.is_closed = True
        self._stack.close()


class Connection:
    """A connection that has negotiated versions. Raises OSError, Refused, ProtocolError and KafkaError; it closes itself after an error."""

    def __init__(self, address: Address, security: ClientSecurity | None, timeout_s: float) -> None:
        self._line = Line(address, security, timeout_s)
        self._correlation_id = 0
        self._sent: deque[tuple[Api, int, int]] = deque()
        try:
            self._versions = ClientVersions(CEILINGS)
            self._versions.learn(self.call(API_VERSIONS, ApiVersionsRequest()))
        except BaseException:
            self.close()
            raise

    def version_of(self, api: Api) -> int:
        """Returns the highest version that both sides support. Raises KafkaError with UNSUPPORTED_VERSION if there is none."""
        version = self._versions.highest(api, api.declared.first)
        if version is None:
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, f"the broker does not support {api.name} in a version that odradek supports")
        return version

    def call(self, api: Api, request: Message) -> Any:
        """Sends a request and returns its response."""
        self.send(api, request)
        return self.receive()

    def send(self, api: Api, request: Message) -> None:
        """Sends a request. `receive` returns its response, after those of earlier requests."""
        version = self.version_of(api)
        self._correlation_id += 1
        self._line.send(b"".join(encode_request(api, version, self._correlation_id, CLIENT_ID, request))[LENGTH.size :])
        self._sent.append((api, version, self._correlation_id))

    def receive(self) -> Any:
        """Returns the response to the oldest request without one."""
        api, version, correlation_id = self._sent.popleft()
        try:
            return decode_response(api, version, memoryview(self._line.receive(correlation_id)))[1]
        except BaseException:
            self.close()  # because the response may still come
            raise

    @property
    def is_closed(self) -> bool:
        return self._line.is_closed

    def close(self) -> None:
        self._line.close()
