"""The Python source of one function under construction, with the constants that it uses, and facts about declared fields."""

from __future__ import annotations

import struct
from collections.abc import Callable
from types import NoneType
from typing import Any

from ..fields import ZERO_UUID, ProtocolError, Spec, has_default, specs
from ..varints import put_uvarint, uvarint_rest

WIDTH = {"b": 1, "?": 1, "h": 2, "H": 2, "i": 4, "q": 8, "d": 8, "16s": 16}
"""The width of fixed-width fields in bytes, by struct format."""
_ZERO: dict[object, str] = {"?": "False", "d": "0.0", "16s": "ZERO_UUID", "str": "''", "bytes": "b''", "records": "b''"}


def _fail(field: str, length: int) -> None:
    raise ProtocolError(f"{field}: the length {length} does not fit")


MAX_STRING_BYTES = 32_767
"""The longest string, in all versions.

Old versions have an int16 length; new versions keep this limit so that a value can be sent in both.
"""


MAX_ITEMS = 20_000
"""The most array items and tagged fields of one message that a sliced decoder accepts.

An item of three bytes becomes objects of about 300 bytes, and costs every later step, up to the collection of garbage. Apache Kafka takes
any number; its own clients send one item for each partition of a consumer at most.
"""


def _count(left: int, items: int) -> int:
    """Returns how many of the items that are `left` remain after `items` more. Raises ProtocolError if there are too many."""
    if items > left:
        raise ProtocolError(f"the message has more than {MAX_ITEMS} items in its arrays")
    return left - items


class Source:
    """The lines of a function for one version of a message. `depth` is the indentation of the line that is added next."""

    def __init__(self, version: int, flexible: bool, *, sliced: bool = False) -> None:
        self.version, self.flexible, self.sliced = version, flexible, sliced
        self.lines: list[str] = []
        self.depth = 1
        self.names = 0
        self.constants: dict[str, Any] = {
            "ProtocolError": ProtocolError,
            "ZERO_UUID": ZERO_UUID,
            "count": _count,
            "fail": _fail,
            "new": object.__new__,
            "put_uvarint": put_uvarint,
            "struct_error": struct.error,
            "uvarint_rest": uvarint_rest,
        }

    def add(self, *lines: str) -> None:
        """Appends lines at the current indentation."""
        self.lines += ["    " * self.depth + line for line in lines]

    def new_name(self, stem: str) -> str:
        """Returns a variable name that is not in use yet."""
        self.names += 1
        return f"{stem}{self.names}"

    def constant(self, stem: str, value: Any) -> str:
        """Returns the name by which the function refers to `value`."""
        for name, known in self.constants.items():
            if known is value:
                return name
        name = self.new_name(stem)
        self.constants[name] = value
        return name

    def packer(self, formats: str, method: str) -> str:
        """Returns the name of the method (`pack`, `unpack_from`) of a big-endian struct."""
        return self.constant("S", getattr(struct.Struct(">" + formats), method))

    def compile(self, head: str, name: str) -> Callable[..., Any]:
        """Returns the function `name`, whose first lines are `head`."""
        exec("\n".join([head, *self.lines]), self.constants)
        return self.constants[name]  # type: ignore[no-any-return]

    def split_fields(self, cls: type[Any]) -> tuple[list[Spec], list[Spec]]:
        """Returns (the fields of the version that are not tagged, in order; those in the tagged section, by tag)."""
        present = [spec for spec in specs(cls) if spec.present(self.version)]
        tagged = sorted((s for s in present if s.declared.tag is not None and self.flexible), key=lambda s: s.declared.tag or 0)
        return [spec for spec in present if spec not in tagged], tagged

    def smallest_size(self, cls: type[Any]) -> int:
        """Returns the fewest bytes that a structure can take."""
        untagged, _ = self.split_fields(cls)
        return sum(self.smallest_size_of_field(spec) for spec in untagged) + self.flexible

    def smallest_size_of_field(self, spec: Spec) -> int:
        """Returns the fewest bytes that a field can take."""
        if spec.array or spec.kind in ("bytes", "records"):
            return 1 if self.flexible else 4
        if isinstance(spec.kind, str):
            return WIDTH.get(spec.kind) or (1 if self.flexible else 2)
        return 1 if spec.null_allowed(self.version) else self.smallest_size(spec.kind)


def is_fixed(spec: Spec) -> bool:
    """Returns whether a field has the same width in every message, so that it can be part of a longer struct."""
    return not spec.array and spec.kind in WIDTH


def items_format(spec: Spec, count: str) -> str:
    """Returns an expression for the struct format of `count` items. A number before `16s` would be a length, so `16s` is repeated."""
    return f"'>' + '16s' * {count}" if spec.kind == "16s" else f"f'>{{{count}}}{spec.kind}'"


def default_expression(source: Source, spec: Spec) -> str:
    """Returns an expression for the value of a field that is not on the wire."""
    declared = spec.declared
    if declared.default_factory is not None:
        return "[]" if declared.default_factory is list else f"{source.constant('F', declared.default_factory)}()"
    if has_default(declared):
        is_literal = isinstance(declared.default, int | str | NoneType | float)
        return repr(declared.default) if is_literal else source.constant("D", declared.default)
    return "[]" if spec.array else _ZERO.get(spec.kind, "0")
