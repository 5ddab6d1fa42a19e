"""The elements of a `.proto` file. Order is that of the text, because clients number messages by it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

MAX_TAG = 536_870_911
_SCALAR_TYPES = "bool bytes double float fixed32 fixed64 int32 int64 sfixed32 sfixed64 sint32 sint64 string uint32 uint64"
SCALAR_TYPES = frozenset(_SCALAR_TYPES.split())


@dataclass(frozen=True)
class ProtoWord:
    """An unquoted value of an option: `kind` is boolean, number or enum."""

    text: str
    kind: str


@dataclass(frozen=True)
class ProtoOption:
    """An option. Its value is a string, a ProtoWord, a dict, a list, or the option of a nested field, such as `b` of `(a).b = 1`.

    `is_custom` says that the name is in parentheses.
    """

    name: str
    value: Any
    is_custom: bool = False


@dataclass
class ProtoField:
    """A field. `type` is the name of a type as it is written, or `map<key, value>`."""

    label: str | None
    type: str
    name: str
    tag: int
    options: list[ProtoOption] = field(default_factory=list)
    default: str | None = None
    json_name: str | None = None


@dataclass
class ProtoGroup:
    """A group of proto2."""

    label: str | None
    name: str
    tag: int
    fields: list[ProtoField]


@dataclass
class ProtoOneOf:
    """A oneof."""

    name: str
    fields: list[ProtoField] = field(default_factory=list)
    groups: list[ProtoGroup] = field(default_factory=list)
    options: list[ProtoOption] = field(default_factory=list)


@dataclass
class ProtoRanges:
    """Numbers and names of `reserved` or `extensions`. A tuple is a range, whose last number belongs to it."""

    values: list[int | tuple[int, int] | str]
    options: list[ProtoOption] = field(default_factory=list)


@dataclass
class ProtoExtend:
    """Fields that extend the message `name`."""

    name: str
    fields: list[ProtoField]


@dataclass(eq=False)
class ProtoEnum:
    """An enum. Constants are fields without type and label."""

    name: str
    constants: list[ProtoField] = field(default_factory=list)
    options: list[ProtoOption] = field(default_factory=list)
    reserved: list[ProtoRanges] = field(default_factory=list)


@dataclass(eq=False)
class ProtoMessage:
    """A message with its nested types."""

    name: str
    fields: list[ProtoField] = field(default_factory=list)
    oneofs: list[ProtoOneOf] = field(default_factory=list)
    groups: list[ProtoGroup] = field(default_factory=list)
    options: list[ProtoOption] = field(default_factory=list)
    reserved: list[ProtoRanges] = field(default_factory=list)
    extensions: list[ProtoRanges] = field(default_factory=list)
    extends: list[ProtoExtend] = field(default_factory=list)
    types: list[ProtoMessage | ProtoEnum] = field(default_factory=list)

    @property
    def map_type(self) -> str | None:
        """Returns `map<key, value>` if the message stands for the entries of a map, as in descriptors."""
        if not any(option.name == "map_entry" and option.value == ProtoWord("true", "boolean") for option in self.options):
            return None
        types = {part.name: part.type for part in self.fields}
        return f"map<{types['key']}, {types['value']}>" if types.keys() >= {"key", "value"} else None


@dataclass
class ProtoMethod:
    """A method of a service."""

    name: str
    request: str
    response: str
    is_request_streamed: bool
    is_response_streamed: bool
    options: list[ProtoOption] = field(default_factory=list)


@dataclass
class ProtoService:
    """A service."""

    name: str
    methods: list[ProtoMethod] = field(default_factory=list)
    options: list[ProtoOption] = field(default_factory=list)


@dataclass
class ProtoFile:
    """A file. `syntax` is "proto2", "proto3" or None. Weak imports are left out, because nothing can come of them."""

    syntax: str | None = None
    package: str | None = None
    imports: list[str] = field(default_factory=list)
    public_imports: list[str] = field(default_factory=list)
    options: list[ProtoOption] = field(default_factory=list)
    types: list[ProtoMessage | ProtoEnum] = field(default_factory=list)
    extends: list[ProtoExtend] = field(default_factory=list)
    services: list[ProtoService] = field(default_factory=list)
