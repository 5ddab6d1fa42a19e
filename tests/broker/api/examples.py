"""Messages with one item in every list, and the error codes of messages."""

from __future__ import annotations

from typing import Any

from odradek.protocol.schema import Message, specs


def error_codes(message: Message) -> list[int]:
    """Returns all error codes in a response, including those of nested items."""
    found = []
    for spec in specs(type(message)):
        value = getattr(message, spec.name)
        if spec.name.endswith("error_code"):
            found.append(value)
        elif spec.array and isinstance(spec.kind, type):
            found += [code for item in value or [] for code in error_codes(item)]
    return found


def example(cls: type[Message], version: int) -> Message:
    """Returns a request with one item in every list."""
    values: dict[str, Any] = {}
    for spec in specs(cls):
        if isinstance(spec.kind, type):
            item: Any = example(spec.kind, version)
        else:
            item = {"str": "x", "bytes": b"x", "records": b"x", "16s": b"x" * 16, "?": True}.get(spec.kind, 7)
        present = spec.present(version)
        values[spec.name] = ([item] if present else []) if spec.array else item if present and not isinstance(spec.kind, type) else None
        if values[spec.name] is None:
            del values[spec.name]
    return cls(**values)
