"""A reference encoder that interprets the declarations. The compiled one is compared with it, and tests falsify its lengths."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

from odradek.protocol.messages import APIS
from odradek.protocol.schema import Message, Spec, has_default, specs

UNKNOWN_TAG = 1000


class Case(NamedTuple):
    """One message in one version."""

    cls: type[Message]
    version: int

    def __str__(self) -> str:
        return f"{self.cls.__name__}-v{self.version}"


CASES = [
    Case(cls, version)
    for api in APIS.values()
    for cls in (api.request, api.response)
    for version in range(api.declared.first, api.declared.last + 1)
]


class Token(NamedTuple):
    """Some bytes of a message. For a length, `length` is its form: "h", "i", "compact" (a uvarint of n + 1) or "plain" (a uvarint of n)."""

    data: bytes
    length: str = ""


def uvarint(value: int) -> bytes:
    value &= 0xFFFFFFFF
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def length_token(value: int, form: str) -> Token:
    if form in ("compact", "plain"):
        return Token(uvarint(value + (form == "compact")), form)
    return Token(struct.pack(">" + form, min(value, 0x7FFF) if form == "h" else value), form)


def encode(message: Message, version: int, unknown_tags: bool = False) -> list[Token]:
    """Returns the message in tokens, encoded according to Kafka's protocol guide.

    With `unknown_tags`, every tagged section also has a field with an unknown tag.
    """
    return _Encoder(version, version >= message.flexible_from, unknown_tags).struct(message)


def joined(tokens: list[Token]) -> bytes:
    return b"".join(token.data for token in tokens)


class _Encoder:
    def __init__(self, version: int, flexible: bool, unknown_tags: bool) -> None:
        self.version, self.flexible, self.unknown_tags = version, flexible, unknown_tags

    def struct(self, message: Message) -> list[Token]:
        tokens: list[Token] = []
        tagged: list[tuple[int, list[Token]]] = [(UNKNOWN_TAG, [Token(b"???")])] if self.unknown_tags else []
        for spec in specs(type(message)):
            if not spec.present(self.version):
                continue
            value = getattr(message, spec.name)
            if spec.declared.tag is None:
                tokens += self.value(spec, value, nullable=spec.null_allowed(self.version))
            elif value != default(spec):
                tagged.append((spec.declared.tag, self.value(spec, value, nullable=isinstance(spec.kind, str) and spec.nullable)))
        return tokens + self.tags(sorted(tagged)) if self.flexible else tokens

    def tags(self, tagged: list[tuple[int, list[Token]]]) -> list[Token]:
        tokens = [length_token(len(tagged), "plain")]
        for tag, field in tagged:
            tokens += [Token(uvarint(tag)), length_token(len(joined(field)), "plain"), *field]
        return tokens

    def value(self, spec: Spec, value: Any, nullable: bool) -> list[Token]:
        if spec.array:
            if value is None:
                return [self.length(-1, "i")]
            element = spec._replace(array=False)
            return [self.length(len(value), "i"), *(token for item in value for token in self.value(element, item, False))]
        if isinstance(spec.kind, str):
            return self.scalar(spec.kind, value)
        if value is None:
            return [Token(b"\xff")]
        return [Token(b"\1")] * nullable + self.struct(value)

    def scalar(self, kind: str, value: Any) -> list[Token]:
        if kind not in ("str", "bytes", "records"):
            return [Token(struct.pack(">" + kind, value))]
        form = "h" if kind == "str" else "i"
        if value is None:
            return [self.length(-1, form)]
        data = value.encode() if kind == "str" else bytes(value)
        return [self.length(len(data), form), Token(data)]

    def length(self, value: int, form: str) -> Token:
        return length_token(value, "compact" if self.flexible else form)


def default(spec: Spec) -> Any:
    """Returns the value of a field that is not on the wire."""
    declared = spec.declared
    if declared.default_factory is not None:
        return declared.default_factory()
    if has_default(declared):
        return declared.default
    if spec.array:
        return []
    return {"str": "", "bytes": b"", "records": b"", "?": False, "d": 0.0, "16s": bytes(16)}.get(str(spec.kind), 0)
