"""Puts named types in the place of their names, and then checks what needs all types: branches of unions and defaults of fields."""

from __future__ import annotations

from collections.abc import Mapping

from ..json_text import write_json
from ..schema import InvalidSchema
from .defaults import DefaultCheck
from .description import AvroDescription
from .types import (
    AvroArray,
    AvroMap,
    AvroRecord,
    AvroType,
    AvroUnion,
    NamedType,
    UnresolvedName,
)


def is_same_type(one: AvroType, other: AvroType) -> bool:
    """Returns whether two types are equal for Java's `Schema.equals`, which ignores documentation and aliases."""
    described, other_described = (AvroDescription(comments=False).describe(schema) for schema in (one, other))
    return write_json(described) == write_json(other_described)


def resolve_names(root: AvroType, named_types: Mapping[str, NamedType]) -> AvroType:
    """Returns `root` with all names replaced by types. Raises `InvalidSchema` for an unknown name, a bad union or a bad default."""
    root = _find_type(root, named_types)
    reached = {id(root): root}
    pending = [root]
    while pending:
        for part in _resolve_parts(pending.pop(), named_types):
            if id(part) not in reached:
                reached[id(part)] = part
                pending.append(part)
    for schema in reached.values():
        if isinstance(schema, AvroUnion):
            _check_union(schema)
    defaults = DefaultCheck()
    for schema in reached.values():
        if isinstance(schema, AvroRecord):
            for field in schema.fields:
                defaults.check(field)
    return root


def _find_type(schema: AvroType, named_types: Mapping[str, NamedType]) -> AvroType:
    if not isinstance(schema, UnresolvedName):
        return schema
    if schema.kind not in named_types:
        raise InvalidSchema(f"Undefined schema: {schema.kind}")
    return named_types[schema.kind]


def _resolve_parts(schema: AvroType, named_types: Mapping[str, NamedType]) -> list[AvroType]:
    """Resolves the names directly in `schema`. Returns the types of which it consists."""
    match schema:
        case AvroRecord():
            for field in schema.fields:
                field.type = _find_type(field.type, named_types)
            return [field.type for field in schema.fields]
        case AvroUnion():
            schema.branches = [_find_type(branch, named_types) for branch in schema.branches]
            return schema.branches
        case AvroArray():
            schema.items = _find_type(schema.items, named_types)
            return [schema.items]
        case AvroMap():
            schema.values = _find_type(schema.values, named_types)
            return [schema.values]
    return []


def _check_union(union: AvroUnion) -> None:
    seen: set[str] = set()
    for branch in union.branches:
        if isinstance(branch, AvroUnion):
            raise InvalidSchema(f"Nested union: {write_json(AvroDescription().describe(union))}")
        name = branch.name.full if isinstance(branch, NamedType) else branch.kind
        if name in seen:
            raise InvalidSchema(f"Duplicate in union:{name}")
        seen.add(name)
