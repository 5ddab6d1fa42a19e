"""The common part of the languages of schemas: the interface of a parsed schema, references to other schemas, and limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

MAX_TEXT_LENGTH = 1_000_000
"""The longest schema in characters. Confluent's registry has nearly the same limit, because a record of `_schemas` may have 1 MiB."""

MAX_NESTING = 100
"""The deepest nesting of a schema. Confluent's limit of 1,000 is that of its JSON parser; Python's stack ends earlier."""

MAX_MESSAGES = 100
"""The largest number of incompatibilities that are listed for one pair of schemas."""

MAX_COMPARISONS = 40_000
"""The largest number of pairs of parts that are compared for one pair of schemas, because unions are compared each with each."""

MAX_PARTS = 1_000_000
"""The largest number of fields and items of decoded data by default, because some, such as null, need no bytes."""


class InvalidSchema(Exception):
    """The text is no valid schema (Confluent's error 42201). The message names the part that is wrong."""


class ComparisonTooLarge(Exception):
    """Two schemas need more than `MAX_COMPARISONS` comparisons."""


class Schema(Protocol):
    """A parsed schema. It is immutable."""

    @property
    def type(self) -> str:
        """Returns "AVRO", "JSON" or "PROTOBUF"."""

    @property
    def text(self) -> str:
        """Returns the text that the registry stores and returns (`canonicalString` of Confluent's ParsedSchema)."""

    def normal_text(self) -> str:
        """Returns a text that is the same for schemas which differ only in form, for `normalize=true`."""

    def in_format(self, schema_format: str) -> str:
        """Returns the text in the form of the parameter `format`. An unknown format gives `text`, as in Confluent's registry."""

    def find_incompatibilities(self, writer: Any) -> list[str]:
        """Returns why data of `writer`, a schema of the same type, cannot be read with this schema.

        The first `%s` of a message stands for the name of the reader, the second one for that of the writer.
        """


@dataclass(frozen=True)
class Reference:
    """A schema that another one names. `name` is a full name (Avro), a URI (JSON Schema) or the path of an import (Protobuf)."""

    name: str
    subject: str
    version: int
    schema: Schema
