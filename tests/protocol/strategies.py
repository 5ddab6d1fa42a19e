"""Hypothesis strategies for messages, derived from their declarations, and two messages of fixed content for each class."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from odradek.protocol.errors import ErrorCode
from odradek.protocol.schema import Message, Spec, specs
from tests.protocol.reference import Case, default

INTEGERS = {"b": 7, "h": 15, "i": 31, "q": 63}
# Lengths at which a varint takes a second byte, and characters of several bytes.
TEXT = st.text(max_size=6) | st.sampled_from(["x" * 125, "x" * 126, "x" * 127, "ü" * 64, "x" * 300])
BINARY = st.binary(max_size=6) | st.sampled_from([bytes(126), bytes(127), bytes(128), bytes(20_000)])
# kio computes timestamps and 64-bit durations with floats, in which whole seconds are exact.
LATEST_SECOND = 253402214400  # year 9999
KIO_TIMES = {
    "log_append_time_ms",
    "retention_time_ms",
    "max_lifetime_ms",
    "session_lifetime_ms",
    "renew_period_ms",
    "expiry_time_period_ms",
}
KIO_TIMES_NEVER_NONE = {
    "transaction_start_time_ms",
    *("issue_timestamp_ms", "expiry_timestamp_ms", "max_timestamp_ms"),
    *("issue_timestamp", "expiry_timestamp", "max_timestamp"),
}

_known: dict[Case, st.SearchStrategy[Any]] = {}


def messages(cls: type[Message], version: int) -> st.SearchStrategy[Any]:
    """Returns a strategy for messages whose fields outside of `version` have their defaults, as after decoding."""
    case = Case(cls, version)
    if case not in _known:
        _known[case] = st.builds(cls, **{spec.name: _field(spec, version) for spec in specs(cls)})
    return _known[case]


def _field(spec: Spec, version: int) -> st.SearchStrategy[Any]:
    if not spec.present(version):
        return st.builds(default, st.just(spec))
    value = st.lists(_value(spec, version), max_size=3) if spec.array else _value(spec, version)
    if spec.declared.tag is not None and not isinstance(spec.kind, str) and not spec.array:
        return st.none() | value.filter(
            lambda message: message != type(message)()
        )  # a structure with all defaults is left out, and decoded as None
    return st.none() | value if spec.null_allowed(version) else value


def _value(spec: Spec, version: int) -> st.SearchStrategy[Any]:
    if not isinstance(spec.kind, str):
        return messages(spec.kind, version)
    if spec.name.endswith("error_code"):
        return st.sampled_from([int(code) for code in ErrorCode])
    if spec.name in KIO_TIMES | KIO_TIMES_NEVER_NONE:
        times = st.integers(0, LATEST_SECOND).map(lambda second: 1000 * second)
        return times if spec.name in KIO_TIMES_NEVER_NONE else st.just(-1) | times
    if spec.kind in INTEGERS:
        return st.integers(-(1 << INTEGERS[spec.kind]), (1 << INTEGERS[spec.kind]) - 1)
    return {
        "?": st.booleans(),
        "H": st.integers(0, 0xFFFF),
        "d": st.floats(allow_nan=False, allow_infinity=False),
        "16s": st.just(bytes(16)) | st.binary(min_size=16, max_size=16),
        "str": TEXT,
        "bytes": BINARY,
        "records": BINARY,
    }[spec.kind]


def full(cls: type[Message], version: int, items: int = 2) -> Any:
    """Returns a message with arrays of `items` elements, no null and every tagged field of the version."""
    return cls(**{spec.name: _full_value(spec, version, items) for spec in specs(cls) if spec.present(version)}, **_absent(cls, version))


def _full_value(spec: Spec, version: int, items: int) -> Any:
    if spec.array:
        return [_full_value(spec._replace(array=False), version, items)] * items
    if not isinstance(spec.kind, str):
        return full(spec.kind, version, items)
    if spec.kind == "?":
        return not default(spec)
    return {"str": "ab", "bytes": b"cd", "records": b"ef", "16s": bytes(range(16)), "d": 1.5}.get(spec.kind, 7)


def empty(cls: type[Message], version: int) -> Any:
    """Returns a message with arrays of two elements, and otherwise empty strings, null where it is allowed, and no tagged field."""
    return cls(**{spec.name: _empty_value(spec, version) for spec in specs(cls) if spec.present(version)}, **_absent(cls, version))


def _empty_value(spec: Spec, version: int) -> Any:
    if spec.declared.tag is not None:
        return default(spec)
    if spec.null_allowed(version) and not spec.array:
        return None
    if spec.array:
        element = spec._replace(array=False, nullable=False)
        return [_empty_value(element, version)] * 2
    if not isinstance(spec.kind, str):
        return empty(spec.kind, version)
    return {"str": "", "bytes": b"", "records": b"", "16s": bytes(16), "d": 0.0, "?": False}.get(spec.kind, 0)


def _absent(cls: type[Message], version: int) -> dict[str, Any]:
    return {spec.name: default(spec) for spec in specs(cls) if not spec.present(version)}
