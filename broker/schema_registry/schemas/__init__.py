"""The languages of schemas: parsing, canonical text, and the rules of compatibility. The package does no I/O and knows no registry.

Each language is a folder, which is imported when its first schema is parsed.
"""

from __future__ import annotations

from collections.abc import Sequence

from .schema import InvalidSchema, Reference, Schema

__all__ = ["SCHEMA_TYPES", "InvalidSchema", "Reference", "Schema", "find_incompatibilities", "parse_schema"]

SCHEMA_TYPES = ("JSON", "PROTOBUF", "AVRO")
"""The types in the order in which `GET /schemas/types` of Confluent's registry lists them."""


def parse_schema(schema_type: str, text: str, references: Sequence[Reference] = ()) -> Schema:
    """Returns the schema that `text` declares. Raises `InvalidSchema` if it is malformed, too large or too deep.

    `references` are the schemas that the text may name, in the order of the request; those that they refer to themselves come with them.
    """
    if schema_type == "AVRO":
        from .avro.schema import parse_avro

        return parse_avro(text, references)
    if schema_type == "JSON":
        from .json_schema.schema import parse_json_schema

        return parse_json_schema(text, references)
    if schema_type == "PROTOBUF":
        from .protobuf.schema import parse_protobuf

        return parse_protobuf(text, references)
    raise InvalidSchema(f"Invalid schema type {schema_type}")


def find_incompatibilities(reader: Schema, writer: Schema, *, reader_name: str = "new", writer_name: str = "old") -> list[str]:
    """Returns why data of `writer` cannot be read with `reader`, in the words of Confluent's verbose answer; [] if it can be read.

    `reader_name` and `writer_name` are what the messages call the two schemas: "new" and "old", or the reverse.
    """
    if reader.type != writer.type:
        return ["Incompatible because of different schema type"]
    messages = reader.find_incompatibilities(writer)
    return [message.replace("%s", reader_name, 1).replace("%s", writer_name, 1) for message in messages]
