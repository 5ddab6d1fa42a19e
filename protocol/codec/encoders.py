"""Compiles encoders. In the compiled functions, `m` is the message and `out` the buffer to which fields are appended.

Record bytes and `EncodedItems` are not copied. Before such a field, `out` is complete: `out` and the bytes are appended to the list
`parts`, and a new `out` begins.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from ..fields import EncodedItems, Spec
from .source import MAX_STRING_BYTES, WIDTH, Source, default_expression, is_fixed, items_format

SLICE_ITEMS = 500
"""The number of array items after which a sliced encoder yields; they take less than a millisecond."""


def compile_encoder(cls: type[Any], version: int) -> Callable[..., Any]:
    """Returns a function (message, out, parts) -> out, which raises ProtocolError."""
    return _compile_encoder(cls, Source(version, version >= cls.flexible_from))


def compile_sliced_encoder(cls: type[Any], version: int) -> Callable[..., Any]:
    """Returns a function (message, out, parts) -> generator, which yields after every SLICE_ITEMS array items and returns out."""
    source = Source(version, version >= cls.flexible_from, sliced=True)
    source.depth = 2
    source.add("items = 0", "if False:", "    yield  # a generator even if there is no array")
    return _compile_encoder(cls, source)


def _compile_encoder(cls: type[Any], source: Source) -> Callable[..., Any]:
    version = source.version
    source.depth = 2
    _encode_struct(source, cls, "m", "out")
    source.add("return out")
    source.depth = 1
    source.add("except (struct_error, AttributeError, TypeError, UnicodeEncodeError) as error:")
    source.add(f"    raise ProtocolError(f'{cls.__name__} v{version} cannot be written: {{error}}') from error")
    return source.compile("def encode(m, out, parts):\n    try:", "encode")


def _encode_struct(source: Source, cls: type[Any], value: str, out: str) -> None:
    untagged, tagged = source.split_fields(cls)
    run: list[Spec] = []
    for spec in untagged:
        if is_fixed(spec):
            run.append(spec)
            continue
        _encode_run(source, run, value, out)
        run = []
        _encode_field(source, spec, f"{value}.{spec.name}", out)
    _encode_run(source, run, value, out)
    if source.flexible:
        _encode_tags(source, tagged, value, out)


def _encode_run(source: Source, run: list[Spec], value: str, out: str) -> None:
    if run:
        packer = source.packer("".join(str(spec.kind) for spec in run), "pack")
        source.add(f"{out} += {packer}({', '.join(f'{value}.{spec.name}' for spec in run)})")


def _encode_length(source: Source, length: str, wide: bool, out: str) -> None:
    if source.flexible:
        source.add(f"if {length} < 127:", f"    {out}.append({length} + 1)", "else:", f"    put_uvarint({out}, {length} + 1)")
    else:
        source.add(f"{out} += {source.packer('i' if wide else 'h', 'pack')}({length})")


def _encode_null(source: Source, spec: Spec, wide: bool, value: str, out: str) -> None:
    """Adds the branch for None and opens its `else`. If null is not allowed, the lines that follow raise an error for None."""
    if spec.null_allowed(source.version):
        null = "b'\\0'" if source.flexible else repr(b"\xff" * (4 if wide else 2))
        source.add(f"if {value} is None:", f"    {out} += {null}", "else:")
        source.depth += 1


def _encode_field(source: Source, spec: Spec, expression: str, out: str) -> None:
    v, n = source.new_name("v"), source.new_name("n")
    source.add(f"{v} = {expression}")
    depth = source.depth
    if spec.array:
        _encode_null(source, spec, True, v, out)
        if spec.declared.encoded:
            _encode_blocks(source, v, n)
        source.add(f"{n} = len({v})")
        _encode_length(source, n, True, out)
        _encode_items(source, spec, v, n, out)
    elif isinstance(spec.kind, str):
        _encode_null(source, spec, spec.kind != "str", v, out)
        _encode_sized(source, spec.kind, v, n, out)
    else:
        if spec.null_allowed(source.version):
            source.add(f"if {v} is None:", f"    {out} += b'\\xff'", "else:")
            source.depth += 1
            source.add(f"{out} += b'\\1'")
        _encode_struct(source, spec.kind, v, out)
    source.depth = depth


def _encode_sized(source: Source, kind: str, v: str, n: str, out: str) -> None:
    if kind == "str":
        source.add(f"{v} = {v}.encode()", f"{n} = len({v})")
        if source.flexible:
            source.add(f"if {n} > {MAX_STRING_BYTES}:", f"    raise ProtocolError('a string of %d bytes' % {n})")
    elif kind == "records":
        source.add(f"{n} = sum(map(len, {v})) if {v}.__class__ is list else len({v})")
    else:
        source.add(f"{n} = len({v})")
    _encode_length(source, n, kind != "str", out)
    if kind == "records":
        source.add(f"if {n}:", "    parts.append(out)", f"    if {v}.__class__ is list:", f"        parts += {v}")
        source.add("    else:", f"        parts.append({v})", "    out = bytearray()")
    else:
        source.add(f"{out} += {v}")


def _encode_blocks(source: Source, v: str, n: str) -> None:
    """Adds the branch for `EncodedItems` and opens its `else`."""
    source.add(f"if {v}.__class__ is {source.constant('E', EncodedItems)}:")
    source.depth += 1
    source.add(f"{n} = {v}.length")
    _encode_length(source, n, True, "out")
    source.add("parts.append(out)", f"parts += {v}.blocks", "out = bytearray()")
    source.depth -= 1
    source.add("else:")
    source.depth += 1


def _encode_items(source: Source, spec: Spec, v: str, n: str, out: str) -> None:
    if spec.kind in WIDTH:
        source.add(f"{out} += {source.constant('pack', struct.pack)}({items_format(spec, n)}, *{v})")
        return
    item = source.new_name("m")
    source.add(f"for {item} in {v}:")
    source.depth += 1
    if isinstance(spec.kind, str):
        _encode_sized(source, spec.kind, item, source.new_name("n"), out)
    else:
        _encode_struct(source, spec.kind, item, out)
    if source.sliced:
        source.add("items += 1", f"if items == {SLICE_ITEMS}:", "    items = 0", "    yield")
    source.depth -= 1


def _encode_tags(source: Source, tagged: list[Spec], value: str, out: str) -> None:
    if not tagged:
        source.add(f"{out}.append(0)")
        return
    tags, section = source.new_name("n"), source.new_name("o")
    source.add(f"{tags} = 0", f"{section} = b''")
    for spec in tagged:
        field_out = source.new_name("o")
        source.add(f"if {value}.{spec.name} != {default_expression(source, spec)}:")
        source.depth += 1
        source.add(f"{tags} += 1", f"{field_out} = bytearray()")
        if is_fixed(spec):
            _encode_run(source, [spec], value, field_out)
        else:
            _encode_field(source, spec._replace(nullable=spec.nullable and isinstance(spec.kind, str)), f"{value}.{spec.name}", field_out)
        source.add(f"{section} = bytearray({section})", f"put_uvarint({section}, {spec.declared.tag})")
        source.add(f"put_uvarint({section}, len({field_out}))", f"{section} += {field_out}")
        source.depth -= 1
    source.add(f"put_uvarint({out}, {tags})", f"{out} += {section}")
