"""The entries of the record: a request with its response, and the events between requests.

An exchange keeps the bytes of both frames, of each at most its first HEAD_BYTES, and decodes them when a property needs them. No decoded
message is stored. A frame may come from any client or from a capture file, so that decoding never raises: what cannot be decoded is None.

A frame that was longer than its head is decoded for the names and error codes in its head, with zeros in place of the missing bytes:
behind the head there are then no names and no errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from struct import Struct
from typing import Any, NamedTuple

from ...protocol.errors import ErrorCode
from ...protocol.frame import decode_response, read_request_header
from ...protocol.messages import load_api
from ...protocol.schema import Api, Message, ProtocolError, specs
from ..faults.elements import Element, NamedElements
from ..frozen_data import FrozenData
from .redaction import redact

HEAD_BYTES = 4096
MAX_DECODED_BYTES = 2 * 1024 * 1024
"""A larger frame is not decoded, because its zeros may announce as many elements as it has bytes."""
TOKEN_API = "SaslToken"
"""The API of a frame that is a bare SASL token, which follows a SaslHandshake of version 0 and has no header."""
NO_KEY = -1
REGISTRY_REQUEST = "schema registry"
"""The kind of an event that is a request to the schema registry, with its answer."""
_START = Struct(">hhi")
_LENGTH = Struct(">h")
_ERROR_FIELDS = ("error_code", "partition_error_code", "topic_config_error_code")


class Moment(NamedTuple):
    """A time in milliseconds since the Unix epoch, by the cluster's clock and by the wall clock."""

    cluster_ms: float
    wall_ms: float


class Frame(NamedTuple):
    """A frame without its length field: its first bytes, at most HEAD_BYTES, and the size of all of it.

    The head of a bare SASL token is empty.
    """

    head: bytes
    size: int

    @property
    def is_complete(self) -> bool:
        """Whether all bytes of the frame are known."""
        return len(self.head) == self.size

    def pad(self) -> memoryview:
        """Returns the frame with zeros in place of the bytes that are not known."""
        if self.is_complete:
            return memoryview(self.head)
        whole = bytearray(self.size)
        whole[: len(self.head)] = self.head
        return memoryview(whole)


class Exchange(FrozenData, kw_only=True):
    """A request with its response.

    `sequence` is the number of the entry in the record, `connection` that of the connection, and `peer` the address of the client, such as
    "127.0.0.1:40112". `node` is None if it is unknown. `answered` is None until the response is complete, and `written` until it has been
    passed to the socket. A request without a response, such as a Produce with acks=0, is answered without `response_frame`.

    `waits` says what the request has waited for, `faults` are the faults that have hit it, and `ended` says by whom and why the connection
    was ended while the request was served; it is empty for other requests. `topic_names` are the names of topic ids.
    """

    sequence: int
    node: int | None
    listener: str
    connection: int
    peer: str
    client_id: str | None
    software: str
    principal: str
    received: Moment
    answered: Moment | None
    written: Moment | None
    request_frame: Frame
    response_frame: Frame | None
    waits: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    ended: str = ""
    topic_names: Mapping[bytes, str] = field(default_factory=dict)

    @property
    def api(self) -> str:
        """The name of the API, such as "Produce", "Unknown(99)" if it is not known."""
        if self.api_key == NO_KEY:
            return TOKEN_API
        api = self._api
        return f"Unknown({self.api_key})" if api is None else api.name

    @property
    def api_key(self) -> int:
        """The key of the API, NO_KEY for a bare SASL token."""
        return self._start[0]

    @property
    def version(self) -> int:
        """The version of the API."""
        return self._start[1]

    @property
    def correlation_id(self) -> int:
        """The number by which the client assigns the response to the request."""
        return self._start[2]

    @property
    def request(self) -> Message | None:
        """The decoded request without secrets. None if it is not complete in the record, damaged, or of an unknown API or version."""
        return self._decode_request() if self.request_frame.is_complete else None

    @property
    def response(self) -> Message | None:
        """The decoded response without secrets. None if there is none, if it is not complete in the record, damaged or unknown."""
        return self._decode_response() if self.response_frame is not None and self.response_frame.is_complete else None

    @property
    def partial_request(self) -> Message | None:
        """The request, with zeros in place of the bytes that are not in the record."""
        return self._decode_request()

    @property
    def partial_response(self) -> Message | None:
        """The response, with zeros in place of the bytes that are not in the record."""
        return self._decode_response()

    @property
    def errors(self) -> tuple[str, ...]:
        """The names of the error codes in the response, without NONE and duplicates, in order."""
        response = self._decode_response()
        return () if response is None else error_names(response)

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that the request names, without duplicates, in order."""
        return tuple(dict.fromkeys(element.topic for element in self.elements() if element.topic))

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that the request names, without duplicates, in order."""
        return tuple(dict.fromkeys(element.group for element in self.elements() if element.group))

    def elements(self) -> list[Element]:
        """Returns the topics, partitions, groups and transactional ids that the request names."""
        request = self._decode_request()
        return [] if request is None else NamedElements(self.topic_names.get).find(request)

    def resolved_names(self) -> dict[bytes, str]:
        """Returns the topic ids in the request whose names are known, with the names."""
        found: dict[bytes, str] = {}

        def resolve(topic_id: bytes) -> str | None:
            if (name := self.topic_names.get(topic_id)) is not None:
                found[topic_id] = name
            return name

        request = self._decode_request()
        if request is not None:
            NamedElements(resolve).find(request)
        return found

    @property
    def _start(self) -> tuple[int, int, int]:
        """The API key, the version and the correlation id."""
        head = self.request_frame.head
        if len(head) < _START.size:
            return NO_KEY, 0, 0
        key, version, correlation_id = _START.unpack_from(head)
        return key, version, correlation_id

    @property
    def _api(self) -> Api | None:
        return load_api(self.api_key)

    def _decode_request(self) -> Message | None:
        api, frame = self._api, self.request_frame
        if api is None or self.version not in api.declared or frame.size > MAX_DECODED_BYTES:
            return None
        try:
            data = frame.pad()
            message: Message = api.request.decoders[self.version](data, read_request_header(data).position)[0]
        except ProtocolError:
            return None
        return redact(message)

    def _decode_response(self) -> Message | None:
        return None if self.response_frame is None else decoded_response(self._api, self.version, self.response_frame)


def decoded_response(api: Api | None, version: int, frame: Frame) -> Message | None:
    """Returns the response to a request of an API and version, without secrets, None if it is damaged, very long, or of an unknown API.

    A response that is not complete is decoded with zeros in place of the missing bytes.
    """
    if api is None or frame.size > MAX_DECODED_BYTES:
        return None
    # The answer to an ApiVersions of a version that is not served is written in version 0 (KIP-511).
    for possible in (version, 0) if api.key == 18 else (version,):
        if possible in api.declared:
            try:
                message: Message = decode_response(api, possible, frame.pad())[1]
            except ProtocolError:
                continue
            return redact(message)
    return None


class Event(FrozenData, kw_only=True):
    """Something that happened between requests. It has a number in the same sequence as exchanges.

    `kind` is one of `EVENT_KINDS` (`filters.py`), such as "connection closed", "leader" or "clock". `text` describes the event in words,
    and `fields` in names and values.
    """

    sequence: int
    at: Moment
    kind: str
    node: int | None = None
    connection: int | None = None
    text: str = ""
    fields: Mapping[str, str | int] = field(default_factory=dict)


Entry = Exchange | Event


def client_id_of(frame: Frame) -> str | None:
    """Returns the client id in the header of a request, None if there is none or the header is damaged."""
    head, start = frame.head, _START.size + _LENGTH.size
    if len(head) < start:
        return None
    (length,) = _LENGTH.unpack_from(head, _START.size)
    return None if length < 0 or start + length > len(head) else head[start : start + length].decode("utf-8", "replace")


def error_names(response: Message) -> tuple[str, ...]:
    """Returns the names of the error codes in a response, without NONE and duplicates, in order."""
    return tuple(dict.fromkeys(map(_error_name, _error_codes(response))))


def _error_name(code: int) -> str:
    try:
        return ErrorCode(code).name
    except ValueError:
        return f"Unknown({code})"


def _error_codes(message: Message) -> Iterator[int]:
    """Yields the error codes of a response other than NONE, in the order of the fields."""
    for spec in specs(type(message)):
        value: Any = getattr(message, spec.name)
        if spec.name in _ERROR_FIELDS and not spec.array:
            if value:
                yield value
        elif isinstance(spec.kind, type) and value is not None:
            for item in value if spec.array else (value,):
                yield from _error_codes(item)
