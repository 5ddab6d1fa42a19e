"""Builds the response to a request that failed as a whole, with the error code in every error code field.

Kafka has a hand-written `getErrorResponse` for each request. Here the response is derived from the declarations of the two messages:

* a field that `is_error_code` is set to the code;
* a list whose items contain an error code gets one item per item of the request's list of the same name (topics, partitions, groups), or
  of the request's first list that is not empty, but an item with an error code of its own contains no further items (as in
  `OffsetFetchResponse.groupError`), because clients stop at an error of a part of it;
* other fields are copied from the request's field of the same meaning, or set to Kafka's value for "none".

`with_error` does the same for an item of a response that was successful.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from ...protocol.errors import ErrorCode
from ...protocol.schema import ZERO_UUID, Api, Message, Spec, has_default, specs
from ..scheduling.slices import Slices
from ..scheduling.waiting import NEXT_TURN, Wait

# Response field -> names of the same field in requests, where they differ.
_ALSO_NAMED = {
    "partition_index": ("partition", "index"),
    "partition": ("partition_index", "index"),
    "index": ("partition_index",),
}
IDENTITY = frozenset(
    (
        *("name", "topic", "topic_name", "topic_id", "partition_index", "partition", "partition_id", "index"),
        *("group_id", "member_id", "group_instance_id", "transactional_id", "producer_id", "key", "resource_type", "resource_name"),
        *("log_dir", "user", "feature"),
    )
)
"""The fields of a response's items that say what the item is about."""
_ZERO: dict[object, object] = {"str": "", "bytes": b"", "records": b"", "?": False, "16s": ZERO_UUID}


def failure(api: Api, request: Message, code: ErrorCode, message: str | None) -> Message:
    """Returns the response to `request` with `code` in all its error code fields."""
    mirroring = _mirror(api.response, request, code, message, None)
    while True:
        try:
            next(mirroring)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]


def failure_in_slices(api: Api, request: Message, code: ErrorCode, message: str | None) -> Generator[Wait, None, Message]:
    """Returns what `failure` returns, in slices."""
    return (yield from _mirror(api.response, request, code, message, Slices()))


def with_error(item: Message, code: ErrorCode, message: str | None) -> Message:
    """Returns an item of a response with an error instead of its result. As in Kafka, it contains no items with results of their own."""
    values: dict[str, Any] = {}
    for spec in specs(type(item)):
        if is_error_code(spec):
            values[spec.name] = code
        elif spec.name == "error_message":
            values[spec.name] = message
        elif spec.name in IDENTITY:
            values[spec.name] = getattr(item, spec.name)
        elif not has_default(spec.declared):
            values[spec.name] = absent(spec)
    return type(item)(**values)


def is_error_code(spec: Spec) -> bool:
    """Returns whether a field says that a part of the request failed. `topic_config_error_code` only says that configs are not shown."""
    return spec.name in ("error_code", "partition_error_code")


def carries_error(cls: type[Message]) -> bool:
    """Returns whether a structure or one of those in it has an error code."""
    return any(is_error_code(spec) or (spec.array and isinstance(spec.kind, type) and carries_error(spec.kind)) for spec in specs(cls))


def _mirror(
    cls: type[Message], source: object, code: ErrorCode, message: str | None, slices: Slices | None, *, is_item: bool = False
) -> Generator[Wait, None, Message]:
    values: dict[str, Any] = {}
    lists = [getattr(source, spec.name) for spec in specs(type(source)) if spec.array] if isinstance(source, Message) else []
    is_complete = is_item and any(map(is_error_code, specs(cls)))
    for spec in specs(cls):
        if is_error_code(spec):
            values[spec.name] = code
        elif spec.name == "error_message":
            values[spec.name] = message
        elif spec.array and isinstance(spec.kind, type) and carries_error(spec.kind):
            items: list[object] = [] if is_complete else getattr(source, spec.name, None) or next(filter(None, lists), [])
            values[spec.name] = mirrored = []
            for item in items:
                mirrored.append((yield from _mirror(spec.kind, item, code, message, slices, is_item=True)))
                if slices is not None and slices.full(3):
                    yield NEXT_TURN
        elif not spec.array and (found := _find(spec, source)) is not None:
            values[spec.name] = found
        elif not has_default(spec.declared):
            values[spec.name] = absent(spec)
    return cls(**values)


def _find(spec: Spec, source: object) -> object:
    """Returns the request's value for a field. An item that is a plain name or number, not a message, is the identity of the item."""
    if not isinstance(source, Message):
        return source if spec.name in IDENTITY and isinstance(source, str) == (spec.kind == "str") else None
    names = (spec.name, *_ALSO_NAMED.get(spec.name, ()))
    return next((getattr(source, name) for name in names if hasattr(source, name)), None)


def absent(spec: Spec) -> object:
    """Returns Kafka's value for "none" of a field without a default."""
    if spec.array:
        return []
    if spec.nullable and spec.declared.nullable_since == 0:
        return None
    if isinstance(spec.kind, type) and issubclass(spec.kind, Message):
        return spec.kind(**{each.name: absent(each) for each in specs(spec.kind) if not has_default(each.declared)})
    # Kafka uses -1 for an absent offset, generation or node id.
    return _ZERO.get(spec.kind, -1)
