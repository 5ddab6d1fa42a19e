"""Writes requests from the declarations of messages: an encoder that draws the values and may falsify lengths.

A writer is created for each message and version on first use. Writers append to a bytearray and accept all values: integers wrap, texts
may be any bytes, and null may be written where it is not allowed.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cache
from typing import Any

from odradek.protocol.schema import Api, Message, Spec, specs

from .vocabulary import WIDTH_BITS, Draw, chooser, is_mostly_empty

Writer = Callable[[bytearray, Draw], None]

LARGE_COUNTS, DRAWN_COUNTS = (1, 3, 30, 1000, 10_000, 25_000), (1, 3, 100)
MAX_LARGE_BYTES = 400_000
"""The size up to which an array of a large frame is extended by repetitions."""
UNKNOWN_TAGS = (2, 7, 1000, 0x7FFFFFFF)
MAX_REPEATED_BYTES = 60_000
"""The number of elements up to which an array is extended by repetitions of its last element."""


def uvarint(value: int) -> bytes:
    value &= 0xFFFFFFFF
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


_COMPACT = [uvarint(length + 1) for length in range(-1, 200)]


def write_request(out: bytearray, draw: Draw, api: Api, version: int) -> None:
    """Appends a request without its header."""
    _writer(api.request, version)(out, draw)  # type: ignore[arg-type]  # mypy applies Message.__hash__ to the class


def _put_length(out: bytearray, draw: Draw, length: int, flexible: bool, wide: bool) -> None:
    if draw.lengths_before_damage >= 0:
        draw.lengths_before_damage -= 1
        if draw.lengths_before_damage < 0:
            length = draw.one_of((-2, -1, 0, length - 1, length + 1, length + 100, 0x7FFF, 0x7FFFFFFE, 1 << 20, 200_000_000))
    if flexible:
        out += _COMPACT[length + 1] if -1 <= length < 199 else uvarint(length + 1)
    elif wide:
        out += (length & 0xFFFFFFFF).to_bytes(4, "big")
    else:
        out += (length & 0xFFFF).to_bytes(2, "big")


@cache
def _writer(cls: type[Message], version: int) -> Writer:
    flexible = version >= cls.flexible_from
    return _struct(cls, version, flexible)


def _struct(cls: type[Message], version: int, flexible: bool) -> Writer:
    here = [spec for spec in specs(cls) if spec.present(version)]
    tagged = [spec for spec in here if spec.declared.tag is not None and flexible]
    fields = [_field(cls, spec, version, flexible) for spec in here if spec not in tagged]
    # A tagged structure has no encoding of null; it is left out instead.
    unmarked = [spec._replace(nullable=spec.nullable and isinstance(spec.kind, str)) for spec in tagged]
    tags = [(spec.declared.tag or 0, _field(cls, spec, version, flexible)) for spec in unmarked]

    def write(out: bytearray, draw: Draw) -> None:
        for field in fields:
            field(out, draw)
        if flexible:
            _put_tags(out, draw, tags)

    return write


def _put_tags(out: bytearray, draw: Draw, known: list[tuple[int, Writer]]) -> None:
    odd = draw.chance(draw.wildness * 0.1)
    if not known and not odd:
        out.append(0)
        return
    chosen = [(tag, writer) for tag, writer in known if draw.chance(0.5)]
    section = bytearray()
    for tag, writer in chosen:
        field = bytearray()
        writer(field, draw)
        section += uvarint(tag)
        _put_length(section, draw, len(field) - 1, True, False)  # a tagged field's size is a plain uvarint
        section += field
    count = len(chosen)
    if odd:
        content = draw.random.randbytes(draw.one_of((0, 1, 8)))
        section += uvarint(draw.one_of((0, *UNKNOWN_TAGS))) + uvarint(len(content)) + content
        count += draw.one_of((1, 1, 1, 2, 1000))
    out += uvarint(count) + section


def _field(cls: type[Message], spec: Spec, version: int, flexible: bool) -> Writer:
    nullable = spec.null_allowed(version)
    if not spec.array:
        return _element(cls, spec, version, flexible, nullable)
    element = _element(cls, spec, version, flexible, False)
    return _array(element, flexible, nullable, 0.9 if is_mostly_empty(cls.__name__, spec.name) else 0.0)


def _array(element: Writer, flexible: bool, nullable: bool, empty: float) -> Writer:
    def write(out: bytearray, draw: Draw) -> None:
        if draw.elements_left:
            return _put_large(out, draw, element, flexible)
        dice = draw.random.random()
        if dice < (0.1 if nullable else draw.wildness * 0.02):
            return _put_length(out, draw, -1, flexible, True)
        count = 0 if dice < empty else 1 if dice < 0.7 else 2 if dice < 0.9 else 0 if dice < 0.95 else 3
        repeated = 0
        items = bytearray()
        begin = 0
        for _ in range(count):
            begin = len(items)
            element(items, draw)
        if count and draw.chance(draw.wildness * 0.1):
            last = items[begin:]
            most = max(1, MAX_REPEATED_BYTES // (len(last) or 1))
            repeated = min(most, draw.one_of((1, 1, 1, 2, 5, 100, 2000 if draw.chance(0.1) else 3)))
            items += last * repeated
        _put_length(out, draw, count + repeated, flexible, True)
        out += items
        return None

    return write


def _put_large(out: bytearray, draw: Draw, element: Writer, flexible: bool) -> None:
    """Writes an array of up to all elements that are left: some are drawn, with large arrays of their own, and the others repeat them."""
    count = min(draw.elements_left, draw.one_of(LARGE_COUNTS))
    draw.elements_left -= count
    items, drawn = bytearray(), min(count, draw.one_of(DRAWN_COUNTS))
    for _ in range(drawn):
        element(items, draw)
    times = min(count // drawn, max(1, MAX_LARGE_BYTES // (len(items) or 1))) if drawn else 0
    _put_length(out, draw, drawn * times, flexible, True)
    out += items * times


def _element(cls: type[Message], spec: Spec, version: int, flexible: bool, nullable: bool) -> Writer:
    if isinstance(spec.kind, str):
        choose = chooser(cls.__name__, spec.name, spec.kind)
        if spec.kind in ("str", "bytes", "records"):
            return _sized(spec.kind, choose, flexible, nullable)
        return _fixed(spec.kind, choose)
    inner = _struct(spec.kind, version, flexible)
    return _nullable_struct(inner) if nullable else inner


def _fixed(kind: str, choose: Callable[[Draw], Any]) -> Writer:
    if kind not in WIDTH_BITS:
        pack = struct.Struct(">" + kind).pack
        return lambda out, draw: out.extend(pack(draw.edge(kind) if draw.random.random() < draw.wildness else choose(draw)))
    size, mask = WIDTH_BITS[kind] // 8, (1 << WIDTH_BITS[kind]) - 1

    def write(out: bytearray, draw: Draw) -> None:
        value = draw.edge(kind) if draw.random.random() < draw.wildness else choose(draw)
        out += (value & mask).to_bytes(size, "big")

    return write


def _sized(kind: str, choose: Callable[[Draw], Any], flexible: bool, nullable: bool) -> Writer:
    wide = kind != "str"

    def write(out: bytearray, draw: Draw) -> None:
        odd = draw.random.random() < draw.wildness
        value = draw.edge(kind) if odd else choose(draw)
        if odd and draw.random.random() < 0.1 and nullable:
            value = None
        if value is None and not nullable and not odd:
            value = b""
        if value is None:
            return _put_length(out, draw, -1, flexible, wide)
        data = value.encode() if isinstance(value, str) else value
        _put_length(out, draw, len(data), flexible, wide)
        out += data
        return None

    return write


def _nullable_struct(inner: Writer) -> Writer:
    def write(out: bytearray, draw: Draw) -> None:
        if draw.chance(0.5):
            out.append(255)
        else:
            out.append(1)
            inner(out, draw)

    return write
