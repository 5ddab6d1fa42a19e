from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.wire.redaction import SECRET_FIELDS, blank, redact, redact_request, redact_response
from odradek.protocol.frame import decode_response, encode_request, encode_response
from odradek.protocol.messages import APIS
from odradek.protocol.messages.alter_configs import ALTER_CONFIGS, AlterableConfig, AlterConfigsRequest, AlterConfigsResource
from odradek.protocol.messages.alter_user_scram_credentials import (
    ALTER_USER_SCRAM_CREDENTIALS,
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from odradek.protocol.messages.heartbeat import HEARTBEAT, HeartbeatRequest
from odradek.protocol.messages.renew_delegation_token import RENEW_DELEGATION_TOKEN, RenewDelegationTokenRequest
from odradek.protocol.messages.sasl_authenticate import SASL_AUTHENTICATE, SaslAuthenticateRequest, SaslAuthenticateResponse
from odradek.protocol.schema import Api, Message, specs

SECRET = b"\0alice\0the-password"
HARMLESS = {"assignment", "metadata", "metrics", "protocol_metadata", "member_metadata", "member_assignment", "user_data", "salt"}
"""The fields of type bytes that are shown; all others must be secrets."""
TOPIC, BROKER, LOGGER = 2, 4, 8


def request_frame(api: Api, version: int, request: Message) -> bytes:
    return b"".join(encode_request(api, version, 7, "client", request))[4:]


def bytes_fields(message: type[Message]) -> set[str]:
    inner = [spec.kind for spec in specs(message) if isinstance(spec.kind, type)]
    return {spec.name for spec in specs(message) if spec.kind == "bytes"}.union(*map(bytes_fields, inner))


def altered(name: str, value: str | None, resource_type: int = BROKER) -> str | None:
    """Returns the value that is shown of a setting in an AlterConfigs request."""
    resource = AlterConfigsResource(resource_type=resource_type, resource_name="1", configs=[AlterableConfig(name=name, value=value)])
    request = AlterConfigsRequest(resources=[resource], validate_only=False)
    frame = request_frame(ALTER_CONFIGS, 2, request)
    shown = redact_request(frame)
    assert len(shown) == len(frame)
    (config,) = redact(request).resources[0].configs
    assert AlterConfigsRequest.decode(2, memoryview(shown)[-len(request.encode(2)) :]) == redact(request)
    return config.value


def test_redaction_every_bytes_field_is_classified() -> None:
    found = set[str]().union(*(bytes_fields(each) for api in APIS.values() for each in (api.request, api.response)))
    assert found >= SECRET_FIELDS
    assert found - SECRET_FIELDS <= HARMLESS


@pytest.mark.parametrize("version", [0, 1, 2])
def test_redact_request_token_of_sasl_keeps_length(version: int) -> None:
    frame = request_frame(SASL_AUTHENTICATE, version, SaslAuthenticateRequest(auth_bytes=SECRET))
    shown = redact_request(frame)
    assert shown == frame.replace(SECRET, b"*" * len(SECRET))


def test_redact_response_token_of_sasl_keeps_rest() -> None:
    response = SaslAuthenticateResponse(error_code=58, error_message="no", auth_bytes=SECRET)
    frame = b"".join(encode_response(SASL_AUTHENTICATE, 2, 7, response))[4:]
    shown = redact_response(SASL_AUTHENTICATE, 2, frame)
    assert decode_response(SASL_AUTHENTICATE, 2, memoryview(shown)) == (7, redact(response))
    assert (redact(response).error_message, redact(response).auth_bytes) == ("no", b"*" * len(SECRET))


def test_redacted_salted_password_keeps_user_and_salt() -> None:
    user = ScramCredentialUpsertion(name="alice", mechanism=1, iterations=4096, salt=b"salt", salted_password=SECRET)
    request = AlterUserScramCredentialsRequest(deletions=[], upsertions=[user])
    (shown,) = redact(request).upsertions
    assert (shown.name, shown.salt, shown.salted_password) == ("alice", b"salt", b"*" * len(SECRET))
    assert user.salted_password == SECRET
    assert SECRET not in bytes(redact_request(request_frame(ALTER_USER_SCRAM_CREDENTIALS, 0, request)))


def test_redacted_settings_hide_passwords_and_unknown() -> None:
    assert altered("listener.name.sasl.plain.sasl.jaas.config", "pässword") == "*" * 9
    assert altered("ssl.key.password", "secret") == altered("no.such.setting", "secret") == "******"
    assert altered("no.such.setting", "secret", TOPIC) == "******"
    assert altered("ssl.key.password", None) is None


def test_redacted_settings_show_everything_else() -> None:
    assert altered("log.retention.ms", "1000") == altered("retention.ms", "1000", TOPIC) == "1000"
    assert altered("kafka.server.KafkaServer", "DEBUG", LOGGER) == "DEBUG"


def test_redacted_message_without_secrets_is_itself() -> None:
    beat = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
    assert redact(beat) is beat
    frame = request_frame(HEARTBEAT, 4, beat)
    assert redact_request(frame) == frame
    assert redact_response(HEARTBEAT, 4, bytes(11)) == bytes(11)


def test_redact_request_truncated_message_is_blank() -> None:
    frame = request_frame(RENEW_DELEGATION_TOKEN, 1, RenewDelegationTokenRequest(hmac=SECRET, renew_period_ms=1))
    for end in range(16, len(frame)):
        assert redact_request(frame[:end]) == frame[:16] + b"*" * (end - 16), end


def test_redact_request_unusual_encoding_is_blank() -> None:
    frame = request_frame(SASL_AUTHENTICATE, 2, SaslAuthenticateRequest(auth_bytes=SECRET))
    with_unknown_tag = frame[:-1] + b"\x01\x09\x08the-word"
    assert redact_request(with_unknown_tag) == frame[:17] + b"*" * (len(with_unknown_tag) - 17)
    assert SECRET not in bytes(redact_request(frame + SECRET))


def test_redact_request_unknown_version_is_blank() -> None:
    frame = request_frame(SASL_AUTHENTICATE, 2, SaslAuthenticateRequest(auth_bytes=SECRET))
    newer = frame[:2] + b"\0\x1e" + frame[4:]
    assert SECRET not in bytes(redact_request(newer))
    assert redact_request(newer)[:16] == newer[:16]


@pytest.mark.parametrize(
    "token", [SECRET, b"\0a\0password", b"u\0u\0password", b"n,,\x01auth=Bearer abc.def.ghi\x01\x01", b"\0\x08\0a\0pw", b""]
)
def test_redact_request_raw_token_shows_at_most_a_key(token: bytes) -> None:
    assert redact_request(token) == token[:2] + b"*" * (len(token) - 2)


def test_redact_request_unknown_api_keeps_the_header() -> None:
    frame = b"\x03\xe7\0\x02\0\0\0\x05\0\x01x" + SECRET
    assert redact_request(frame) == frame[:8] + b"*" * (len(frame) - 8)
    assert redact_response(None, 2, b"\0\0\0\x05" + SECRET) == b"\0\0\0\x05" + b"*" * len(SECRET)


def test_redact_response_truncated_header_is_blank() -> None:
    assert redact_response(SASL_AUTHENTICATE, 2, b"\0\0\0\x05") == b"\0\0\0\x05"
    assert redact_response(SASL_AUTHENTICATE, 2, b"\0\0\0\x05\xff" + SECRET)[4:] == b"*" * (len(SECRET) + 1)


def test_blanked_frame_keeps_its_start_and_length() -> None:
    parts: list[Any] = [blank(b"password"), blank(memoryview(b"password"), 4)]
    assert parts == [b"********", b"pass****"]
