"""Reads and writes frames: an int32 length, a header and a message.

A request header is the API key (int16), the version (int16), the correlation id (int32), the client id (a nullable string with an int16
length, also in flexible versions) and, in flexible versions, tagged fields. A response header is the correlation id (int32) and, in
flexible versions, tagged fields (KIP-482).
"""

from __future__ import annotations

from collections.abc import Generator
from struct import Struct
from struct import error as struct_error
from typing import Any, NamedTuple

from .codec import MAX_ITEMS
from .messages import LOADED, load_api
from .schema import Api, Message, ProtocolError
from .varints import put_uvarint, uvarint_rest

LENGTH = Struct(">i")
CLIENT_ID_POSITION = 8
"""The position of the client id in the header of a request, behind the key, the version and the correlation id."""
_REQUEST_HEADER = Struct(">hhih")
_RESPONSE_HEADER = Struct(">ii")

Buffer = bytes | bytearray | memoryview


class RequestHeader(NamedTuple):
    """The header of a request. `position` is that of its message in the frame."""

    api: Api
    version: int
    correlation_id: int
    client_id: str | None
    position: int


def read_request_header(frame: memoryview) -> RequestHeader:
    """Reads the header of `frame`, which does not include the length.

    The version is not checked, because ApiVersions must be answered in any version (KIP-511).
    Raises ProtocolError for an unknown API and for a malformed header.
    """
    try:
        key, version, correlation_id, length = _REQUEST_HEADER.unpack_from(frame)
        api = LOADED.get(key) or load_api(key)
        if api is None:
            raise ProtocolError(f"the API key {key} is not served")
        position = 10
        client_id = None
        if length >= 0:
            position += length
            if position > len(frame):
                raise ProtocolError(f"a client id of {length} bytes does not fit")
            client_id = str(frame[10:position], "utf-8")
        if version >= api.request.flexible_from:
            position = _skip_tags(frame, position)
    except (IndexError, struct_error):
        raise ProtocolError("the request header ends early") from None
    except UnicodeDecodeError:
        raise ProtocolError("the client id is not UTF-8") from None
    return RequestHeader(api, version, correlation_id, client_id, position)


def _uvarint(buffer: memoryview, position: int) -> tuple[int, int]:
    first = buffer[position]
    return uvarint_rest(buffer, first, position + 1) if first > 127 else (first, position + 1)


def _skip_tags(frame: memoryview, position: int) -> int:
    """Returns the position after a section of tagged fields, all of which are ignored. Raises ProtocolError, IndexError."""
    count, position = _uvarint(frame, position)
    if not 0 <= count <= MAX_ITEMS:
        raise ProtocolError(f"{count} tagged fields")
    for _ in range(count):
        _, position = _uvarint(frame, position)
        size, position = _uvarint(frame, position)
        position += size
        if not 0 <= size <= position <= len(frame):
            raise ProtocolError(f"a tagged field of {size} bytes does not fit")
    return position


def encode_response(api: Api, version: int, correlation_id: int, response: Message) -> list[Buffer]:
    """Returns a frame in one or more buffers, which include the record bytes without a copy. Raises ProtocolError."""
    return _finish(response, version, _start_response(api, version, correlation_id))


def encode_response_in_slices(
    api: Api, version: int, correlation_id: int, response: Message, parts: list[Buffer]
) -> Generator[None, None, None]:
    """Appends the buffers that `encode_response` returns to `parts`, and yields after every SLICE_ITEMS array items.

    Raises ProtocolError.
    """
    parts.append((yield from response.sliced_encoders[version](response, _start_response(api, version, correlation_id), parts)))
    _put_length(parts)


def _start_response(api: Api, version: int, correlation_id: int) -> bytearray:
    out = bytearray(_RESPONSE_HEADER.pack(0, correlation_id))
    if api.response_header_version(version):
        out.append(0)
    return out


def encode_request(api: Api, version: int, correlation_id: int, client_id: str, request: Message) -> list[Buffer]:
    """Returns a frame in one or more buffers, which include the record bytes without a copy. Raises ProtocolError."""
    client = client_id.encode()
    out = bytearray(LENGTH.pack(0) + _REQUEST_HEADER.pack(api.key, version, correlation_id, len(client)) + client)
    if version >= api.request.flexible_from:
        put_uvarint(out, 0)
    return _finish(request, version, out)


def _finish(message: Message, version: int, out: bytearray) -> list[Buffer]:
    parts: list[Any] = []
    parts.append(message.encoders[version](message, out, parts))
    _put_length(parts)
    return parts


def _put_length(parts: list[Any]) -> None:
    LENGTH.pack_into(parts[0], 0, sum(map(len, parts)) - LENGTH.size)


def read_response_header(api: Api, version: int, frame: memoryview) -> tuple[int, int]:
    """Returns (correlation id, position of the response) of `frame`, which does not include the length. Raises ProtocolError."""
    try:
        (correlation_id,) = LENGTH.unpack_from(frame)
        return correlation_id, _skip_tags(frame, 4) if api.response_header_version(version) else 4
    except (IndexError, struct_error):
        raise ProtocolError("the response header ends early") from None


def decode_response(api: Api, version: int, frame: memoryview) -> tuple[int, Any]:
    """Returns (correlation id, response) of `frame`, which does not include the length. Raises ProtocolError."""
    correlation_id, position = read_response_header(api, version, frame)
    return correlation_id, api.response.decoders[version](frame, position)[0]
