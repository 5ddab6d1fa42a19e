"""Compiles the codec of one message and version: Python source made from the fields, and executed once.

What makes the result fast: runs of fixed-width fields are one `struct` call, the one-byte case of a length is inline, nested
structures are inline loops, and record bytes are slices. Every length that a peer sends is compared with the bytes that
remain before anything is allocated (CVE-2022-34917). A string that is not UTF-8 is refused: a replaced byte would take three when it
is written again, so that a name that was read could become too long for any answer.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from types import NoneType
from typing import Any

from .fields import ZERO_UUID, ProtocolError, Spec, has_default, specs
from .varints import put_uvarint, uvarint_rest

_WIDTH = {"b": 1, "?": 1, "h": 2, "H": 2, "i": 4, "q": 8, "d": 8, "16s": 16}
_ZERO: dict[object, str] = {"?": "False", "d": "0.0", "16s": "ZERO_UUID", "str": "''", "bytes": "b''", "records": "b''"}

MAX_STRING_BYTES = 32_767
"""The length of a string is an int16 in old versions, and no version takes more, so that what one version reads every other can write."""
SLICE_ITEMS = 500
"""How many items of arrays are encoded without a break, where that is done in slices: less than a millisecond's work."""

_UNSET = object()  # None may be meant


def _fail(what: str, length: int) -> None:
    raise ProtocolError(f"{what}: the length {length} does not fit")


class _Source:
    """Lines of a function under construction, and the constants that they use."""

    def __init__(self, version: int, flexible: bool, *, sliced: bool = False) -> None:
        self.version, self.flexible, self.sliced = version, flexible, sliced
        self.lines: list[str] = []
        self.depth = 1
        self.names = 0
        self.constants: dict[str, Any] = {
            "ProtocolError": ProtocolError,
            "ZERO_UUID": ZERO_UUID,
            "fail": _fail,
            "new": object.__new__,
            "put_uvarint": put_uvarint,
            "struct_error": struct.error,
            "uvarint_rest": uvarint_rest,
        }

    def add(self, *lines: str) -> None:
        self.lines += ["    " * self.depth + line for line in lines]

    def name(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"

    def constant(self, stem: str, value: Any) -> str:
        for name, known in self.constants.items():
            if known is value:
                return name
        name = self.name(stem)
        self.constants[name] = value
        return name

    def packer(self, formats: str, method: str) -> str:
        return self.constant("S", getattr(struct.Struct(">" + formats), method))

    def compile(self, head: str, name: str) -> Callable[..., Any]:
        exec("\n".join([head, *self.lines]), self.constants)
        return self.constants[name]  # type: ignore[no-any-return]

    def fields(self, cls: type[Any]) -> tuple[list[Spec], list[Spec]]:
        """The fields that stand in line in this version, and those in the tagged section."""
        here = [spec for spec in specs(cls) if spec.present(self.version)]
        tagged = sorted((s for s in here if s.declared.tag is not None and self.flexible), key=lambda s: s.declared.tag or 0)
        return [spec for spec in here if spec not in tagged], tagged

    def smallest(self, cls: type[Any]) -> int:
        """The fewest bytes that a structure can take."""
        untagged, _ = self.fields(cls)
        return sum(self.smallest_field(spec) for spec in untagged) + self.flexible

    def smallest_field(self, spec: Spec) -> int:
        if spec.array or spec.kind in ("bytes", "records"):
            return 1 if self.flexible else 4
        if isinstance(spec.kind, str):
            return _WIDTH.get(spec.kind) or (1 if self.flexible else 2)
        return 1 if spec.null_allowed(self.version) else self.smallest(spec.kind)


def _items_format(spec: Spec, n: str) -> str:
    """An expression for the struct format of `n` items; a number before 16s would be a length."""
    return f"'>' + '16s' * {n}" if spec.kind == "16s" else f"f'>{{{n}}}{spec.kind}'"


def _default(source: _Source, spec: Spec) -> str:
    """An expression for the value of a field that is not on the wire."""
    declared = spec.declared
    if declared.default_factory is not None:
        return "[]" if declared.default_factory is list else f"{source.constant('F', declared.default_factory)}()"
    if has_default(declared):
        return (
            repr(declared.default) if isinstance(declared.default, int | str | NoneType | float) else source.constant("D", declared.default)
        )
    return "[]" if spec.array else _ZERO.get(spec.kind, "0")


# Decoding: `b` is the buffer, `e` its length, `p` the position.


def compile_decoder(cls: type[Any], version: int) -> Callable[..., Any]:
    """(buffer, position) -> (message, position after it)."""
    source = _Source(version, version >= cls.flexible_from)
    source.depth = 2
    _decode_struct(source, cls, "m")
    source.add("return m, p")
    source.depth = 1
    source.add("except (struct_error, IndexError):", f"    raise ProtocolError('{cls.__name__} v{version} ends early') from None")
    source.add(
        "except UnicodeDecodeError:", f"    raise ProtocolError('{cls.__name__} v{version} has a string that is not UTF-8') from None"
    )
    return source.compile("def decode(b, p):\n    e = len(b)\n    try:", "decode")


def _decode_struct(source: _Source, cls: type[Any], target: str) -> None:
    source.add(f"{target} = new({source.constant('C', cls)})")
    untagged, tagged = source.fields(cls)
    absent = [spec for spec in specs(cls) if spec not in untagged]
    for spec in absent:
        source.add(f"{target}.{spec.name} = {_default(source, spec)}")
    run: list[Spec] = []
    for spec in untagged:
        if not spec.array and spec.kind in _WIDTH:
            run.append(spec)
            continue
        _decode_run(source, run, target)
        run = []
        _decode_field(source, spec, f"{target}.{spec.name}")
    _decode_run(source, run, target)
    if source.flexible:
        _decode_tags(source, tagged, target)


def _decode_run(source: _Source, run: list[Spec], target: str) -> None:
    if run:
        formats = "".join(str(spec.kind) for spec in run)
        names = ", ".join(f"{target}.{spec.name}" for spec in run)
        source.add(f"{names}, = {source.packer(formats, 'unpack_from')}(b, p)", f"p += {sum(_WIDTH[str(s.kind)] for s in run)}")


def _decode_length(source: _Source, length: str, wide: bool) -> None:
    """Reads a length into `length`; a negative one means null. Unless `wide`, it must fit into the int16 of the older versions."""
    if source.flexible:
        source.add(f"{length} = b[p]", "p += 1", f"if {length} > 127:", f"    {length}, p = uvarint_rest(b, {length}, p)")
        if not wide:
            source.add(f"    if {length} > {MAX_STRING_BYTES + 1}:", f"        fail('string', {length} - 1)")
        source.add(f"{length} -= 1")
    else:
        source.add(f"{length}, = {source.packer('i' if wide else 'h', 'unpack_from')}(b, p)", f"p += {4 if wide else 2}")


def _decode_field(source: _Source, spec: Spec, target: str) -> None:
    nullable = spec.null_allowed(source.version)
    if spec.array:
        _decode_array(source, spec, target, nullable)
    elif isinstance(spec.kind, str):
        _decode_sized(source, spec.kind, spec.name, target, nullable)
    elif nullable:
        source.add("p += 1", "if b[p - 1] > 127:", f"    {target} = None", "else:")
        source.depth += 1
        _decode_inner(source, spec.kind, target)
        source.depth -= 1
    else:
        _decode_inner(source, spec.kind, target)


def _decode_inner(source: _Source, cls: type[Any], target: str) -> None:
    inner = source.name("m")
    _decode_struct(source, cls, inner)
    source.add(f"{target} = {inner}")


def _decode_sized(source: _Source, kind: str, name: str, target: str, nullable: bool) -> None:
    n, q = source.name("n"), source.name("q")
    _decode_length(source, n, wide=kind != "str")
    value = {"str": f"str(b[p:{q}], 'utf-8')", "bytes": f"bytes(b[p:{q}])", "records": f"b[p:{q}]"}[kind]
    source.add(f"if {n} < 0:", f"    {target} = None" if nullable else f"    fail({name!r}, {n})", "else:")
    source.add(f"    {q} = p + {n}", f"    if {q} > e:", f"        fail({name!r}, {n})", f"    {target} = {value}", f"    p = {q}")


def _decode_array(source: _Source, spec: Spec, target: str, nullable: bool) -> None:
    n = source.name("n")
    _decode_length(source, n, wide=True)
    source.add(f"if {n} < 0:", f"    {target} = None" if nullable else f"    fail({spec.name!r}, {n})", "else:")
    source.depth += 1
    element = Spec(spec.name, spec.kind, False, False, spec.declared)
    source.add(f"if {n} * {source.smallest_field(element)} > e - p:", f"    fail({spec.name!r}, {n})")
    if spec.kind in _WIDTH:
        unpack = source.constant("unpack_from", struct.unpack_from)
        source.add(f"{target} = list({unpack}({_items_format(spec, n)}, b, p))", f"p += {n} * {_WIDTH[str(spec.kind)]}")
    else:
        items, item = source.name("a"), source.name("m")
        source.add(f"{items} = {target} = []", f"for _ in range({n}):")
        source.depth += 1
        if isinstance(spec.kind, str):
            _decode_sized(source, spec.kind, spec.name, item, nullable=False)
        else:
            _decode_struct(source, spec.kind, item)
        source.add(f"{items}.append({item})")
        source.depth -= 1
    source.depth -= 1


def _decode_tags(source: _Source, tagged: list[Spec], target: str) -> None:
    count, tag, size, end = (source.name(stem) for stem in ("n", "t", "n", "q"))
    source.add(f"{count} = b[p]", "p += 1", f"if {count}:")
    source.depth += 1
    source.add(f"if {count} > 127:", f"    {count}, p = uvarint_rest(b, {count}, p)")
    source.add(f"if not 0 <= {count} * 2 <= e - p:", f"    fail('tagged fields', {count})")
    source.add(f"for _ in range({count}):")
    source.depth += 1
    for name in (tag, size):
        source.add(f"{name} = b[p]", "p += 1", f"if {name} > 127:", f"    {name}, p = uvarint_rest(b, {name}, p)")
    source.add(f"{end} = p + {size}", f"if not p <= {end} <= e:", f"    fail('tagged field', {size})")
    for spec in tagged:
        source.add(f"if {tag} == {spec.declared.tag}:")
        source.depth += 1
        if not spec.array and spec.kind in _WIDTH:
            _decode_run(source, [spec], target)
        else:
            _decode_field(source, spec._replace(nullable=spec.nullable and isinstance(spec.kind, str)), f"{target}.{spec.name}")
        source.add(f"if p != {end}:", f"    fail({spec.name!r}, {size})")
        source.depth -= 1
    source.add(f"p = {end}")
    source.depth -= 2


# Encoding: `out` is the buffer that grows, `parts` what is complete.


def compile_encoder(cls: type[Any], version: int) -> Callable[..., Any]:
    """(message, out, parts) -> out."""
    return _compile_encoder(cls, _Source(version, version >= cls.flexible_from))


def compile_sliced_encoder(cls: type[Any], version: int) -> Callable[..., Any]:
    """(message, out, parts) -> a generator that yields between slices and returns out."""
    source = _Source(version, version >= cls.flexible_from, sliced=True)
    source.depth = 2
    source.add("items = 0", "if False:", "    yield  # a generator also where there is no array")
    return _compile_encoder(cls, source)


def _compile_encoder(cls: type[Any], source: _Source) -> Callable[..., Any]:
    version = source.version
    source.depth = 2
    _encode_struct(source, cls, "m", "out")
    source.add("return out")
    source.depth = 1
    source.add("except (struct_error, AttributeError, TypeError, UnicodeEncodeError) as error:")
    source.add(f"    raise ProtocolError(f'{cls.__name__} v{version} cannot be written: {{error}}') from error")
    return source.compile("def encode(m, out, parts):\n    try:", "encode")


def _encode_struct(source: _Source, cls: type[Any], value: str, out: str) -> None:
    untagged, tagged = source.fields(cls)
    run: list[Spec] = []
    for spec in untagged:
        if not spec.array and spec.kind in _WIDTH:
            run.append(spec)
            continue
        _encode_run(source, run, value, out)
        run = []
        _encode_field(source, spec, f"{value}.{spec.name}", out)
    _encode_run(source, run, value, out)
    if source.flexible:
        _encode_tags(source, tagged, value, out)


def _encode_run(source: _Source, run: list[Spec], value: str, out: str) -> None:
    if run:
        packer = source.packer("".join(str(spec.kind) for spec in run), "pack")
        source.add(f"{out} += {packer}({', '.join(f'{value}.{spec.name}' for spec in run)})")


def _encode_length(source: _Source, length: str, wide: bool, out: str) -> None:
    if source.flexible:
        source.add(f"if {length} < 127:", f"    {out}.append({length} + 1)", "else:", f"    put_uvarint({out}, {length} + 1)")
    else:
        source.add(f"{out} += {source.packer('i' if wide else 'h', 'pack')}({length})")


def _encode_null(source: _Source, spec: Spec, wide: bool, value: str, out: str) -> None:
    """Opens the `else` of a null; where null is not allowed, None fails in what follows."""
    if spec.null_allowed(source.version):
        null = "b'\\0'" if source.flexible else repr(b"\xff" * (4 if wide else 2))
        source.add(f"if {value} is None:", f"    {out} += {null}", "else:")
        source.depth += 1


def _encode_field(source: _Source, spec: Spec, expression: str, out: str) -> None:
    v, n = source.name("v"), source.name("n")
    source.add(f"{v} = {expression}")
    depth = source.depth
    if spec.array:
        _encode_null(source, spec, True, v, out)
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


def _encode_sized(source: _Source, kind: str, v: str, n: str, out: str) -> None:
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


def _encode_items(source: _Source, spec: Spec, v: str, n: str, out: str) -> None:
    if spec.kind in _WIDTH:
        source.add(f"{out} += {source.constant('pack', struct.pack)}({_items_format(spec, n)}, *{v})")
        return
    item = source.name("m")
    source.add(f"for {item} in {v}:")
    source.depth += 1
    if isinstance(spec.kind, str):
        _encode_sized(source, spec.kind, item, source.name("n"), out)
    else:
        _encode_struct(source, spec.kind, item, out)
    if source.sliced:
        source.add("items += 1", f"if items == {SLICE_ITEMS}:", "    items = 0", "    yield")
    source.depth -= 1


def _encode_tags(source: _Source, tagged: list[Spec], value: str, out: str) -> None:
    if not tagged:
        source.add(f"{out}.append(0)")
        return
    tags, section = source.name("n"), source.name("o")
    source.add(f"{tags} = 0", f"{section} = b''")
    for spec in tagged:
        field_out = source.name("o")
        source.add(f"if {value}.{spec.name} != {_default(source, spec)}:")
        source.depth += 1
        source.add(f"{tags} += 1", f"{field_out} = bytearray()")
        if not spec.array and spec.kind in _WIDTH:
            _encode_run(source, [spec], value, field_out)
        else:
            _encode_field(source, spec._replace(nullable=spec.nullable and isinstance(spec.kind, str)), f"{value}.{spec.name}", field_out)
        source.add(f"{section} = bytearray({section})", f"put_uvarint({section}, {spec.declared.tag})")
        source.add(f"put_uvarint({section}, len({field_out}))", f"{section} += {field_out}")
        source.depth -= 1
    source.add(f"put_uvarint({out}, {tags})", f"{out} += {section}")


def compile_init(cls: type[Any]) -> Callable[..., None]:
    """The class's `__init__`: keyword arguments, required unless the field has a default."""
    source = _Source(0, False)
    arguments = []
    for spec in specs(cls):
        declared = spec.declared
        if declared.default_factory is not None:
            unset = source.constant("U", _UNSET)
            arguments.append(f"{spec.name}={unset}")
            source.add(f"self.{spec.name} = {_default(source, spec)} if {spec.name} is {unset} else {spec.name}")
        else:
            arguments.append(f"{spec.name}={_default(source, spec)}" if has_default(declared) else spec.name)
            source.add(f"self.{spec.name} = {spec.name}")
    star = "*, " if arguments else ""
    source.add("pass")
    return source.compile(f"def __init__(self, {star}{', '.join(arguments)}):", "__init__")
