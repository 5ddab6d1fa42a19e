"""A blocking connection to a broker: requests in versions that both sides support, and their responses in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ErrorCode, KafkaError
from ..frame import decode_response, encode_request
from ..messages.api_versions import API_VERSIONS, ApiVersionsRequest, ApiVersionsResponse
from ..messages.fetch import FETCH
from ..messages.offset_commit import OFFSET_COMMIT
from ..messages.offset_fetch import OFFSET_FETCH
from ..messages.produce import PRODUCE
from ..schema import Api, Message, ProtocolError
from .line import Address, NotKafka, open_line

if TYPE_CHECKING:
    from .settings import ClientSecurity

CEILINGS = {PRODUCE.key: 12, FETCH.key: 12, OFFSET_COMMIT.key: 9, OFFSET_FETCH.key: 9}
"""Highest versions used of some APIs, by key: later ones identify topics by id, and the clients have names."""
_NOT_SERVED = (0, -1)


class TopicPartition(NamedTuple):
    """A partition of a topic."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class ClientVersions:
    """A client's choice of the version of each request: the highest that both sides support (KIP-35).

    Before `learn`, only version 0 of ApiVersions is known, which every broker serves.
    """

    def __init__(self) -> None:
        self._served = {API_VERSIONS.key: (0, 0)}

    def learn(self, response: ApiVersionsResponse) -> None:
        """Takes the versions that the broker serves from its response. Raises KafkaError if that contains an error."""
        if response.error_code:
            raise KafkaError(ErrorCode(response.error_code))
        self._served = {each.api_key: (each.min_version, each.max_version) for each in response.api_keys}

    def highest(self, api: Api, first: int) -> int | None:
        """Returns the highest version from `first` on that both sides support, None if there is none."""
        lowest, highest = self._served.get(api.key, _NOT_SERVED)
        version = min(api.versions.last, highest, CEILINGS.get(api.key, highest))
        return version if version >= max(lowest, first) else None


class ClientConnection:
    """A connection for one user at a time. It closes itself if a response is not received, because that may still come.

    The constructor and the methods raise OSError, LoginFailed, NotKafka, ProtocolError and KafkaError. With `removed_versions`, requests
    may have versions that Kafka 4.0 removed, for brokers that have no later ones. `new_buffer` provides the buffers of responses.
    """

    def __init__(
        self,
        address: Address,
        client_id: str,
        timeout_s: float,
        security: ClientSecurity | None = None,
        *,
        removed_versions: bool = False,
        new_buffer: Callable[[int], bytearray | memoryview] = bytearray,
    ) -> None:
        self._client_id = client_id
        self._removed_versions = removed_versions
        self._new_buffer = new_buffer
        self._correlation_id = 0
        self._sent: deque[tuple[Api, int, int]] = deque()
        self._versions = ClientVersions()
        self._line = open_line(address, client_id, timeout_s, security)
        try:
            self._versions.learn(self.call(API_VERSIONS, ApiVersionsRequest()))
        except BaseException:
            self.close()
            raise

    def version_of(self, api: Api) -> int:
        """Returns the highest version that both sides support. Raises KafkaError with UNSUPPORTED_VERSION if there is none."""
        version = self._versions.highest(api, (api.declared if self._removed_versions else api.versions).first)
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
        self._line.send(b"".join(encode_request(api, version, self._correlation_id, self._client_id, request)))
        self._sent.append((api, version, self._correlation_id))

    def receive(self) -> Any:
        """Returns the response to the oldest request without one. Records in it are views of a buffer that is not used again."""
        api, version, expected = self._sent.popleft()
        try:
            correlation_id, response = decode_response(api, version, self._line.receive(new_buffer=self._new_buffer))
            if correlation_id != expected:
                raise ProtocolError(f"response to request {correlation_id} received, expected the response to {expected}")
            return response
        except NotKafka as error:
            self.close()
            raise ProtocolError(str(error)) from None
        except BaseException:
            self.close()
            raise

    @property
    def is_closed(self) -> bool:
        return self._line.is_closed

    def close(self) -> None:
        """Closes the connection; responses that have not been received are lost."""
        self._line.close()
