"""The act that replaces fields of the real response, and the check of the replacement against the declaration of the response.

A replacement has the form of the response: a mapping of fields to values.

* The value of a structure is a mapping again.
* For a list of structures, a mapping changes every item; with a topic, partitions or a group in the criteria, only their items.
* For a list of structures, a list decides how many items there are: each of its items changes the real one at its position or is a new one,
  and further real items are left out.
* Error codes may be given by name.

Fields that the version of the request does not have are left out.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from binascii import Error as NotBase64
from collections.abc import Mapping
from struct import Struct
from struct import error as StructError  # noqa: N812
from typing import Any

from ...protocol.errors import ErrorCode
from ...protocol.schema import Message, Spec, has_default, specs
from ..api.failure import absent, is_error_code
from ..api.gate import Answering, Asked
from ..control_errors import InvalidControl, unknown
from .acts import Act, Serve, make_readable
from .elements import Element, Elements, replace_fields
from .fault import Criteria

Replacement = Mapping[str, Any]


class Respond(Act):
    """Changes the response as `replacement` says, which `replacement_of` has returned."""

    def __init__(self, replacement: Replacement, elements: Elements) -> None:
        self._replacement = replacement
        self._elements = elements

    def serve(self, asked: Asked, request: Message, rest: Serve) -> Answering:
        response = yield from rest(request)
        if response is None:
            return None
        version = asked.header.version
        response = make_readable(response, version)
        return self._change(response, self._replacement, self._elements.whole(response), self.fault.criteria, version)

    def _change(self, message: Message, replacement: Replacement, scope: Element, criteria: Criteria, version: int) -> Message:
        values: dict[str, Any] = {}
        for spec in specs(type(message)):
            if spec.name in replacement and spec.present(version):
                value = replacement[spec.name]
                if value is None and not spec.null_allowed(version):
                    continue
                values[spec.name] = self._value(spec, getattr(message, spec.name), value, scope, criteria, version)
        return replace_fields(message, values)

    def _value(self, spec: Spec, real: Any, value: Any, scope: Element, criteria: Criteria, version: int) -> Any:
        if value is None or not isinstance(spec.kind, type):
            return value
        if not spec.array:
            return self._change(real or new(spec.kind), value, scope, criteria, version)
        if isinstance(value, Mapping):
            elements = [(item, self._elements.item(item, scope, spec.name)) for item in real or []]
            return [self._change(item, value, each, criteria, version) if criteria.admits(each) else item for item, each in elements]
        items = [*(real or [])[: len(value)], *(new(spec.kind) for _ in value[len(real or []) :])]
        return [self._change(item, each, scope, criteria, version) for item, each in zip(items, value, strict=True)]


def new(kind: type[Message]) -> Message:
    """Returns a structure with its defaults, and with Kafka's value for "none" in fields without one."""
    return kind(**{spec.name: absent(spec) for spec in specs(kind) if not has_default(spec.declared)})


def replacement_of(replacement: object, kind: type[Message], place: str = "respond") -> Replacement:
    """Returns a replacement with error codes and ids as the response has them. Raises InvalidControl if it does not fit to a response."""
    if not isinstance(replacement, Mapping):
        raise _invalid(place, "a mapping of fields to values", replacement)
    fields = {spec.name: spec for spec in specs(kind)}
    for name in replacement:
        if name not in fields:
            raise InvalidControl.at(place, str(unknown(kind.__name__, "field", name, fields)))
    return {name: _field_of(value, fields[name], f"{place}.{name}") for name, value in replacement.items()}


def _field_of(value: Any, spec: Spec, place: str) -> Any:
    if value is None and spec.nullable:
        return None
    if isinstance(spec.kind, type) and spec.array and isinstance(value, list | tuple):
        return [replacement_of(item, spec.kind, f"{place}[{number}]") for number, item in enumerate(value)]
    if isinstance(spec.kind, type):
        return replacement_of(value, spec.kind, place)
    if spec.array:
        if not isinstance(value, list | tuple):
            raise _invalid(place, "a list", value)
        return [_value_of(item, spec, f"{place}[{number}]") for number, item in enumerate(value)]
    return _value_of(value, spec, place)


def _value_of(value: Any, spec: Spec, place: str) -> Any:
    if is_error_code(spec) and isinstance(value, str):
        if value not in ErrorCode.__members__:
            raise InvalidControl.at(place, str(unknown("error", "error code", value, ErrorCode.__members__)))
        return ErrorCode[value]
    if spec.kind == "str" and isinstance(value, str):
        return value
    if spec.kind in ("bytes", "records", "16s"):
        return _bytes_of(value, spec, place)
    if spec.kind == "?" and isinstance(value, bool):
        return value
    if spec.kind not in ("str", "?") and isinstance(value, int | float) and not isinstance(value, bool):
        try:
            Struct(f">{spec.kind}").pack(value)
        except (StructError, OverflowError):
            raise _invalid(place, f"a number that fits into {_SIZES.get(str(spec.kind), 'the field')}", value) from None
        return value
    raise _invalid(place, _NAMES.get(str(spec.kind), "a number"), value)


def _bytes_of(value: Any, spec: Spec, place: str) -> bytes:
    if spec.kind == "16s":
        try:
            data = urlsafe_b64decode(value + "==") if isinstance(value, str) else bytes(value)
        except (NotBase64, ValueError, TypeError):
            data = b""
        if len(data) != 16:
            raise _invalid(place, "an id of 16 bytes, or its text as Kafka's tools print it", value)
        return data
    if isinstance(value, str):
        return value.encode()
    if not isinstance(value, bytes | bytearray | memoryview):
        raise _invalid(place, "bytes or text", value)
    return bytes(value)


_SIZES = {"b": "8 bits", "h": "16 bits", "H": "16 bits", "i": "32 bits", "q": "64 bits"}
_NAMES = {"str": "text", "?": "true or false"}


def _invalid(place: str, wanted: str, value: object) -> InvalidControl:
    return InvalidControl.at(place, f"must be {wanted}, not {value!r}")
