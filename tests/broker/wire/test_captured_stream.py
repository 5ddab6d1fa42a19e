from __future__ import annotations

import pytest

from odradek.broker.wire.captured_stream import HELD_BYTES, CapturedStream
from odradek.protocol.errors import ErrorCode
from odradek.protocol.frame import encode_request, encode_response
from odradek.protocol.messages.heartbeat import HEARTBEAT, HeartbeatRequest, HeartbeatResponse
from odradek.protocol.messages.sasl_authenticate import SASL_AUTHENTICATE, SaslAuthenticateRequest, SaslAuthenticateResponse
from odradek.protocol.messages.sasl_handshake import SASL_HANDSHAKE, SaslHandshakeRequest, SaslHandshakeResponse
from odradek.protocol.schema import Api, Message

SECRET = b"\0alice\0the-password"
BEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
LOGIN = SaslAuthenticateRequest(auth_bytes=SECRET)


def request(api: Api, version: int, message: Message, correlation_id: int = 1) -> bytes:
    return b"".join(encode_request(api, version, correlation_id, "c", message))


def response(api: Api, version: int, message: Message, correlation_id: int = 1) -> bytes:
    return b"".join(encode_response(api, version, correlation_id, message))


def length(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def test_bytes_without_secrets_pass_as_they_come() -> None:
    stream = CapturedStream()
    frame = request(HEARTBEAT, 4, BEAT) * 2
    shown = [stream.show(True, frame[start : start + 20]).data for start in range(0, len(frame), 20)]
    assert b"".join(shown) == frame
    assert shown[1] == frame[20:40]
    assert stream.rest(True) == b""


@pytest.mark.parametrize("size", [1, 5, 13, 1000])
def test_secret_is_redacted_however_it_arrives(size: int) -> None:
    stream = CapturedStream()
    sent = request(SASL_AUTHENTICATE, 2, LOGIN) + request(HEARTBEAT, 4, BEAT, 2)
    shown = b"".join(stream.show(True, sent[start : start + size]).data for start in range(0, len(sent), size))
    assert shown == sent.replace(SECRET, b"*" * len(SECRET))


def test_response_to_a_secret_is_redacted() -> None:
    stream = CapturedStream()
    stream.show(True, request(SASL_AUTHENTICATE, 2, LOGIN))
    answer = response(SASL_AUTHENTICATE, 2, SaslAuthenticateResponse(error_code=58, error_message="no", auth_bytes=SECRET))
    shown = stream.show(False, answer)
    assert shown.data == answer.replace(SECRET, b"*" * len(SECRET))
    assert shown.comments == ["error: SASL_AUTHENTICATION_FAILED"]


def test_incomplete_secret_shows_its_header_only() -> None:
    stream = CapturedStream()
    sent = request(SASL_AUTHENTICATE, 2, LOGIN)
    assert stream.show(True, sent[:-3]).data == b""
    assert stream.rest(True) == sent[:12] + b"*" * (len(sent) - 3 - 12)
    assert stream.rest(False) == b""


def test_incomplete_header_is_not_shown() -> None:
    stream = CapturedStream()
    assert stream.show(True, b"\0\0\0\x20\0\x24\0").data == b""
    assert stream.rest(True) == b"\0\0\0\x20***"


def test_secret_that_is_too_large_is_blank() -> None:
    stream = CapturedStream()
    sent = request(SASL_AUTHENTICATE, 2, SaslAuthenticateRequest(auth_bytes=bytes(HELD_BYTES)))
    following = request(HEARTBEAT, 4, BEAT, 2)
    assert stream.show(True, sent + following).data == sent[:12] + b"*" * (len(sent) - 12) + following
    answer = response(SASL_AUTHENTICATE, 2, SaslAuthenticateResponse(error_message="", auth_bytes=bytes(HELD_BYTES)))
    assert stream.show(False, answer).data == answer[:8] + b"*" * (len(answer) - 8)


def test_bare_tokens_after_a_handshake_are_blank() -> None:
    stream = CapturedStream()
    stream.show(True, request(SASL_HANDSHAKE, 0, SaslHandshakeRequest(mechanism="PLAIN")))
    accepted = response(SASL_HANDSHAKE, 0, SaslHandshakeResponse(mechanisms=["PLAIN"]))
    assert stream.show(False, accepted).data == accepted
    assert stream.show(True, length(SECRET)).data == len(SECRET).to_bytes(4, "big") + b"*" * len(SECRET)
    assert stream.show(False, length(b"welcome, alice")).data == b"\0\0\0\x0e" + b"*" * 14
    beat = request(HEARTBEAT, 4, BEAT, 2)
    assert stream.show(True, beat).data == beat


def test_frames_of_unknown_apis_are_blank() -> None:
    stream = CapturedStream()
    sent = length(b"\x03\xe7\0\1\0\0\0\5" + SECRET)
    assert stream.show(True, sent).data == sent[:12] + b"*" * len(SECRET)
    assert stream.show(True, length(SECRET)).data[6:] == b"*" * (len(SECRET) - 2)
    answer = length(b"\0\0\0\5" + SECRET)
    assert stream.show(False, answer).data == answer[:8] + b"*" * len(SECRET)
    assert stream.show(False, length(b"\0\0\0\x63" + SECRET)).data[8:] == b"*" * len(SECRET)


def test_negative_length_shows_what_follows() -> None:
    stream = CapturedStream()
    beat = request(HEARTBEAT, 4, BEAT)
    stream.show(True, beat)
    answer = b"\xff\xff\xff\xf0" + response(HEARTBEAT, 4, HeartbeatResponse(error_code=0))[4:]
    assert stream.show(False, answer).data == answer
    assert stream.remaining(False) > 1 << 40


def test_comment_names_the_errors_of_a_response() -> None:
    stream = CapturedStream()
    stream.show(True, request(HEARTBEAT, 4, BEAT) + request(HEARTBEAT, 4, BEAT, 2))
    good = response(HEARTBEAT, 4, HeartbeatResponse(error_code=0))
    bad = response(HEARTBEAT, 4, HeartbeatResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID), 2)
    assert stream.show(False, good + bad[:6]).comments == []
    assert stream.show(False, bad[6:]).comments == ["error: UNKNOWN_MEMBER_ID"]


def test_empty_frames_are_shown() -> None:
    stream = CapturedStream()
    assert stream.show(True, bytes(8)).data == bytes(8)
    assert stream.show(False, bytes(8)).data == bytes(8)
