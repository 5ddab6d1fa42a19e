"""An Avro schema of the registry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..json_text import read_json, write_json
from ..schema import ComparisonTooLarge, InvalidSchema, Reference
from .compatibility import ROOT, AvroComparison
from .description import AvroDescription, NormalAvroDescription
from .parser import AvroParser
from .types import AvroType, NamedType


@dataclass(frozen=True, eq=False)
class AvroSchema:
    """A parsed schema. `root` is its type, in which references are resolved; `named_types` are all that a text can name."""

    root: AvroType
    text: str
    named_types: dict[str, NamedType]
    referenced: frozenset[str]
    """The full names of the types that references declare. They are not repeated in `text`."""
    type: str = "AVRO"

    def normal_text(self) -> str:
        return write_json(NormalAvroDescription(self.referenced).describe(self.root))

    def in_format(self, schema_format: str) -> str:
        return write_json(AvroDescription().describe(self.root)) if schema_format == "resolved" else self.text

    def find_incompatibilities(self, writer: AvroSchema) -> list[str]:
        try:
            return AvroComparison().compare(self.root, writer.root, ROOT)
        except ComparisonTooLarge:
            return ["Unexpected exception during compatibility check: the schemas contain too many pairs of types"]
        except ValueError as error:
            return [f"Unexpected exception during compatibility check: {error}"]


def parse_avro(text: str, references: Sequence[Reference]) -> AvroSchema:
    """Returns the schema of `text`. Raises `InvalidSchema`, also if two references declare a type differently."""
    parser = AvroParser()
    referenced: set[str] = set()
    for reference in references:
        if not isinstance(reference.schema, AvroSchema):
            raise InvalidSchema(f"The reference {reference.name} is not an Avro schema, but of type {reference.schema.type}")
        for named_type in reference.schema.named_types.values():
            parser.declare(named_type)
        referenced |= reference.schema.referenced
        if isinstance(reference.schema.root, NamedType):
            referenced.add(reference.schema.root.name.full)
    root = parser.parse(read_json(text))
    described = write_json(AvroDescription(referenced).describe(root))
    return AvroSchema(root, described, parser.named_types, frozenset(referenced))
