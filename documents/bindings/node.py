"""The typed controls of the Node package: JavaScript classes, their TypeScript declarations, and the fields that are maps."""

from __future__ import annotations

from collections.abc import Iterator

from .interface import Interface, Operation, Structure, Type, camel_case, wrapped

SCRIPT, TYPES, MAPS = "bindings/node/controls.js", "bindings/node/controls.d.ts", "bindings/node/maps.js"
HEAD = "// Generated from the OpenAPI document of odradek by `make docs`. Do not edit.\n"
SCALARS = {
    "text": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "time": "string",
    "duration": "Duration",
    "bytes": "Bytes",
    "header": "[string, Bytes | null]",
    "any": "unknown",
}


def sources(interface: Interface) -> dict[str, str]:
    """Returns the text of each generated file by its path."""
    return {name: "\n".join(lines(interface)) + "\n" for name, lines in ((SCRIPT, _script), (TYPES, _types), (MAPS, _maps))}


def class_name(owner: str) -> str:
    return f"{owner.capitalize()}Controls"


def _script(interface: Interface) -> Iterator[str]:
    yield HEAD
    yield 'import { get, post } from "./requests.js";'
    for owner in [*interface.owners, ""]:
        yield f"\nexport class {class_name(owner)} {{\n  constructor(control) {{"
        yield "    this.control = control;"
        yield from (f"    this.{each} = new {class_name(each)}(control);" for each in interface.owners if not owner)
        yield "  }"
        for operation in interface.operations:
            if operation.owner == owner:
                yield from _method(operation)
        yield "}"


def _maps(interface: Interface) -> Iterator[str]:
    found = {camel_case(each.name) for structure in interface.structures for each in structure.fields if each.type.kind == "map"}
    yield HEAD
    yield "/** The fields of results that are objects with keys of users, such as the configs of a topic. */"
    yield f"export const MAPS = new Set([{', '.join(f'{chr(34)}{name}{chr(34)}' for name in sorted(found))}]);"


def _method(operation: Operation) -> Iterator[str]:
    names = [camel_case(each.name) for each in operation.required]
    yield ""
    yield from _comment("  ", operation.help)
    yield f"  {camel_case(operation.name)}({', '.join([*names, *(['options'] if operation.options else [])])}) {{"
    arguments = f"{{ {', '.join(names)}{', ...options' if names and operation.options else '...options' if operation.options else ''} }}"
    sent = "" if arguments == "{  }" else f", {arguments}"
    yield f'    return {"get" if operation.reads else "post"}(this.control, "{operation.path}"{sent});'
    yield "  }"


def _comment(indent: str, text: str) -> list[str]:
    lines = wrapped("", text.replace("None", "null"), columns=96)
    if len(lines) == 1:
        return [f"{indent}/** {lines[0]} */"]
    return [f"{indent}/**", *(f"{indent} * {line}" for line in lines), f"{indent} */"]


def _types(interface: Interface) -> Iterator[str]:
    yield HEAD
    yield '/** A number of seconds, or a number with one of the units ms, s, m, h, d and w, such as "10m". */'
    yield "export type Duration = number | string;\n"
    yield "/** Bytes: a string if they are UTF-8, otherwise a Buffer. */"
    yield "export type Bytes = string | Uint8Array;"
    for owner in [*interface.owners, ""]:
        yield f"\nexport class {class_name(owner)} {{"
        yield from (f"  readonly {each}: {class_name(each)};" for each in interface.owners if not owner)
        for operation in interface.operations:
            if operation.owner == owner:
                yield from _declaration(operation)
        yield "}"
    for structure in interface.structures:
        if structure.name != "Problem":
            yield from _interface(structure)


def type_name(kind: Type) -> str:
    """Returns the name of a type. The JavaScript value of a record without key, value and headers is its value."""
    if kind.kind == "list":
        item = type_name(kind.of_items)
        name = f"({item})[]" if " " in item else f"{item}[]"
    elif kind.kind == "map":
        name = f"{{ [key: string]: {type_name(kind.of_items)} }}"  # Record is a structure
    else:
        name = "NewRecord | Bytes | null" if kind.name == "NewRecord" else kind.name or SCALARS[kind.kind]
    return f"{name} | null" if kind.is_nullable and "null" not in name else name


def _declaration(operation: Operation) -> Iterator[str]:
    yield ""
    yield from _comment("  ", operation.help)
    required = [f"{camel_case(each.name)}: {type_name(each.type._replace(is_nullable=False))}" for each in operation.required]
    options = ["options?: {"] if operation.options else []
    head = f"  {camel_case(operation.name)}({', '.join([*required, *options])}"
    result = f"): Promise<{type_name(operation.result) if operation.result else 'void'}>;"
    if not operation.options:
        yield head + result
        return
    yield head
    for each in operation.options:
        yield from _comment("    ", f"{each.help[:1].upper()}{each.help[1:]}.")
        yield f"    {camel_case(each.name)}?: {type_name(each.type._replace(is_nullable=False))};"
    yield f"  }}{result}"


def _interface(structure: Structure) -> Iterator[str]:
    yield ""
    yield from _comment("", structure.help)
    yield f"export interface {structure.name} {{"
    for each in structure.fields:
        yield f"  {camel_case(each.name)}{'?' * structure.is_input}: {type_name(each.type)};"
    yield "}"
