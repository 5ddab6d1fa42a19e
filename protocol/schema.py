"""Requests and responses as typed classes, each of which declares all versions of a message.

    class HeartbeatRequest(Message):
        flexible_from = 4
        group_id: str
        generation_id: Int32
        member_id: str
        group_instance_id: str | None = field(since=3, default=None)

A field is in every version, unless `since` and `until` limit its versions. In the other versions it is not on the wire, and the object has
the default value. Nested structures are subclasses of Message too. The versions from `flexible_from` on are *flexible* (KIP-482): lengths
are varints, and each structure ends with tagged fields. The codec of a message and version is compiled by `codec/` when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, ClassVar, NamedTuple, Self, cast, dataclass_transform

from .codec import compile_decoder, compile_encoder, compile_init, compile_sliced_decoder, compile_sliced_encoder
from .fields import (
    NEVER,
    ZERO_UUID,
    EncodedItems,
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

# The modules of messages/ import everything they need from here.
__all__ = [
    "NEVER",
    "ZERO_UUID",
    "Api",
    "EncodedItems",
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
    """Codecs by version, each of which is compiled when it is first used."""

    def __init__(self, message: type[Message], compile_codec: Callable[[type[Message], int], Callable[..., Any]]) -> None:
        super().__init__()
        self._message, self._compile = message, compile_codec

    def __missing__(self, version: int) -> Any:
        self[version] = self._compile(self._message, version)
        return self[version]


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
class Message:
    """Base class of requests, responses and the structures in them. It takes keyword arguments only, and compares by value."""

    flexible_from: ClassVar[int] = NEVER
    decoders: ClassVar[dict[int, Callable[[memoryview | bytes, int], tuple[Any, int]]]]
    """version -> (buffer, position) -> (message, position after it). Raises ProtocolError."""
    sliced_decoders: ClassVar[dict[int, Callable[[memoryview | bytes, int], Generator[None, None, tuple[Any, int]]]]]
    """Decoders that are generators, and yield after every `decoders.SLICE_ITEMS` array items.

    They raise ProtocolError, also for more than MAX_ITEMS items.
    """
    encoders: ClassVar[dict[int, Callable[[Any, bytearray, list[Any]], bytearray]]]
    """version -> (message, out, parts) -> out. Raises ProtocolError.

    Before record bytes and `EncodedItems`, `out` is complete: it and these bytes are appended to `parts`, and a new `out` is returned.
    """
    sliced_encoders: ClassVar[dict[int, Callable[[Any, bytearray, list[Any]], Generator[None, None, bytearray]]]]
    """Encoders that are generators, and yield after every `encoders.SLICE_ITEMS` array items."""

    def __init_subclass__(cls) -> None:
        cls.decoders, cls.encoders = _Lazy(cls, compile_decoder), _Lazy(cls, compile_encoder)
        cls.sliced_decoders, cls.sliced_encoders = _Lazy(cls, compile_sliced_decoder), _Lazy(cls, compile_sliced_encoder)

    def __init__(self, **values: Any) -> None:
        """Replaces itself by a compiled `__init__` on first use, so that startup is not delayed by messages that are never sent."""
        cls = type(self)
        setattr(cls, "__init__", compile_init(cls))  # noqa: B010  (mypy refuses the plain form)
        cls.__init__(self, **values)

    @classmethod
    def decode(cls, version: int, buffer: bytes | bytearray | memoryview) -> Self:
        """Returns the message at the start of `buffer`. Bytes after it are ignored, as in Kafka. Raises ProtocolError."""
        return cast(Self, cls.decoders[version](memoryview(buffer), 0)[0])

    def encode(self, version: int) -> bytes:
        """Returns the encoded message as one bytes object. Raises ProtocolError."""
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
    """A range of versions, both ends included."""

    first: int
    last: int

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and self.first <= version <= self.last


class Api(NamedTuple):
    """One API: its key, the versions that Kafka 4.3 serves, and the classes of its request and response.

    `oldest` is the first version that an emulated older release serves, None if it is that of Kafka 4.3.
    """

    key: int
    versions: Versions
    request: type[Message]
    response: type[Message]
    oldest: int | None = None

    @property
    def declared(self) -> Versions:
        """The versions that the messages declare."""
        return self.versions if self.oldest is None else Versions(self.oldest, self.versions.last)

    @property
    def name(self) -> str:
        """The name of the API in Kafka's spelling, without `Request`."""
        return self.request.__name__.removesuffix("Request")

    def response_header_version(self, version: int) -> int:
        """Returns 0 for a header with a correlation id, 1 for one that also has tagged fields.

        It is always 0 for ApiVersions, because a client reads that response before the version is negotiated (KIP-511).
        """
        return 1 if version >= self.response.flexible_from and self.key != 18 else 0


def versions(first: int, last: int) -> Versions:
    """Returns a range of versions, both ends included."""
    return Versions(first, last)
