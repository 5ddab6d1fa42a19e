"""Frames: their lengths and headers, compared with those of kio."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.index import load_request_schema, load_response_schema
from kio.serial import entity_writer

from odradek.protocol.frame import LENGTH, Buffer, decode_response, encode_request, encode_response, read_request_header
from odradek.protocol.messages import APIS
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest, ApiVersionsResponse
from odradek.protocol.messages.fetch import FETCH
from odradek.protocol.schema import Api, ProtocolError
from tests.protocol.reference import uvarint
from tests.protocol.strategies import full

SERVED = [(api, version) for api in APIS.values() for version in range(api.versions.first, api.versions.last + 1)]
IDS = [f"{api.name}-v{version}" for api, version in SERVED]
PRODUCE = APIS[0]


def content(parts: list[Buffer]) -> bytes:
    """Returns the bytes after the length of a frame, and checks the length."""
    frame = b"".join(parts)
    assert LENGTH.unpack_from(frame) == (len(frame) - 4,)
    return frame[4:]


def kio_header(payload: Any, **values: Any) -> bytes:
    buffer = io.BytesIO()
    entity_writer(payload.__header_schema__)(buffer, payload.__header_schema__(**values))
    return buffer.getvalue()


@pytest.mark.parametrize(("api", "version"), SERVED, ids=IDS)
def test_request_round_trips_and_equals_kio(api: Api, version: int) -> None:
    request = full(api.request, version)
    frame = content(encode_request(api, version, -7, "cliënt", request))
    expected = kio_header(
        load_request_schema(api.key, version), request_api_key=api.key, request_api_version=version, correlation_id=-7, client_id="cliënt"
    )
    assert frame == expected + request.encode(version)
    header = read_request_header(memoryview(frame))
    assert tuple(header) == (api, version, -7, "cliënt", len(expected))
    assert api.request.decoders[version](memoryview(frame), header.position) == (request, len(frame))
    assert_prefixes_are_refused(frame[: header.position])


def assert_prefixes_are_refused(header: bytes) -> None:
    for end in range(len(header)):
        with pytest.raises(ProtocolError):
            read_request_header(memoryview(header[:end]))


@pytest.mark.parametrize(("api", "version"), SERVED, ids=IDS)
def test_response_round_trips_and_equals_kio(api: Api, version: int) -> None:
    response = full(api.response, version)
    frame = content(encode_response(api, version, 77, response))
    expected = kio_header(load_response_schema(api.key, version), correlation_id=77)
    assert frame == expected + response.encode(version)
    assert decode_response(api, version, memoryview(frame)) == (77, response)
    for end in range(len(frame)):
        with pytest.raises(ProtocolError):
            decode_response(api, version, memoryview(frame)[:end])


def test_encode_response_records_are_not_copied() -> None:
    records = memoryview(b"batches")
    response = full(FETCH.response, 12)
    response.responses[0].partitions[0].records = records
    assert any(part is records for part in encode_response(FETCH, 12, 1, response))


def test_request_header_null_client_id_is_none() -> None:
    frame = b"\x00\x12\x00\x00\x00\x00\x00\x01\xff\xff"
    assert read_request_header(memoryview(frame)) == (API_VERSIONS, 0, 1, None, 10)


def test_request_header_unserved_version_is_returned() -> None:
    # ApiVersions must be answered in any version (KIP-511).
    frame = b"\x00\x12\x7f\xff\x00\x00\x00\x01\x00\x02ab\x00"
    assert read_request_header(memoryview(frame)) == (API_VERSIONS, 0x7FFF, 1, "ab", 13)


def test_request_header_unknown_key_raises() -> None:
    for key in (-1, 999):
        with pytest.raises(ProtocolError, match=f"API key {key}"):
            read_request_header(memoryview(key.to_bytes(2, "big", signed=True) + bytes(20)))


def test_request_header_client_id_beyond_frame_raises() -> None:
    with pytest.raises(ProtocolError, match="client id of 3 bytes"):
        read_request_header(memoryview(b"\x00\x12\x00\x00\x00\x00\x00\x01\x00\x03ab"))


HEADER = b"\x00\x12\x00\x03\x00\x00\x00\x01\x00\x02ab"


@pytest.mark.parametrize("tag", [0, 127, 128, 1 << 31, 0xFFFFFFFF])
@pytest.mark.parametrize("size", [0, 1, 127, 128])
def test_header_unknown_tags_are_skipped(tag: int, size: int) -> None:
    tags = uvarint(2) + 2 * (uvarint(tag) + uvarint(size) + bytes(size))
    assert read_request_header(memoryview(HEADER + tags + b"body")).position == len(HEADER + tags)
    body = full(FETCH.response, 12)
    assert decode_response(FETCH, 12, memoryview(bytes(4) + tags + body.encode(12))) == (0, body)


@pytest.mark.parametrize(
    "tags", [b"\x01\x00\x03ab", b"\x01\x00" + uvarint(0xFFFFFFFF), b"\x01", b"\x7f", uvarint(0x7FFFFFFF), uvarint(0xFFFFFFFF)]
)
def test_header_tags_beyond_frame_raise(tags: bytes) -> None:
    with pytest.raises(ProtocolError):
        read_request_header(memoryview(HEADER + tags))
    with pytest.raises(ProtocolError):
        decode_response(FETCH, 12, memoryview(bytes(4) + tags))


@given(st.binary(max_size=40), st.booleans())
def test_request_header_random_bytes_raise_only_protocol_error(data: bytes, known: bool) -> None:
    try:
        position = read_request_header(memoryview(HEADER * known + data)).position
    except ProtocolError:
        return
    assert position <= len(HEADER * known + data)


def test_encode_empty_messages_gives_shortest_frames() -> None:
    assert content(encode_request(API_VERSIONS, 0, 1, "", ApiVersionsRequest())) == b"\x00\x12\x00\x00\x00\x00\x00\x01\x00\x00"
    assert content(encode_response(API_VERSIONS, 0, 1, ApiVersionsResponse(api_keys=[]))) == b"\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00"


def test_request_header_client_id_not_utf8_raises() -> None:
    frame = b"".join(encode_request(API_VERSIONS, 0, 1, "##", ApiVersionsRequest()))[LENGTH.size :]
    with pytest.raises(ProtocolError, match="the client id is not UTF-8"):
        read_request_header(memoryview(frame.replace(b"##", b"\xff\xfe")))
