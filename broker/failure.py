"""Builds the response to a request that failed as a whole, with the error code in every error code field.

Kafka has a hand-written `getErrorResponse` for each request. Here the response is derived from the declarations of the two messages:

* a field whose name ends in `error_code` is set to the code;
* a list whose items contain an error code gets one item per item of the request's list of the same name (topics, partitions, groups), or
  of the request's first list that is not empty;
* other fields are copied from the request's field of the same meaning, or set to Kafka's value for "none".
"""

from __future__ import annotations

from typing import Any

from ..protocol.errors import ErrorCode
from ..protocol.schema import ZERO_UUID, Api, Message, Spec, has_default, specs

# Response field -> names of the same field in requests, where they differ.
_ALSO_NAMED = {"partition_index": ("partition", "index"), "partition": ("partition_index", "index"), "index": ("partition_index",)}
_ZERO: dict[object, object] = {"str": "", "bytes": b"", "records": b"", "?": False, "16s": ZERO_UUID}


def failure(api: Api, request: Message, code: ErrorCode, message: str | None) -> Message:
    """Returns the response to `request` with `code` in all its error code fields."""
    return _mirror(api.response, request, code, message)


def _mirror(cls: type[Message], source: object, code: ErrorCode, message: str | None) -> Message:
    values: dict[str, Any] = {}
    lists = [getattr(source, spec.name) for spec in specs(type(source)) if spec.array] if isinstance(source, Message) else []
    for spec in specs(cls):
        if spec.name.endswith("error_code"):
            values[spec.name] = code
        elif spec.name == "error_message":
            values[spec.name] = message
        elif spec.array and isinstance(spec.kind, type) and _carries_error(spec.kind):
            items: list[object] = getattr(source, spec.name, None) or next(filter(None, lists), [])
            values[spec.name] = [_mirror(spec.kind, item, code, message) for item in items]
        elif not spec.array and (found := _find(spec, source)) is not None:
            values[spec.name] = found
        elif not has_default(spec.declared):
            values[spec.name] = _absent(spec)
    return cls(**values)


def _find(spec: Spec, source: object) -> object:
    """Returns the request's value for a field. An item that is a plain name or number, not a message, is the key of the response's item."""
    if not isinstance(source, Message):
        is_key = not has_default(spec.declared) and isinstance(source, str) == (spec.kind == "str")
        return source if is_key and not spec.nullable else None
    names = (spec.name, *_ALSO_NAMED.get(spec.name, ()))
    return next((getattr(source, name) for name in names if hasattr(source, name)), None)


def _carries_error(cls: type[Message]) -> bool:
    return any(
        spec.name.endswith("error_code") or (spec.array and isinstance(spec.kind, type) and _carries_error(spec.kind))
        for spec in specs(cls)
    )


def _absent(spec: Spec) -> object:
    if spec.array:
        return []
    if spec.nullable and spec.declared.nullable_since == 0:
        return None
    # Kafka uses -1 for an absent offset, generation or node id.
    return _ZERO.get(spec.kind, -1)
