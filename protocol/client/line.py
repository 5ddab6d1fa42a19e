"""A socket to a broker that moves frames, encrypted and authenticated if a client's settings say so.

A plain line imports nothing else of the protocol, because a container runtime starts a health check as a new process every few seconds,
and imports would take longer than the check.
"""

from __future__ import annotations

import secrets
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from struct import Struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl

    from .settings import ClientSecurity

Address = tuple[str, int]

LENGTH = Struct(">i")
MAX_RESPONSE_BYTES = 1 << 30


class LoginFailed(Exception):
    """The broker refused the credentials, or did not prove that it knows them. The text contains no secret."""


class NotKafka(Exception):
    """The peer sent a length that no frame of the Kafka protocol has."""


class Line:
    """A connection to a broker, encrypted if there is a TLS context. Methods raise OSError, also if the broker closes the connection."""

    def __init__(self, address: Address, timeout_s: float, tls: ssl.SSLContext | None = None) -> None:
        self.address = address
        self.is_closed = False
        self._socket = socket.create_connection(address, timeout_s)
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if tls is not None:
                self._socket = tls.wrap_socket(self._socket, server_hostname=address[0])
        except BaseException:
            self.close()
            raise

    def send(self, frame: bytes) -> None:
        """Sends a frame, which includes its length."""
        self._socket.sendall(frame)

    def receive(self, max_bytes: int = MAX_RESPONSE_BYTES, new_buffer: Callable[[int], bytearray | memoryview] = bytearray) -> memoryview:
        """Returns the next frame without its length, in a buffer of its own. Raises NotKafka for one that is too short or too long."""
        (size,) = LENGTH.unpack(self._read(memoryview(bytearray(LENGTH.size))))
        if not LENGTH.size <= size <= max_bytes:
            raise NotKafka(f"a response of {size} bytes")
        return self._read(memoryview(new_buffer(size)))

    def _read(self, view: memoryview) -> memoryview:
        filled = 0
        while filled < len(view):
            received = self._socket.recv_into(view[filled:])
            if not received:
                self.close()
                raise ConnectionResetError("the broker has closed the connection")
            filled += received
        return view

    def close(self) -> None:
        self.is_closed = True
        with suppress(OSError):
            self._socket.close()


def open_line(address: Address, client_id: str, timeout_s: float, security: ClientSecurity | None = None) -> Line:
    """Returns a new line after the TLS handshake and the authentication that `security` requires. Raises OSError, LoginFailed, NotKafka."""
    if security is None:
        return Line(address, timeout_s)
    from .login import log_in
    from .tls import tls_context

    line = Line(address, timeout_s, None if security.tls is None else tls_context(security.tls))
    try:
        if security.uses_sasl:
            log_in(line, client_id, security, secrets.token_hex(), time.time())
    except BaseException:
        line.close()
        raise
    return line
