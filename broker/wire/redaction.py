"""Replaces secrets in messages and frames by asterisks of the same length, before anything shows or writes them.

Secrets are the tokens of SASL mechanisms (they contain passwords, proofs or OAuth tokens), salted passwords of SCRAM, the HMACs of
delegation tokens, and the values of settings that Kafka treats as sensitive: those of type password, and unknown ones.

A frame keeps its length and, as far as possible, everything but the secrets: its message is decoded, redacted and encoded again. If that is
impossible, because the frame is truncated, damaged or encoded in an unusual way, the whole message is replaced. Frames of unknown APIs are
replaced too, because a client that is configured wrongly sends its SASL tokens as frames.
"""

from __future__ import annotations

from typing import Any, TypeVar

from ...protocol.frame import Buffer, read_request_header, read_response_header
from ...protocol.schema import Api, Message, ProtocolError, Spec, specs
from ..settings.rows import GROUP_SETTINGS, TOPIC_SETTINGS
from ..settings.types import ConfigResourceType
from ..settings.values import broker_row, is_secret

M = TypeVar("M", bound=Message)

SECRET_FIELDS = {"auth_bytes", "hmac", "salted_password"}
_TYPES_WITHOUT_SECRETS = {ConfigResourceType.BROKER_LOGGER, ConfigResourceType.CLIENT_METRICS}
"""The resources whose settings, levels of loggers and names of metrics, have no rows and are never secret."""
_KEY_BYTES, _HEADER_BYTES, _CORRELATION_ID_BYTES = 2, 8, 4
MAX_VERSION = 31
"""No API has as many versions, and no printable character is as small: a greater version means that the frame is text."""


def redact(message: M) -> M:
    """Returns the message with asterisks in place of its secrets; the message itself if its class cannot contain any."""
    return _redact(message, ConfigResourceType.TOPIC) if holds_secrets(type(message)) else message


def redact_request(frame: Buffer) -> Buffer:
    """Returns a request frame, without its length field, with asterisks in place of secrets; the frame itself if its API has none."""
    view = memoryview(frame)
    try:
        header = read_request_header(view)
    except ProtocolError:
        return blank(view, visible_bytes(view))
    if header.version > MAX_VERSION or header.version < 0:
        return blank(view, _KEY_BYTES)
    return _redact_frame(view, header.position, header.api.request, header.version)


def redact_response(api: Api | None, version: int, frame: Buffer) -> Buffer:
    """Returns a response frame, without its length field, as `redact_request` does. `api` is None for an unknown API."""
    view = memoryview(frame)
    try:
        if api is not None:
            return _redact_frame(view, read_response_header(api, version, view)[1], api.response, version)
    except ProtocolError:
        pass
    return blank(view, _CORRELATION_ID_BYTES)


def blank(frame: Buffer, start: int = 0) -> bytes:
    """Returns a frame with asterisks from `start` on, such as a SASL token that is not in a SaslAuthenticate request."""
    return bytes(frame[:start]) + b"*" * (len(frame) - start)


def visible_bytes(frame: Buffer) -> int:
    """Returns how many bytes of an unreadable request are shown: key, version and correlation id, or the key only if it may be text."""
    return _HEADER_BYTES if int.from_bytes(frame[2:4], "big") <= MAX_VERSION else _KEY_BYTES


def _redact_frame(frame: memoryview, position: int, message: type[Message], version: int) -> Buffer:
    if not holds_secrets(message):
        return frame
    try:
        decoded = message.decoders[version](frame, position)[0]
        body: bytes = redact(decoded).encode(version)
    except ProtocolError:
        return blank(frame, position)
    if len(body) != len(frame) - position:
        return blank(frame, position)
    return bytes(frame[:position]) + body


_known: dict[type[Any], bool] = {}


def holds_secrets(message: type[Message]) -> bool:
    """Returns whether messages of a class can contain secrets."""
    if message not in _known:
        _known[message] = _is_setting(message) or any(spec.name in SECRET_FIELDS or _holds_inside(spec) for spec in specs(message))
    return _known[message]


def _holds_inside(spec: Spec) -> bool:
    return isinstance(spec.kind, type) and holds_secrets(spec.kind)


def _is_setting(message: type[Message]) -> bool:
    """Returns whether a structure consists of the name and the value of a setting, and possibly more."""
    return {("name", "str"), ("value", "str")} <= {(spec.name, spec.kind) for spec in specs(message)}


def _redact(message: M, resource_type: int) -> M:
    values: dict[str, Any] = {spec.name: getattr(message, spec.name) for spec in specs(type(message))}
    resource_type = values.get("resource_type", resource_type)
    for spec in specs(type(message)):
        value = values[spec.name]
        if value is None:
            continue
        if spec.name in SECRET_FIELDS:
            values[spec.name] = b"*" * len(value)
        elif _holds_inside(spec):
            values[spec.name] = [_redact(item, resource_type) for item in value] if spec.array else _redact(value, resource_type)
    if _is_setting(type(message)) and values["value"] is not None and _is_secret_setting(values["name"], resource_type):
        values["value"] = "*" * len(values["value"].encode())
    return type(message)(**values)


def _is_secret_setting(name: str, resource_type: int) -> bool:
    if resource_type in _TYPES_WITHOUT_SECRETS or name in TOPIC_SETTINGS or name in GROUP_SETTINGS:
        return False
    return is_secret(broker_row(name))
