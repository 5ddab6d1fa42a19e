"""The typed controls of the Java package: an abstract class with methods, options and results as nested types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .interface import Field, Interface, Operation, Structure, Type, camel_case, wrapped

FILE = "bindings/java/src/main/java/io/github/odradekkafka/Controls.java"
HEAD = """\
// Generated from the OpenAPI document of odradek by `make docs`. Do not edit.
package io.github.odradekkafka;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** The controls of a cluster, with the types of their options and results. {@link Odradek} has them all. */
public abstract class Controls {
    /** Sends a request and returns the JSON value of the answer. */
    abstract Object get(String path, Map<String, Object> arguments);

    /** Sends a request and returns the JSON value of the answer, null if it has none. */
    abstract Object post(String path, Map<String, Object> arguments);
"""
KEYWORDS = {"abstract", "case", "class", "default", "final", "for", "if", "import", "new", "package", "public", "static", "switch", "while"}
"""Names that a parameter cannot have, because they are words of the language."""
SCALARS = {
    "text": ("String", "text"),
    "integer": ("long", "integer"),
    "number": ("double", "number"),
    "boolean": ("boolean", "bool"),
    "time": ("Instant", "time"),
    "duration": ("Duration", ""),
    "bytes": ("Bytes", "bytes"),
    "header": ("Header", "header"),
    "any": ("Object", "any"),
}
"""For each kind the name of the type, and the method of `Json` that reads it."""
BOXED = {"long": "Long", "double": "Double", "boolean": "Boolean"}


def source(interface: Interface) -> str:
    """Returns the text of the generated file."""
    lines = [HEAD]
    for owner in interface.owners:
        lines += _owner(owner)
    for operation in interface.operations:
        if not operation.owner:
            lines += _method(operation, "    ")
    for owner in interface.owners:
        lines += [f"    /** The controls whose names begin with `{owner}`. */", f"    public final class {_class(owner)} {{"]
        lines += [f"        private {_class(owner)}() {{}}", ""]
        for operation in interface.operations:
            if operation.owner == owner:
                lines += _method(operation, "        ")
        lines += ["    }\n"]
    for operation in interface.operations:
        if operation.options:
            text = f"Optional parameters of {camel_case(operation.name)}. Those that are not set have their defaults."
            lines += _settable(_options(operation), text, operation.options, constructor="private")
    for structure in interface.structures:
        lines += _structure(structure) if structure.name != "Problem" else []
    return "\n".join(lines).rstrip() + "\n}\n"


def _class(owner: str) -> str:
    return f"{owner.capitalize()}Controls"


def _options(operation: Operation) -> str:
    return "".join(each.capitalize() for each in [operation.owner, *operation.name.split("_")]) + "Options"


def _name(field: Field) -> str:
    name = camel_case(field.name)
    return f"{name}Value" if name in KEYWORDS else name


def type_name(kind: Type, *, is_boxed: bool = False) -> str:
    if kind.kind == "list":
        return f"List<{type_name(kind.of_items, is_boxed=True)}>"
    if kind.kind == "map":
        return f"Map<String, {type_name(kind.of_items, is_boxed=True)}>"
    name = kind.name or SCALARS[kind.kind][0]
    return BOXED.get(name, name) if is_boxed or kind.is_nullable else name


def _reader(kind: Type) -> str:
    """Returns the function that makes a value of the type from a JSON value."""
    if kind.is_nullable:
        return f"value -> Json.nullable(value, {_reader(kind._replace(is_nullable=False))})"
    if kind.kind in ("list", "map"):
        return f"value -> Json.{kind.kind}(value, {_reader(kind.of_items)})"
    return f"{kind.name}::of" if kind.name else f"Json::{SCALARS[kind.kind][1]}"


def _read(kind: Type, value: str) -> str:
    """Returns the expression that makes a value of the type from the expression of a JSON value."""
    if kind.is_nullable:
        return f"Json.nullable({value}, {_reader(kind._replace(is_nullable=False))})"
    if kind.kind in ("list", "map"):
        return f"Json.{kind.kind}({value}, {_reader(kind.of_items)})"
    return f"{kind.name}.of({value})" if kind.name else f"Json.{SCALARS[kind.kind][1]}({value})"


def _comment(indent: str, text: str) -> list[str]:
    text = text.replace("None", "null")
    if len(indent) + len(text) + 7 <= 120:
        return [f"{indent}/** {text} */"]
    return [f"{indent}/**", *wrapped(f"{indent} * ", text, columns=118), f"{indent} */"]


def _owner(owner: str) -> list[str]:
    return [
        f"    private final {_class(owner)} {owner} = new {_class(owner)}();",
        "",
        f"    /** Returns the controls whose names begin with `{owner}`. */",
        f"    public {_class(owner)} {owner}() {{",
        f"        return {owner};",
        "    }",
        "",
    ]


def _method(operation: Operation, indent: str) -> Iterator[str]:
    """Yields a method with the required parameters and, if there are options, another one with a function that sets them."""
    result = type_name(operation.result) if operation.result else "void"
    parameters = ", ".join(f"{type_name(each.type._replace(is_nullable=False))} {_name(each)}" for each in operation.required)
    arguments = "".join(f', "{each.name}", {_name(each)}' for each in operation.required).removeprefix(", ")
    head = f"{indent}public {result} {camel_case(operation.name)}("
    yield from _comment(indent, operation.help)
    yield f"{head}{parameters}) {{"
    yield f"{indent}    {_sent(operation, f'Options.arguments({arguments})')}"
    yield f"{indent}}}\n"
    if operation.options:
        yield from _comment(indent, operation.help)
        yield f"{head}{parameters}{', ' * bool(parameters)}Consumer<{_options(operation)}> with) {{"
        yield f"{indent}    {_options(operation)} options = new {_options(operation)}();"
        yield f"{indent}    with.accept(options);"
        yield f"{indent}    {_sent(operation, f'options.with({arguments})')}"
        yield f"{indent}}}\n"


def _sent(operation: Operation, arguments: str) -> str:
    call = f'Controls.this.{"get" if operation.reads else "post"}("{operation.path}", {arguments})'  # an owner may have a control "get"
    return f"return {_read(operation.result, call)};" if operation.result else f"{call};"


def _settable(name: str, text: str, fields: Sequence[Field], constructor: str) -> Iterator[str]:
    """Yields a class whose methods set its fields."""
    yield from _comment("    ", text)
    yield f"    public static final class {name} extends Options {{"
    yield f"        {constructor} {name}() {{}}\n"
    for each in fields:
        for given, value in _given(each):
            if each.help:
                yield from _comment("        ", f"{each.help[:1].upper()}{each.help[1:]}.")
            yield f"        public {name} {_name(each)}({given} {_name(each)}) {{"
            yield f'            set("{each.name}", {value});'
            yield "            return this;"
            yield "        }\n"
    yield "    }\n"


def _given(field: Field) -> Iterator[tuple[str, str]]:
    """Yields the types with which a field can be set, each with the expression of its JSON value."""
    kind, name = field.type._replace(is_nullable=False), _name(field)
    if kind.kind == "bytes":
        yield "String", name
        yield "byte[]", f"Bytes.of({name})"
    elif kind.kind == "list" and type_name(kind.of_items) in ("String", "long"):
        yield f"{type_name(kind.of_items)}...", f"list({name})"
    elif kind.kind == "map":
        yield "Map<String, ?>", name
    else:
        yield type_name(kind), name


def _structure(structure: Structure) -> Iterator[str]:
    if structure.is_input:
        yield from _settable(structure.name, structure.help, structure.fields, constructor="public")
        return
    yield from _comment("    ", structure.help)
    components = [f"            {type_name(each.type)} {_name(each)}" for each in structure.fields]
    yield f"    public record {structure.name}("
    yield ",\n".join(components) + ") {"
    yield f"        static {structure.name} of(Object json) {{"
    yield "            Map<String, Object> fields = Json.object(json);"
    yield f"            return new {structure.name}("
    values = [_read(each.type, f'fields.get("{each.name}")') for each in structure.fields]
    yield ",\n".join(f"                    {value}" for value in values) + ");"
    yield "        }\n    }\n"
