"""A Protobuf schema of the registry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..schema import MAX_TEXT_LENGTH, ComparisonTooLarge, InvalidSchema, Reference
from .compatibility import ProtoComparison, describe_difference
from .elements import ProtoFile
from .names import ProtoNames
from .normal_text import NormalProtoText
from .parser import parse_proto
from .text import ProtoText, ProtoTextWithoutExtensions

Dependencies = dict[str, tuple[ProtoFile, tuple[str, int] | None]]


@dataclass(frozen=True, eq=False)
class ProtobufSchema:
    """A parsed schema. `dependencies` are the files of its references by path, with those of their references.

    `is_described` says that it came as a serialized descriptor. That has no text of its own, so that its text is the normal one.
    """

    file: ProtoFile
    text: str
    dependencies: Dependencies
    names: ProtoNames
    is_described: bool
    type: str = "PROTOBUF"

    def normal_text(self) -> str:
        return NormalProtoText(self.names).write(self.file)

    def in_format(self, schema_format: str) -> str:
        match schema_format:
            case "serialized":
                from .descriptor_writer import serialize_file

                return serialize_file(self.file, self.names)
            case "ignore_extensions":
                return ProtoTextWithoutExtensions().write(self.file)
        return self.text

    def find_incompatibilities(self, writer: ProtobufSchema) -> list[str]:
        try:
            found = ProtoComparison(writer.names, self.names).compare_files(writer.file, self.file)
        except (ComparisonTooLarge, InvalidSchema):
            return ["Unexpected exception during compatibility check: the schemas contain too many pairs of messages"]
        return [describe_difference(difference) for difference in found]


def parse_protobuf(text: str, references: Sequence[Reference]) -> ProtobufSchema:
    """Returns the schema of `text`: a `.proto` file or, in base64, a FileDescriptorProto. Raises `InvalidSchema`."""
    dependencies: Dependencies = {}
    for reference in references:
        schema = reference.schema
        if not isinstance(schema, ProtobufSchema):
            raise InvalidSchema(f"The reference {reference.name} is not a Protobuf schema, but of type {schema.type}")
        indirect: Dependencies = {name: (file, None) for name, (file, _) in schema.dependencies.items()}
        dependencies = indirect | dependencies | {reference.name: (schema.file, (reference.subject, reference.version))}
    file, is_described = _parse_file(text)
    names = ProtoNames(file, dependencies)
    normal_text = NormalProtoText(names).write(file)  # resolves all names
    return ProtobufSchema(file, normal_text if is_described else ProtoText().write(file), dependencies, names, is_described)


def _parse_file(text: str) -> tuple[ProtoFile, bool]:
    """Returns a file and whether it was a descriptor."""
    try:
        return parse_proto(text), False
    except InvalidSchema as error:
        if len(text) > MAX_TEXT_LENGTH or any(char in text for char in "{;\n"):
            raise
        from .descriptor import read_descriptor

        try:
            return read_descriptor(text), True
        except InvalidSchema as descriptor_error:
            raise InvalidSchema(f"{error}; {descriptor_error}") from None
