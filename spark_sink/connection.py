"""One connection to one broker: requests out, answers in, in order."""

from __future__ import annotations

import socket
from collections import deque
from contextlib import suppress
from typing import Any

import numpy as np

from ..protocol.errors import ErrorCode, KafkaError
from ..protocol.frame import LENGTH, decode_response, encode_request
from ..protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest
from ..protocol.messages.fetch import FETCH
from ..protocol.messages.produce import PRODUCE
from ..protocol.schema import Api, Message, ProtocolError

Address = tuple[str, int]

CEILINGS = {PRODUCE.key: 12, FETCH.key: 12}
"""Versions that we stay at although newer ones are known: from 13 on these name topics by ids, which who goes by names has no use for."""


class Connection:
    """Blocking, and for one user at a time. Raises OSError when the broker is gone or silent; then nothing more comes of it."""

    def __init__(self, address: Address, client_id: str, timeout_ms: int) -> None:
        self._client_id = client_id
        self._correlation_id = 0
        self._sent: deque[tuple[Api, int, int]] = deque()
        self._socket = socket.create_connection(address, timeout_ms / 1000)
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._served = self._negotiate()
        except BaseException:
            self.close()
            raise

    def _negotiate(self) -> dict[int, tuple[int, int]]:
        """What the broker serves: key -> lowest and highest version. Every broker knows version 0 of the question."""
        self._served = {API_VERSIONS.key: (0, 0)}
        answer = self.call(API_VERSIONS, ApiVersionsRequest())
        if answer.error_code:
            raise KafkaError(ErrorCode(answer.error_code))
        return {served.api_key: (served.min_version, served.max_version) for served in answer.api_keys}

    def version_of(self, api: Api) -> int:
        """The newest version that both sides speak. Raises KafkaError UNSUPPORTED_VERSION."""
        lowest, highest = self._served.get(api.key, (0, -1))
        version = min(api.versions.last, highest, CEILINGS.get(api.key, highest))
        if version < max(lowest, api.versions.first):
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, f"the broker serves no version of {api.name} that is spoken here")
        return version

    def call(self, api: Api, request: Message) -> Any:
        """The answer to one request."""
        self.send(api, request)
        return self.receive()

    def send(self, api: Api, request: Message) -> None:
        """Sends a request; its answer is received later, after those of the requests before it."""
        version = self.version_of(api)
        self._correlation_id += 1
        self._socket.sendall(b"".join(encode_request(api, version, self._correlation_id, self._client_id, request)))
        self._sent.append((api, version, self._correlation_id))

    def receive(self) -> Any:
        """The answer to the oldest request that has none yet; record bytes in it are views of a buffer of their own."""
        api, version, expected = self._sent.popleft()
        (size,) = LENGTH.unpack(self._read(LENGTH.size))
        if size < 0:
            raise ProtocolError(f"an answer of {size} bytes")
        correlation_id, response = decode_response(api, version, self._read(size))
        if correlation_id != expected:
            raise ProtocolError(f"the answer to request {correlation_id} came where that to {expected} was due")
        return response

    def _read(self, size: int) -> memoryview:
        view = np.empty(size, np.uint8).data  # not zeroed before it is filled
        filled = 0
        while filled < size:
            received = self._socket.recv_into(view[filled:])
            if not received:
                raise ConnectionResetError("the broker closed the connection")
            filled += received
        return view

    def close(self) -> None:
        """Ends the connection; answers under way are lost."""
        with suppress(OSError):
            self._socket.close()
