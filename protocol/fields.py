"""Declarations of message fields, and their resolution from the annotations of a class.

`schema.py` defines the message classes that contain fields, and `codec/` compiles their codecs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar, Union, get_args, get_origin

T = TypeVar("T")

Int8 = Annotated[int, "b"]
Int16 = Annotated[int, "h"]
UInt16 = Annotated[int, "H"]
Int32 = Annotated[int, "i"]
Int64 = Annotated[int, "q"]
Float64 = Annotated[float, "d"]
Uuid = Annotated[bytes, "16s"]
"""16 bytes in big-endian order, as on the wire."""
Records = Annotated["bytes | bytearray | memoryview | list[memoryview]", "records"]
"""Record batches. Decoding returns a slice of the frame without a copy. Encoding accepts one buffer or a list, which is not joined."""

ZERO_UUID = bytes(16)
NEVER = 1 << 15


class ProtocolError(ValueError):
    """Bytes that are not a valid message of their API and version, or an object that cannot be written as one."""


class EncodedItems(list[T]):
    """An array that can be written but not read: `blocks` contain the bytes of `length` items, encoded in the version of the message.

    It is used for fields declared with `encoded=True`, whose items are encoded once and written in many messages.
    """

    __slots__ = ("blocks", "length")

    def __init__(self, length: int, blocks: Iterable[bytes | bytearray]) -> None:
        super().__init__()
        self.length, self.blocks = length, blocks


class Field(NamedTuple):
    """A field as declared. It is in the versions `since` to `until` (both included), and may be null from `nullable_since` on.

    If `encoded`, the field is an array of structures outside of tagged fields, and encoders accept `EncodedItems` for it.
    """

    since: int
    until: int
    nullable_since: int
    tag: int | None
    default: object
    default_factory: Callable[[], object] | None
    encoded: bool


_REQUIRED: Any = object()


def field(
    *,
    since: int = 0,
    until: int = NEVER,
    nullable_since: int = 0,
    tag: int | None = None,
    default: Any = _REQUIRED,
    default_factory: Callable[[], object] | None = None,
    encoded: bool = False,
) -> Any:
    """Declares a field that differs from a plain one in any of these respects. See `Field`.

    A tagged structure that is None is left out of the message, which means that all its fields have their defaults.
    """
    return Field(since, until, nullable_since, tag, default, default_factory, encoded)


class Spec(NamedTuple):
    """A resolved field. `kind` is a struct format character, "str", "bytes", "records" or the class of a nested structure."""

    name: str
    kind: str | type[Any]
    array: bool
    nullable: bool
    declared: Field

    def present(self, version: int) -> bool:
        """Returns whether the field is on the wire in `version`."""
        return self.declared.since <= version <= self.declared.until

    def null_allowed(self, version: int) -> bool:
        """Returns whether the field may be null in `version`."""
        return self.nullable and version >= self.declared.nullable_since


_PLAIN = Field(0, NEVER, 0, None, _REQUIRED, None, False)
_SPECS: dict[type[Any], tuple[Spec, ...]] = {}


def specs(cls: type[Any]) -> tuple[Spec, ...]:
    """Returns the fields of a message in the order of their declaration, which is their order on the wire."""
    if cls not in _SPECS:
        # typing.get_type_hints would take four times as long, which delays the first request of each API.
        names = vars(sys.modules[cls.__module__])
        hints = {name: eval(text, names) for name, text in cls.__annotations__.items()}
        fields = {name: hint for name, hint in hints.items() if get_origin(hint) is not ClassVar}
        _SPECS[cls] = tuple(_resolve(name, hint, cls.__dict__.get(name, _REQUIRED)) for name, hint in fields.items())
    return _SPECS[cls]


def _resolve(name: str, hint: Any, assigned: Any) -> Spec:
    declared = assigned if isinstance(assigned, Field) else _PLAIN._replace(default=assigned)
    nullable = False
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (part for part in get_args(hint) if part is not NoneType)
        nullable = True
    array = get_origin(hint) is list
    if array:
        (hint,) = get_args(hint)
    kind = get_args(hint)[1] if get_origin(hint) is Annotated else {str: "str", bytes: "bytes", bool: "?"}.get(hint, hint)
    return Spec(name, kind, array, nullable, declared)


def has_default(declared: Field) -> bool:
    """Returns whether the argument for a field may be left out when a message is created."""
    return declared.default is not _REQUIRED or declared.default_factory is not None
