"""Turns a JSON Schema into parts, with the checks of the libraries that Confluent's registry uses (everit and json-sKema)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from ..schema import InvalidSchema
from .documents import JsonDocuments, Place
from .parts import ArrayPart, CombinedPart, JsonPart, NotPart, NumberPart, ObjectPart, ReferencePart

MAX_PATTERN_LENGTH = 10_000

NUMBER_KEYWORDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
STRING_KEYWORDS = ("minLength", "maxLength", "pattern")
OBJECT_KEYWORDS = ("properties", "required", "minProperties", "maxProperties", "patternProperties", "additionalProperties")
ARRAY_KEYWORDS = ("items", "minItems", "maxItems", "uniqueItems")
CONDITIONAL_KEYWORDS = ("if", "then", "else")
MEMBERS = ("properties", "patternProperties")
"""Keywords that the modern drafts' library takes for absent if they are empty."""
COMBINING_KEYWORDS = ("oneOf", "anyOf", "allOf")
NAMES_OF_TYPES = {dict: "JsonObject", list: "JsonArray", str: "String", bool: "Boolean", int: "Integer", Decimal: "BigDecimal"}
DRAFTS = {
    "json-schema.org/draft-04/schema": 4,
    "json-schema.org/schema": 4,
    "json-schema.org/draft-06/schema": 6,
    "json-schema.org/draft-07/schema": 7,
    "json-schema.org/draft/2019-09/schema": 2019,
    "json-schema.org/draft/2020-12/schema": 2020,
}
Path = tuple[str, ...]


def draft_of(declared: Any) -> int:
    """Returns the number or the year of the draft that `$schema` names; 7 if it names none."""
    uri = declared.get("$schema") if isinstance(declared, dict) else None
    return DRAFTS.get(uri.removesuffix("#").rpartition("://")[2], 7) if isinstance(uri, str) else 7


def load_json_schema(declared: Any, referenced: Mapping[str, Any]) -> JsonPart:
    """Returns the parts of a schema. `referenced` are the documents that it may refer to, by name. Raises `InvalidSchema`."""
    if not isinstance(declared, dict | bool):
        raise InvalidSchema(f"a JSON Schema must be an object or a boolean, but this is a {_name_of_type(declared)}")
    draft = draft_of(declared)
    documents = JsonDocuments(declared, referenced, "id" if draft == 4 else "$id")
    return JsonSchemaLoader(documents, draft).load_all()


class JsonSchemaLoader:
    """Loads the parts of one schema. References are followed when the schema that contains them is complete, each target once."""

    def __init__(self, documents: JsonDocuments, draft: int) -> None:
        self._documents = documents
        self._is_modern = draft >= 2019
        self._draft = draft
        self._references: list[tuple[ReferencePart, Place]] = []
        self._targets: dict[int, JsonPart] = {}
        """The parts of referenced schemas by the identity of what declares them."""

    def load_all(self) -> JsonPart:
        """Returns the part of the root, with the targets of all references."""
        # json-sKema, which reads the modern drafts, resolves "#" to the root itself, and everit to a copy: messages show which.
        root = self._load_target(self._documents.root) if self._is_modern else self._load(self._documents.root, ())
        pending = []
        while self._references:
            part, place = self._references.pop()
            found = self._documents.find(part.keywords["$ref"], place)
            part.target = self._load_target(found)
            pending.append(part)
        for part in pending:
            _skip_references(part)
        return _skip_references(root)

    def _load_target(self, place: Place) -> JsonPart:
        if id(place.declared) not in self._targets:
            self._targets[id(place.declared)] = self._load(place, ())
        return self._targets[id(place.declared)]

    def _load(self, place: Place, path: Path) -> JsonPart:
        """Returns the part for the schema at `place`, whose path in the document is for messages."""
        declared = place.declared
        if isinstance(declared, bool):
            return JsonPart("any" if declared else "none", declared)
        _require(declared, dict, path)
        if "$ref" in declared and not self._is_modern:
            return self._load_reference(declared, place, path)
        parts = self._load_parts(Place(declared, self._documents.base_of(declared, place.base), place.document), path)
        part = parts[0] if len(parts) == 1 else CombinedPart("combined", declared, "allOf", parts) if parts else JsonPart("any", declared)
        part.connect_type = declared.get("connect.type")
        if isinstance(part, ArrayPart) and not self._is_modern:
            part.min_contains, part.max_contains = (declared.get(keyword) for keyword in ("minContains", "maxContains"))
        return part

    def _load_reference(self, declared: dict[str, Any], place: Place, path: Path) -> JsonPart:
        _require(declared["$ref"], str, (*path, "$ref"))
        part = ReferencePart("reference", declared)
        self._references.append((part, place))
        return part

    def _load_parts(self, place: Place, path: Path) -> list[JsonPart]:
        declared = place.declared
        parts: list[JsonPart] = [self._load_reference(declared, place, path)] if "$ref" in declared else []
        if "enum" in declared:
            _require(declared["enum"], list, (*path, "enum"))
            parts.append(JsonPart("enum", declared))
        for keyword in COMBINING_KEYWORDS:
            if keyword in declared:
                parts.append(CombinedPart("combined", declared, keyword, self._load_list(place, keyword, path)))
        if "not" in declared:
            parts.append(NotPart("not", declared, self._load_child(place, declared["not"], (*path, "not"))))
        if "const" in declared and self._draft > 4:
            parts.append(JsonPart("const", declared))
        types = declared.get("type", [])
        typed = []
        for name in types if isinstance(types, list) else [types]:
            typed.append(self._load_type(_require(name, str, (*path, "type")), place, path))
        if isinstance(declared.get("type"), list):
            parts.append(CombinedPart("combined", declared, "anyOf", typed))
        else:
            parts += typed
        return parts + self._load_untyped(place, path, {part.kind for part in typed})

    def _load_type(self, name: str, place: Place, path: Path) -> JsonPart:
        match name:
            case "string":
                return self._load_string(place, path)
            case "integer" | "number":
                return self._load_number(place, path, is_integer=name == "integer")
            case "boolean" | "null":
                return JsonPart(name, place.declared)
            case "array":
                return self._load_array(place, path)
            case "object":
                return self._load_object(place, path)
        raise InvalidSchema(f"{_pointer(path)}: unknown type: [{name}]")

    def _load_untyped(self, place: Place, path: Path, kinds: set[str]) -> list[JsonPart]:
        """Returns the parts for keywords of kinds that `type` does not name."""
        present = {keyword for keyword, value in place.declared.items() if not (self._is_modern and value == {} and keyword in MEMBERS)}
        parts = []
        if "array" not in kinds and not present.isdisjoint(self._array_keywords()):
            parts.append(self._load_array(place, path))
        if "object" not in kinds and not present.isdisjoint(self._object_keywords()):
            parts.append(self._load_object(place, path))
        if "number" not in kinds and not present.isdisjoint(NUMBER_KEYWORDS):
            parts.append(self._load_number(place, path, is_integer=False))
        if "string" not in kinds and not present.isdisjoint(STRING_KEYWORDS if self._is_modern else (*STRING_KEYWORDS, "format")):
            parts.append(self._load_string(place, path))
        if self._draft >= 7 and not present.isdisjoint(CONDITIONAL_KEYWORDS):
            parts.append(self._load_conditional(place, path))
        return parts

    def _object_keywords(self) -> tuple[str, ...]:
        if self._is_modern:
            return (*OBJECT_KEYWORDS, "propertyNames", "dependentRequired", "dependentSchemas", "unevaluatedProperties")
        return (*OBJECT_KEYWORDS, "dependencies") if self._draft == 4 else (*OBJECT_KEYWORDS, "dependencies", "propertyNames")

    def _array_keywords(self) -> tuple[str, ...]:
        if self._is_modern:
            return (*ARRAY_KEYWORDS, "prefixItems", "contains", "unevaluatedItems")
        return (*ARRAY_KEYWORDS, "additionalItems") if self._draft == 4 else (*ARRAY_KEYWORDS, "additionalItems", "contains")

    def _load_string(self, place: Place, path: Path) -> JsonPart:
        _check_keywords(place.declared, int, ("minLength", "maxLength"), path)
        pattern = place.declared.get("pattern")
        if pattern is not None:
            check_pattern(_require(pattern, str, (*path, "pattern")), path)
        return JsonPart("string", place.declared)

    def _load_number(self, place: Place, path: Path, *, is_integer: bool) -> JsonPart:
        limits = ("exclusiveMinimum", "exclusiveMaximum")
        _check_keywords(place.declared, (int, Decimal), ("minimum", "maximum", "multipleOf"), path)
        _check_keywords(place.declared, bool if self._draft == 4 else (int, Decimal), limits, path)
        if place.declared.get("multipleOf") == 0:
            raise InvalidSchema(f"{_pointer(path)}: multipleOf should not be 0")
        return NumberPart("number", place.declared, is_integer)

    def _load_object(self, place: Place, path: Path) -> JsonPart:
        declared = place.declared
        _check_keywords(declared, int, ("minProperties", "maxProperties"), path)
        for name in _require(declared.get("required", []), list, (*path, "required")):
            _require(name, str, (*path, "required"))
        patterns = self._load_members(place, "patternProperties", path)
        for pattern in patterns:
            check_pattern(pattern, (*path, "patternProperties"))
        if "propertyNames" in declared and self._draft > 4:
            self._load_child(place, declared["propertyNames"], (*path, "propertyNames"))
        arrays, schemas = self._load_dependencies(place, path)
        return ObjectPart(
            "object",
            declared,
            properties=self._load_members(place, "properties", path),
            patterns=patterns,
            additional=self._load_additional(place, "additionalProperties", path),
            unevaluated=self._load_modern(place, "unevaluatedProperties", path),
            required=frozenset(declared.get("required", [])),
            property_dependencies=arrays,
            schema_dependencies=schemas,
        )

    def _load_dependencies(self, place: Place, path: Path) -> tuple[dict[str, frozenset[str]], dict[str, JsonPart]]:
        """Returns the properties, and the schemas, that the presence of a property demands."""
        if self._is_modern:
            names = _require(place.declared.get("dependentRequired", {}), dict, (*path, "dependentRequired"))
            schemas = self._load_members(place, "dependentSchemas", path)
        else:
            both = _require(place.declared.get("dependencies", {}), dict, (*path, "dependencies"))
            names = {name: value for name, value in both.items() if isinstance(value, list)}
            schemas = {
                name: self._load_child(place, value, (*path, "dependencies", name)) for name, value in both.items() if name not in names
            }
        for name, demanded in names.items():
            for other in _require(demanded, list, (*path, name)):
                _require(other, str, (*path, name))
        return {name: frozenset(demanded) for name, demanded in names.items() if demanded}, schemas

    def _load_array(self, place: Place, path: Path) -> JsonPart:
        declared = place.declared
        _check_keywords(declared, int, ("minItems", "maxItems"), path)
        _check_keywords(declared, bool, ("uniqueItems",), path)
        contains = "contains" in declared and self._draft > 4
        if contains:
            self._load_child(place, declared["contains"], (*path, "contains"))
        tuple_keyword = "prefixItems" if self._is_modern else "items"
        rest_keyword = "items" if self._is_modern else "additionalItems"
        first_items = self._load_list(place, tuple_keyword, path) if isinstance(declared.get(tuple_keyword), list) else []
        items, additional = None, self._load_additional(place, rest_keyword, path)
        if not self._is_modern and "items" in declared and not isinstance(declared["items"], list):
            _require(declared["items"], dict if self._draft == 4 else (dict, bool), (*path, "items"))
            items = self._load_child(place, declared["items"], (*path, "items"))
        elif self._is_modern and not first_items and isinstance(additional, JsonPart):
            items, additional = additional, True
        return ArrayPart(
            "array",
            declared,
            items,
            first_items,
            additional,
            self._load_modern(place, "unevaluatedItems", path),
            min_contains=declared.get("minContains") if contains and self._is_modern else None,
            max_contains=declared.get("maxContains") if contains and self._is_modern else None,
        )

    def _load_conditional(self, place: Place, path: Path) -> JsonPart:
        for keyword in CONDITIONAL_KEYWORDS:
            if keyword in place.declared:
                self._load_child(place, place.declared[keyword], (*path, keyword))
        return JsonPart("conditional", place.declared)

    def _load_additional(self, place: Place, keyword: str, path: Path) -> JsonPart | bool:
        declared = place.declared.get(keyword, True)
        return declared if isinstance(declared, bool) else self._load_child(place, declared, (*path, keyword))

    def _load_modern(self, place: Place, keyword: str, path: Path) -> JsonPart | None:
        if not self._is_modern or keyword not in place.declared:
            return None
        return self._load_child(place, place.declared[keyword], (*path, keyword))

    def _load_members(self, place: Place, keyword: str, path: Path) -> dict[str, JsonPart]:
        members = _require(place.declared.get(keyword, {}), dict, (*path, keyword))
        return {name: self._load_child(place, value, (*path, keyword, name)) for name, value in members.items()}

    def _load_list(self, place: Place, keyword: str, path: Path) -> list[JsonPart]:
        elements = _require(place.declared[keyword], list, (*path, keyword))
        return [self._load_child(place, value, (*path, keyword, str(index))) for index, value in enumerate(elements)]

    def _load_child(self, place: Place, declared: Any, path: Path) -> JsonPart:
        return self._load(Place(declared, place.base, place.document), path)


def _skip_references(part: JsonPart) -> JsonPart:
    """Returns the first part that is no reference, and makes it the target of those before it. Raises `InvalidSchema` if there is none."""
    skipped: dict[int, ReferencePart] = {}
    while isinstance(part, ReferencePart) and part.target:
        if id(part) in skipped:
            raise InvalidSchema(f"the $ref {part.keywords['$ref']} refers to itself")
        skipped[id(part)] = part
        part = part.target
    for reference in skipped.values():
        reference.target = part
    return part


def check_pattern(pattern: str, path: Path) -> None:
    """Raises `InvalidSchema` if `pattern` is no regular expression."""
    if len(pattern) > MAX_PATTERN_LENGTH:
        raise InvalidSchema(f"{_pointer(path)}: a pattern has {len(pattern)} characters, but at most {MAX_PATTERN_LENGTH} are allowed")
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise InvalidSchema(f"{_pointer(path)}: the pattern {pattern} is no regular expression: {error}") from None


def _check_keywords(declared: dict[str, Any], expected: type | tuple[type, ...], keywords: tuple[str, ...], path: Path) -> None:
    for keyword in keywords:
        if keyword in declared:
            _require(declared[keyword], expected, (*path, keyword))


def _require(value: Any, expected: type | tuple[type, ...], path: Path) -> Any:
    """Returns `value`, or raises `InvalidSchema` if it has another type."""
    types = expected if isinstance(expected, tuple) else (expected,)
    if type(value) in types:
        return value
    names = " or ".join(NAMES_OF_TYPES[one] for one in types)
    raise InvalidSchema(f"{_pointer(path)}: expected type: {names}, found: {_name_of_type(value)}")


def _name_of_type(value: Any) -> str:
    return NAMES_OF_TYPES.get(type(value), "Null")


def _pointer(path: Path) -> str:
    return "/".join(("#", *path))
