"""The interface of the control listener as the bindings have it: operations and structures, with types that every language has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from odradek.broker.controls import cluster_controls  # noqa: F401  (declares the controls)
from odradek.broker.controls.declaration import CONTROLS, Control
from odradek.broker.controls.http.openapi import document
from odradek.broker.controls.http.routes import JSON, path_of
from odradek.broker.controls.interface.shapes import Schema

NULL = {"type": "null"}
PARTS_OF_DURATIONS = {"weeks", "days", "hours", "minutes", "seconds", "milliseconds"}
"""Parameters of a control that also has `duration`, which the bindings take as a value of their language instead."""
SPECIAL = {"Duration": "duration", "Bytes": "bytes"}
"""Schemas that are values, with the kinds of their types."""


class Type(NamedTuple):
    """The type of a value.

    `kind` is text, integer, number, boolean, time, duration, bytes, header, structure, list, map or any. `item` is the type of the values
    in a list or map, and `name` that of a structure.
    """

    kind: str
    item: Type | None = None
    name: str = ""
    is_nullable: bool = False

    @property
    def of_items(self) -> Type:
        """The type of the values in a list or map. Raises ValueError for other types."""
        if self.item is None:
            raise ValueError(f"{self.kind} has no items")
        return self.item


class Field(NamedTuple):
    """A parameter of an operation, or a field of a structure. `name` is that of the JSON object."""

    name: str
    type: Type
    help: str = ""


class Operation(NamedTuple):
    """A control. `owner` is the attribute of the cluster to which the method belongs, "" for the cluster itself."""

    name: str
    owner: str
    path: str
    reads: bool
    help: str
    required: Sequence[Field]
    options: Sequence[Field]
    result: Type | None


class Structure(NamedTuple):
    """A JSON object with declared fields. With `is_input` it is an argument whose fields are all optional, otherwise a result."""

    name: str
    help: str
    fields: Sequence[Field]
    is_input: bool


class Interface(NamedTuple):
    """All operations in the order of the OpenAPI document, and all structures in alphabetical order."""

    operations: Sequence[Operation]
    structures: Sequence[Structure]

    @property
    def owners(self) -> list[str]:
        """The names of the attributes to which operations belong, apart from those of the cluster itself."""
        return sorted({each.owner for each in self.operations if each.owner})


def interface() -> Interface:
    """Returns the interface that the OpenAPI document describes."""
    described = document(token_needed=False)
    controls = {path_of(control): control for control in CONTROLS.values()}
    operations = [_operation(controls[path], next(iter(methods.values()))) for path, methods in described["paths"].items()]
    schemas: dict[str, Schema] = described["components"]["schemas"]
    structures = [_structure(name, schema) for name, schema in sorted(schemas.items()) if "properties" in schema]
    return Interface(operations, structures)


def _operation(control: Control, described: Mapping[str, Any]) -> Operation:
    parameters = list(_parameters(described))
    content = described["responses"].get("200", {}).get("content", {})
    return Operation(
        control.method.__name__,
        control.owner,
        path_of(control),
        control.reads,
        _first_sentence(control.help),
        [field for field, is_required in parameters if is_required],
        [field for field, is_required in parameters if not is_required],
        type_of(content[JSON]["schema"]) if content else None,
    )


def _parameters(described: Mapping[str, Any]) -> Iterator[tuple[Field, bool]]:
    """Yields the parameters of an operation, each with whether it is required."""
    body = described.get("requestBody", {}).get("content", {}).get(JSON, {}).get("schema", {"properties": {}})
    schemas = {each["name"]: (each["schema"], each["description"], each["required"]) for each in described.get("parameters", ())}
    schemas |= {name: (each, each["description"], name in body.get("required", ())) for name, each in body["properties"].items()}
    has_duration = "duration" in schemas
    for name, (schema, text, is_required) in schemas.items():
        if not (has_duration and name in PARTS_OF_DURATIONS):
            yield Field(name, type_of(schema), text), is_required or name == "duration"


def _structure(name: str, schema: Schema) -> Structure:
    fields = [Field(field, type_of(each)) for field, each in schema["properties"].items()]
    return Structure(name, _first_sentence(schema["description"]), fields, is_input=not schema.get("required"))


def type_of(schema: Schema) -> Type:
    """Returns the type of the values that a schema describes. A union becomes the type with which all that it means can be said."""
    for union in ("anyOf", "oneOf"):
        if union in schema:
            members = [each for each in schema[union] if each != NULL]
            found = _union(members)
            says_null_itself = found.kind == "structure" and len(members) > 1
            return found._replace(is_nullable=len(members) < len(schema[union]) and not says_null_itself)
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return Type(SPECIAL[name]) if name in SPECIAL else Type("structure", name=name)
    if "prefixItems" in schema:
        return Type("header")
    kind = schema.get("type", "string" if "enum" in schema else "")
    if kind == "array":
        return Type("list", type_of(schema["items"]))
    if kind == "object":
        return Type("map", type_of(schema.get("additionalProperties") or {}))
    if kind == "string":
        return Type("time" if schema.get("format") == "date-time" else "text")
    return Type(kind if kind in ("integer", "number", "boolean") else "any")


def _union(members: Sequence[Schema]) -> Type:
    """Returns the type for members of a union without null: a structure, map, list or time, if there is one among them."""
    types = [type_of(each) for each in members]
    for kind in ("structure", "map", "list", "time"):
        for found in types:
            if found.kind == kind:
                return found
    enumerated = [found for found, member in zip(types, members, strict=True) if "enum" in member]
    return types[0] if len(types) == 1 else enumerated[0] if enumerated else Type("any")


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=\.)\s", " ".join(text.split()), maxsplit=1)[0]


def after_subject(text: str) -> str:
    """Returns a sentence such as "Stops a node." as it continues after a subject."""
    return text[:1].lower() + text[1:]


def camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(each.capitalize() for each in others)


def wrapped(prefix: str, text: str, columns: int = 100) -> list[str]:
    """Returns the lines of a comment, each of which begins with the prefix."""
    lines, line = [], prefix
    for word in text.split():
        if len(line) + len(word) > columns and line != prefix:
            lines.append(line.rstrip())
            line = prefix
        line += word + " "
    return [*lines, line.rstrip()]
