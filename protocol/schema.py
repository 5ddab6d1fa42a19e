"""Messages as typed classes that speak every version of themselves.

    class HeartbeatRequest(Message):
        flexible_from = 4
        group_id: str
        generation_id: Int32
        member_id: str
        group_instance_id: str | None = field(since=3, default=None)

A field is in every version unless `since` and `until` say otherwise; in the others it is left out on the wire and has its
default in the object. Nested structures are Messages too. From `flexible_from` on a message is in the compact form with
tagged fields (KIP-482). The codec of one message and version is compiled on first use, by `codec.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, NamedTuple, Self, Union, cast, dataclass_transform, get_args, get_origin, get_type_hints

Int8 = Annotated[int, "b"]
Int16 = Annotated[int, "h"]
UInt16 = Annotated[int, "H"]
Int32 = Annotated[int, "i"]
Int64 = Annotated[int, "q"]
Float64 = Annotated[float, "d"]
Uuid = Annotated[bytes, "16s"]
"""16 bytes, big-endian, as they stand on the wire."""
Records = Annotated["bytes | bytearray | memoryview | list[memoryview]", "records"]
"""Record batches. Decoded: a slice of the frame, never a copy. Encoded: one buffer or several, never joined."""

ZERO_UUID = bytes(16)
NEVER = 1 << 15


class ProtocolError(ValueError):
    """Bytes that are no message of the API and version they claim to be, or an object that cannot be written as one."""


class Field(NamedTuple):
    """A field as declared: its versions (both ends belong), where null is legal, its tag, its default."""

    since: int
    until: int
    nullable_since: int
    tag: int | None
    default: object
    default_factory: Callable[[], object] | None


_REQUIRED: Any = object()


def field(
    *,
    since: int = 0,
    until: int = NEVER,
    nullable_since: int = 0,
    tag: int | None = None,
    default: Any = _REQUIRED,
    default_factory: Callable[[], object] | None = None,
) -> Any:
    """Declares a field whose versions, nullability, tag or default are not the plain ones. See `Field`.

    A tagged structure that is None is left out: all its fields have their defaults.
    """
    return Field(since, until, nullable_since, tag, default, default_factory)


class Spec(NamedTuple):
    """A field resolved: `kind` is a struct format character, "str", "bytes", "records" or a Message class."""

    name: str
    kind: str | type[Message]
    array: bool
    nullable: bool
    declared: Field

    def present(self, version: int) -> bool:
        """Whether the field is on the wire in `version`."""
        return self.declared.since <= version <= self.declared.until

    def null_allowed(self, version: int) -> bool:
        """Whether null may stand in its place in `version`."""
        return self.nullable and version >= self.declared.nullable_since


class _Lazy(dict[int, Any]):
    """Codecs by version, compiled when first asked for."""

    def __init__(self, message: type[Message], compiler: str) -> None:
        super().__init__()
        self._message, self._compiler = message, compiler

    def __missing__(self, version: int) -> Any:
        from . import codec

        self[version] = getattr(codec, self._compiler)(self._message, version)
        return self[version]


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
class Message:
    """Base of all requests, responses and the structures in them. Keyword arguments only; equality is by value."""

    flexible_from: ClassVar[int] = NEVER
    decoders: ClassVar[dict[int, Callable[[memoryview | bytes, int], tuple[Any, int]]]]
    """version -> (buffer, position) -> (message, position after it). Raises ProtocolError."""
    encoders: ClassVar[dict[int, Callable[[Any, bytearray, list[Any]], bytearray]]]
    """version -> (message, out, parts) -> out. Record bytes end `out`: both go to `parts`, and a fresh one is returned."""

    sliced_encoders: ClassVar[dict[int, Callable[[Any, bytearray, list[Any]], Generator[None, None, bytearray]]]]
    """The same as generators, which yield after every SLICE_ITEMS items of arrays."""

    def __init_subclass__(cls) -> None:
        cls.decoders, cls.encoders = _Lazy(cls, "compile_decoder"), _Lazy(cls, "compile_encoder")
        cls.sliced_encoders = _Lazy(cls, "compile_sliced_encoder")

    def __init__(self, **values: Any) -> None:
        """Compiles the class's own `__init__` on first use, as start-up shall not pay for messages nobody sends."""
        from . import codec

        cls = type(self)
        setattr(cls, "__init__", codec.compile_init(cls))  # noqa: B010  (mypy refuses the plain form)
        cls.__init__(self, **values)

    @classmethod
    def decode(cls, version: int, buffer: bytes | bytearray | memoryview) -> Self:
        """The message at the beginning of `buffer`; what follows it is ignored, as Kafka does."""
        return cast(Self, cls.decoders[version](memoryview(buffer), 0)[0])

    def encode(self, version: int) -> bytes:
        """The message in one piece."""
        parts: list[Any] = []
        parts.append(self.encoders[version](self, bytearray(), parts))
        return b"".join(parts)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        values = ", ".join(f"{spec.name}={getattr(self, spec.name)!r}" for spec in specs(type(self)))
        return f"{type(self).__name__}({values})"


_PLAIN = Field(0, NEVER, 0, None, _REQUIRED, None)
_SPECS: dict[type[Message], tuple[Spec, ...]] = {}


def specs(cls: type[Message]) -> tuple[Spec, ...]:
    """The fields of a message in wire order."""
    if cls not in _SPECS:
        hints = get_type_hints(cls, include_extras=True)
        names = [name for name in cls.__annotations__ if get_origin(hints[name]) is not ClassVar]
        _SPECS[cls] = tuple(_resolve(name, hints[name], cls.__dict__.get(name, _REQUIRED)) for name in names)
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
    """Whether a field may be left out when the message is made."""
    return declared.default is not _REQUIRED or declared.default_factory is not None


class Versions(NamedTuple):
    """A range of versions, both ends belong to it."""

    first: int
    last: int

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and self.first <= version <= self.last


class Api(NamedTuple):
    """One API: its key, the versions that are spoken and its two messages."""

    key: int
    versions: Versions
    request: type[Message]
    response: type[Message]

    @property
    def name(self) -> str:
        """The name as Kafka spells it, without `Request`."""
        return self.request.__name__.removesuffix("Request")

    def request_header_version(self, version: int) -> int:
        """1 with a client id, 2 with tagged fields too."""
        return 2 if version >= self.request.flexible_from else 1

    def response_header_version(self, version: int) -> int:
        """0 is the correlation id alone, 1 has tagged fields; ApiVersions stays at 0, since its reader knows no versions yet (KIP-511)."""
        return 1 if version >= self.response.flexible_from and self.key != 18 else 0


def versions(first: int, last: int) -> Versions:
    """Both ends belong to the range."""
    return Versions(first, last)
