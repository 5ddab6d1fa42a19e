"""A JSON Schema of the registry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..json_text import read_json, sort_keys, write_json
from ..schema import ComparisonTooLarge, InvalidSchema, Reference
from .compatibility import compare_json_schemas
from .differences import describe_difference
from .loader import load_json_schema
from .parts import JsonPart


@dataclass(frozen=True, eq=False)
class JsonSchema:
    """A parsed schema. `documents` are those of its references by name, with those of their references."""

    declared: Any
    text: str
    root: JsonPart
    documents: dict[str, Any]
    type: str = "JSON"

    def normal_text(self) -> str:
        return write_json(sort_keys(self.declared))

    def in_format(self, schema_format: str) -> str:  # noqa: ARG002 - Confluent's registry has no formats of JSON Schema either
        return self.text

    def find_incompatibilities(self, writer: JsonSchema) -> list[str]:
        try:
            return [describe_difference(difference) for difference in compare_json_schemas(writer.root, self.root)]
        except ComparisonTooLarge:
            return ["Unexpected exception during compatibility check: the schemas contain too many pairs of parts"]


def parse_json_schema(text: str, references: Sequence[Reference]) -> JsonSchema:
    """Returns the schema of `text`. Raises `InvalidSchema`, also if a `$ref` refers to nothing."""
    documents: dict[str, Any] = {}
    for reference in references:
        if not isinstance(reference.schema, JsonSchema):
            raise InvalidSchema(f"The reference {reference.name} is not a JSON Schema, but of type {reference.schema.type}")
        documents = reference.schema.documents | documents
        documents[reference.name] = reference.schema.declared
    declared = read_json(text, exact=True)
    return JsonSchema(declared, write_json(declared), load_json_schema(declared, documents), documents)
