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
from typing import Any, ClassVar, NamedTuple, Self, cast, dataclass_transform

from .codec import compile_decoder, compile_encoder, compile_init, compile_sliced_encoder
from .fields import (
    NEVER,
    ZERO_UUID,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    ProtocolError,
    Records,
    Spec,
    UInt16,
    Uuid,
    field,
    has_default,
    specs,
)

# Everything that a module of messages needs comes from here.
__all__ = [
    "NEVER",
    "ZERO_UUID",
    "Api",
    "Float64",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "Message",
    "ProtocolError",
    "Records",
    "Spec",
    "UInt16",
    "Uuid",
    "Versions",
    "field",
    "has_default",
    "specs",
    "versions",
]


class _Lazy(dict[int, Any]):
    """Codecs by version, compiled when first asked for."""

    def __init__(self, message: type[Message], compile_codec: Callable[[type[Message], int], Callable[..., Any]]) -> None:
        super().__init__()
        self._message, self._compile = message, compile_codec

    def __missing__(self, version: int) -> Any:
        self[version] = self._compile(self._message, version)
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
        cls.decoders, cls.encoders = _Lazy(cls, compile_decoder), _Lazy(cls, compile_encoder)
        cls.sliced_encoders = _Lazy(cls, compile_sliced_encoder)

    def __init__(self, **values: Any) -> None:
        """Compiles the class's own `__init__` on first use, because start-up should not pay for messages that are never sent."""
        cls = type(self)
        setattr(cls, "__init__", compile_init(cls))  # noqa: B010  (mypy refuses the plain form)
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
