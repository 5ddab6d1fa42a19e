"""A connection to a broker that sends requests and receives the responses in order."""

from __future__ import annotations

import secrets
import socket
import ssl
import time
from collections import deque
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np

from ..protocol.client_security.login import authenticate
from ..protocol.client_security.mechanisms import AuthenticationFailed
from ..protocol.client_security.settings import ClientSecurity, TlsSettings
from ..protocol.client_security.tls import tls_context
from ..protocol.client_versions import ClientVersions
from ..protocol.errors import ErrorCode, KafkaError
from ..protocol.frame import LENGTH, decode_response, encode_request
from ..protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest
from ..protocol.messages.fetch import FETCH
from ..protocol.messages.produce import PRODUCE
from ..protocol.schema import Api, Message, ProtocolError

Address = tuple[str, int]

PLAIN_TEXT = ClientSecurity()
CEILINGS = {PRODUCE.key: 12, FETCH.key: 12}
"""Highest versions used of some APIs, by key: from version 13 on, these identify topics by id, and this client has names only."""

_context = cache(tls_context)  # stores are read once, because every query opens several connections


class Connection:
    """A blocking connection for one user at a time, which is encrypted and authenticated as `security` says.

    Methods raise OSError when the broker closes the connection or does not respond in time; the connection cannot be used afterwards.
    """

    def __init__(self, address: Address, client_id: str, timeout_ms: int, security: ClientSecurity = PLAIN_TEXT) -> None:
        """Raises OSError, and KafkaError with SASL_AUTHENTICATION_FAILED if one of both sides does not trust the other."""
        self._client_id = client_id
        self._correlation_id = 0
        self._sent: deque[tuple[Api, int, int]] = deque()
        self._socket = socket.create_connection(address, timeout_ms / 1000)
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if security.tls is not None:
                self._encrypt(address, security.tls)
            self._versions = ClientVersions(CEILINGS)
            self._versions.learn(self.call(API_VERSIONS, ApiVersionsRequest()))
            if security.uses_sasl:
                self._authenticate(security)
        except BaseException:
            self.close()
            raise

    def _encrypt(self, address: Address, settings: TlsSettings) -> None:
        try:
            self._socket = _context(settings).wrap_socket(self._socket, server_hostname=address[0])
        except ssl.SSLCertVerificationError as error:
            problem = f"the certificate of {address[0]}:{address[1]} is not accepted: {error.verify_message}"
            raise KafkaError(ErrorCode.SASL_AUTHENTICATION_FAILED, problem) from None

    def _authenticate(self, security: ClientSecurity) -> None:
        try:
            authenticate(self.call, security, secrets.token_hex(), time.time())
        except AuthenticationFailed as error:
            raise KafkaError(ErrorCode.SASL_AUTHENTICATION_FAILED, str(error)) from None

    def version_of(self, api: Api) -> int:
        """Returns the highest version that both sides support. Raises KafkaError with UNSUPPORTED_VERSION when there is none."""
        version = self._versions.highest(api, api.versions.first)
        if version is None:
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, f"the broker supports no version of {api.name} that this client supports")
        return version

    def call(self, api: Api, request: Message) -> Any:
        """Sends a request and returns its response."""
        self.send(api, request)
        return self.receive()

    def send(self, api: Api, request: Message) -> None:
        """Sends a request. `receive` returns its response, after those of earlier requests."""
        version = self.version_of(api)
        self._correlation_id += 1
        self._socket.sendall(b"".join(encode_request(api, version, self._correlation_id, self._client_id, request)))
        self._sent.append((api, version, self._correlation_id))

    def receive(self) -> Any:
        """Returns the response to the oldest request without one. Record bytes in it are views of a buffer that is not reused."""
        api, version, expected = self._sent.popleft()
        (size,) = LENGTH.unpack(self._read(LENGTH.size))
        if size < 0:
            raise ProtocolError(f"response of {size} bytes")
        correlation_id, response = decode_response(api, version, self._read(size))
        if correlation_id != expected:
            raise ProtocolError(f"response to request {correlation_id} received, expected the response to {expected}")
        return response

    def _read(self, size: int) -> memoryview:
        view = np.empty(size, np.uint8).data  # unlike a bytearray, not zeroed first
        filled = 0
        while filled < size:
            received = self._socket.recv_into(view[filled:])
            if not received:
                raise ConnectionResetError("the broker closed the connection")
            filled += received
        return view

    def close(self) -> None:
        """Closes the connection; responses that have not been received are lost."""
        with suppress(OSError):
            self._socket.close()
