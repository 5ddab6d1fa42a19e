"""Formats of keys and values: how objects become bytes, and bytes objects.

`text` and `json` are formats. For others, such as Avro or Protobuf, give a `Format` of two functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Format(NamedTuple):
    """Two functions, for writing and for reading. Null, which is an absent key or the value of a tombstone, stays None without a call."""

    serialize: Callable[[Any], bytes]
    deserialize: Callable[[bytes], Any]


def _as_bytes(value: bytes | str) -> bytes:
    if isinstance(value, bytes | str):
        return value if isinstance(value, bytes) else value.encode()
    raise TypeError(f"must be bytes or str, not {type(value).__name__}; name a format, such as topic(..., value=formats.json)")


def _dump_json(value: Any) -> bytes:
    from json import dumps

    return dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _load_json(data: bytes) -> Any:
    from json import loads

    return loads(data)


raw = Format(_as_bytes, bytes)
"""Bytes as they are. Text is written as UTF-8, and read as bytes."""
text = Format(str.encode, bytes.decode)
"""Text in UTF-8."""
json = Format(_dump_json, _load_json)
"""JSON without blanks, in UTF-8."""


def serialize(format: Format, value: Any) -> bytes | None:  # noqa: A002  (the parameter is a format)
    """Returns the bytes of a key or value. None stays None."""
    return None if value is None else format.serialize(value)


def deserialize(format: Format, data: bytes | None) -> Any:  # noqa: A002
    """Returns the key or value of which the bytes were made. None stays None."""
    return None if data is None else format.deserialize(data)
