"""Compiles decoders. In the compiled functions, `b` is the buffer, `e` its length and `p` the position."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from ..fields import Spec, specs
from .source import MAX_ITEMS, MAX_STRING_BYTES, WIDTH, Source, default_expression, is_fixed, items_format

SLICE_ITEMS = 100
"""The number of array items after which a sliced decoder yields; they take about a tenth of a millisecond."""


def compile_decoder(cls: type[Any], version: int) -> Callable[..., Any]:
    """Returns a function (buffer, position) -> (message, position after it), which raises ProtocolError."""
    return _compile_decoder(cls, Source(version, version >= cls.flexible_from))


def compile_sliced_decoder(cls: type[Any], version: int) -> Callable[..., Any]:
    """Returns a function (buffer, position) -> generator, which yields after every SLICE_ITEMS items and returns what a decoder returns.

    The generator raises ProtocolError, also for a message with more than MAX_ITEMS items.
    """
    source = Source(version, version >= cls.flexible_from, sliced=True)
    source.depth = 2
    source.add("items = 0", f"left = {MAX_ITEMS}", "if False:", "    yield  # a generator even if there is no array")
    return _compile_decoder(cls, source)


def _compile_decoder(cls: type[Any], source: Source) -> Callable[..., Any]:
    version = source.version
    source.depth = 2
    _decode_struct(source, cls, "m")
    source.add("return m, p")
    source.depth = 1
    source.add("except (struct_error, IndexError):", f"    raise ProtocolError('{cls.__name__} v{version} ends early') from None")
    source.add(
        "except UnicodeDecodeError:", f"    raise ProtocolError('{cls.__name__} v{version} has a string that is not UTF-8') from None"
    )
    return source.compile("def decode(b, p):\n    e = len(b)\n    try:", "decode")


def _decode_struct(source: Source, cls: type[Any], target: str) -> None:
    source.add(f"{target} = new({source.constant('C', cls)})")
    untagged, tagged = source.split_fields(cls)
    absent = [spec for spec in specs(cls) if spec not in untagged]
    for spec in absent:
        source.add(f"{target}.{spec.name} = {default_expression(source, spec)}")
    run: list[Spec] = []
    for spec in untagged:
        if is_fixed(spec):
            run.append(spec)
            continue
        _decode_run(source, run, target)
        run = []
        _decode_field(source, spec, f"{target}.{spec.name}")
    _decode_run(source, run, target)
    if source.flexible:
        _decode_tags(source, tagged, target)


def _decode_run(source: Source, run: list[Spec], target: str) -> None:
    if run:
        formats = "".join(str(spec.kind) for spec in run)
        names = ", ".join(f"{target}.{spec.name}" for spec in run)
        source.add(f"{names}, = {source.packer(formats, 'unpack_from')}(b, p)", f"p += {sum(WIDTH[str(s.kind)] for s in run)}")


def _decode_length(source: Source, length: str, wide: bool) -> None:
    """Reads a length into `length`; a negative one means null. Unless `wide`, it is that of a string."""
    if source.flexible:
        source.add(f"{length} = b[p]", "p += 1", f"if {length} > 127:", f"    {length}, p = uvarint_rest(b, {length}, p)")
        if not wide:
            source.add(f"    if {length} > {MAX_STRING_BYTES + 1}:", f"        fail('string', {length} - 1)")
        source.add(f"{length} -= 1")
    else:
        source.add(f"{length}, = {source.packer('i' if wide else 'h', 'unpack_from')}(b, p)", f"p += {4 if wide else 2}")


def _decode_field(source: Source, spec: Spec, target: str) -> None:
    nullable = spec.null_allowed(source.version)
    if spec.array:
        _decode_array(source, spec, target, nullable)
    elif isinstance(spec.kind, str):
        _decode_sized(source, spec.kind, spec.name, target, nullable)
    elif nullable:
        # Kafka marks a nullable structure by an int8: -1 for null, 1 for a structure that follows.
        source.add("p += 1", "if b[p - 1] > 127:", f"    {target} = None", "else:")
        source.depth += 1
        _decode_inner(source, spec.kind, target)
        source.depth -= 1
    else:
        _decode_inner(source, spec.kind, target)


def _decode_inner(source: Source, cls: type[Any], target: str) -> None:
    inner = source.new_name("m")
    _decode_struct(source, cls, inner)
    source.add(f"{target} = {inner}")


def _decode_sized(source: Source, kind: str, name: str, target: str, nullable: bool) -> None:
    n, q = source.new_name("n"), source.new_name("q")
    _decode_length(source, n, wide=kind != "str")
    value = {"str": f"str(b[p:{q}], 'utf-8')", "bytes": f"bytes(b[p:{q}])", "records": f"b[p:{q}]"}[kind]
    source.add(f"if {n} < 0:", f"    {target} = None" if nullable else f"    fail({name!r}, {n})", "else:")
    source.add(f"    {q} = p + {n}", f"    if {q} > e:", f"        fail({name!r}, {n})", f"    {target} = {value}", f"    p = {q}")


def _decode_array(source: Source, spec: Spec, target: str, nullable: bool) -> None:
    n = source.new_name("n")
    _decode_length(source, n, wide=True)
    source.add(f"if {n} < 0:", f"    {target} = None" if nullable else f"    fail({spec.name!r}, {n})", "else:")
    source.depth += 1
    element = Spec(spec.name, spec.kind, False, False, spec.declared)
    source.add(f"if {n} * {source.smallest_size_of_field(element)} > e - p:", f"    fail({spec.name!r}, {n})")
    if source.sliced:
        source.add(f"left = count(left, {n})")
    if spec.kind in WIDTH:
        unpack = source.constant("unpack_from", struct.unpack_from)
        source.add(f"{target} = list({unpack}({items_format(spec, n)}, b, p))", f"p += {n} * {WIDTH[str(spec.kind)]}")
    else:
        items, item = source.new_name("a"), source.new_name("m")
        source.add(f"{items} = {target} = []", f"for _ in range({n}):")
        source.depth += 1
        if isinstance(spec.kind, str):
            _decode_sized(source, spec.kind, spec.name, item, nullable=False)
        else:
            _decode_struct(source, spec.kind, item)
        source.add(f"{items}.append({item})")
        if source.sliced:
            source.add("items += 1", f"if items == {SLICE_ITEMS}:", "    items = 0", "    yield")
        source.depth -= 1
    source.depth -= 1


def _decode_tags(source: Source, tagged: list[Spec], target: str) -> None:
    count, tag, size, end = (source.new_name(stem) for stem in ("n", "t", "n", "q"))
    source.add(f"{count} = b[p]", "p += 1", f"if {count}:")
    source.depth += 1
    source.add(f"if {count} > 127:", f"    {count}, p = uvarint_rest(b, {count}, p)")
    source.add(f"if not 0 <= {count} * 2 <= e - p:", f"    fail('tagged fields', {count})")
    if source.sliced:
        source.add(f"left = count(left, {count})")
    source.add(f"for _ in range({count}):")
    source.depth += 1
    for name in (tag, size):
        source.add(f"{name} = b[p]", "p += 1", f"if {name} > 127:", f"    {name}, p = uvarint_rest(b, {name}, p)")
    source.add(f"{end} = p + {size}", f"if not p <= {end} <= e:", f"    fail('tagged field', {size})")
    for spec in tagged:
        source.add(f"if {tag} == {spec.declared.tag}:")
        source.depth += 1
        if is_fixed(spec):
            _decode_run(source, [spec], target)
        else:
            _decode_field(source, spec._replace(nullable=spec.nullable and isinstance(spec.kind, str)), f"{target}.{spec.name}")
        source.add(f"if p != {end}:", f"    fail({spec.name!r}, {size})")
        source.depth -= 1
    source.add(f"p = {end}")
    source.depth -= 2
