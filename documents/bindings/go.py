"""The typed controls of the Go module: `Control` returns errors, and `Cluster` fails its test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .interface import Field, Interface, Operation, Structure, Type, after_subject, wrapped

FILE = "bindings/go/controls.go"
HEAD = """\
// Code generated from the OpenAPI document of odradek by `make docs`. DO NOT EDIT.

package odradek

import "time"
"""
INITIALISMS = {"acl": "ACL", "api": "API", "id": "ID", "isr": "ISR", "ms": "Ms"}
KEYWORDS = {"const", "default", "func", "go", "import", "interface", "map", "package", "range", "select", "type", "var"}
"""Names that a parameter cannot have, because they are words of the language."""
SCALARS = {"text": "string", "integer": "int", "number": "float64", "boolean": "bool", "time": "time.Time", "any": "any"}


def source(interface: Interface) -> str:
    """Returns the text of the generated file."""
    parts = [HEAD]
    for owner in interface.owners:
        parts.append(_owner(owner))
    for operation in interface.operations:
        parts += [_options(operation)] if operation.options else []
        parts += [_of_control(operation), _of_cluster(operation)]
    parts += [_structure(each) for each in interface.structures if each.name != "Problem"]
    return "\n".join(parts)


def exported(name: str) -> str:
    return "".join(INITIALISMS.get(word, word.capitalize()) for word in name.split("_"))


def type_name(kind: Type, *, is_optional: bool = False) -> str:
    """Returns the name of a type. A nullable or optional number, boolean, time or structure is a pointer."""
    if kind.kind in ("list", "map"):
        return ("[]" if kind.kind == "list" else "map[string]") + type_name(kind.of_items)
    if kind.kind in ("bytes", "header"):
        return kind.kind.capitalize()
    if kind.kind == "duration":
        return "time.Duration" if not is_optional else "*Duration"
    name = kind.name or SCALARS[kind.kind]
    has_zero = kind.kind == "any" or (is_optional and kind.kind == "text")
    return f"*{name}" if (kind.is_nullable or is_optional) and not has_zero else name


def _parameter(field: Field) -> str:
    first, *others = field.name.split("_")
    name = first + "".join(map(exported, others))
    return name + "Value" if name in KEYWORDS else name


def _method(operation: Operation) -> str:
    return exported(operation.owner) * bool(operation.owner) + exported(operation.name)


def _signature(operation: Operation) -> str:
    """Returns the parameters of a method."""
    texts = [f"{_parameter(each)} {type_name(each.type._replace(is_nullable=False))}" for each in operation.required]
    return ", ".join([*texts, *([f"options ...{_method(operation)}Options"] if operation.options else [])])


def _call(operation: Operation) -> str:
    """Returns the arguments with which one method calls another."""
    return ", ".join([*map(_parameter, operation.required), *(["options..."] if operation.options else [])])


def _comment(name: str, text: str) -> list[str]:
    return wrapped("// ", f"{name} {after_subject(text)}".replace("None", "nil"))


def _owner(owner: str) -> str:
    name = exported(owner)
    return f"""\
// {name} has the controls of a cluster whose names begin with `{owner}`.
type {name} struct {{
	kafka *Cluster
}}

// {name} returns the controls whose names begin with `{owner}`.
func (kafka *Cluster) {name}() {name} {{
	return {name}{{kafka}}
}}
"""


def _options(operation: Operation) -> str:
    name = f"{_method(operation)}Options"
    text = f"{name} has the optional parameters of {_method(operation)}. Fields that are not set have their defaults."
    return "\n".join([*wrapped("// ", text), *_fields(name, operation.options, is_input=True)])


def _structure(structure: Structure) -> str:
    return "\n".join([*_comment(f"{structure.name} is", structure.help), *_fields(structure.name, structure.fields, structure.is_input)])


def _fields(name: str, fields: Sequence[Field], is_input: bool) -> Iterator[str]:
    """Yields the lines of a struct, with blank lines between the fields, because gofmt aligns fields on consecutive lines."""
    yield f"type {name} struct {{"
    for index, each in enumerate(fields):
        if index:
            yield ""
        yield from wrapped("\t// ", f"{exported(each.name)} is {each.help}.") if each.help else ()
        yield f'\t{exported(each.name)} {type_name(each.type, is_optional=is_input)} `json:"{each.name}{",omitempty" * is_input}"`'
    yield "}\n"


def _of_control(operation: Operation) -> str:
    """Returns the method that returns an error."""
    name, kind = _method(operation), operation.result
    arguments = ", ".join(f'"{each.name}": {_parameter(each)}' for each in operation.required)
    options = "optional(options)" if operation.options else "nil"
    send = f'control.{"get" if operation.reads else "post"}("{operation.path}", arguments{{{arguments}}}, {options}, '
    head = f"func (control *Control) {name}({_signature(operation)})"
    lines = [*_comment(name, operation.help)]
    if kind is None:
        lines += [f"{head} error {{", f"\treturn {send}nil)", "}\n"]
    else:
        lines += [f"{head} (result {type_name(kind)}, err error) {{", f"\terr = {send}&result)", "\treturn result, err", "}\n"]
    return "\n".join(lines)


def _of_cluster(operation: Operation) -> str:
    """Returns the method that fails the test instead of returning an error."""
    owner = operation.owner
    receiver, kafka = (f"{owner} {exported(owner)}", f"{owner}.kafka") if owner else ("kafka *Cluster", "kafka")
    name, kind = exported(operation.name), operation.result
    lines = _comment(name, operation.help)
    lines += [f"func ({receiver}) {name}({_signature(operation)}) {type_name(kind) if kind else ''}".rstrip() + " {"]
    lines += [f"\t{kafka}.t.Helper()"]
    call = f"{kafka}.Control.{_method(operation)}({_call(operation)})"
    if kind is None:
        lines += [f"\t{kafka}.check({call})"]
    else:
        lines += [f"\tresult, err := {call}", f"\t{kafka}.check(err)", "\treturn result"]
    return "\n".join([*lines, "}\n"])
