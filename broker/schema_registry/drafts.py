"""A schema as a client sends it, to be registered, looked up or checked: the body of a request, after all checks of its types.

Types are read as Confluent's JSON mapper reads them: unknown members are ignored, and numbers may be texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import RegistryError
from .records import AVRO, Json, NamedReference, StoredSchema, guid_of

NO_ID, NO_VERSION = -1, 0
MAX_REFERENCES = 1000


@dataclass(frozen=True, slots=True)
class Draft:
    """A schema for a subject. Of a request, `id` and `version` are only used in the mode IMPORT; version -1 stands for the latest one."""

    subject: str
    text: str = ""
    type: str = AVRO
    references: tuple[NamedReference, ...] = ()
    metadata: Json | None = None
    rule_set: Json | None = None
    id: int = NO_ID
    version: int = NO_VERSION

    @property
    def is_empty(self) -> bool:
        """Whether the text is missing. Registering then takes that of the latest version."""
        return not self.text.strip()

    @property
    def guid(self) -> str:
        """The GUID of the schema."""
        return guid_of(self.text, self.references, self.metadata, self.rule_set)

    def as_stored(self, version: int, schema_id: int) -> StoredSchema:
        """Returns the version that is stored for this schema."""
        return StoredSchema(self.subject, version, schema_id, self.text, self.type, self.references, self.metadata, self.rule_set)

    @classmethod
    def of(cls, subject: str, body: Mapping[str, Any]) -> Draft:
        """Returns the schema in the body of a request. Raises RegistryError for a member of another type."""
        references = [] if body.get("references") is None else body["references"]
        if not isinstance(references, list) or len(references) > MAX_REFERENCES:
            raise _wrong_type("references", f"a list of at most {MAX_REFERENCES} references")
        return cls(
            subject,
            text_of(body, "schema") or "",
            text_of(body, "schemaType") or AVRO,
            tuple(map(_reference, references)),
            object_of(body, "metadata"),
            object_of(body, "ruleSet"),
            _number(body, "id", NO_ID),
            _number(body, "version", NO_VERSION),
        )


def text_of(body: Mapping[str, Any], name: str) -> str | None:
    """Returns a member that is a text, None if it is missing or null. Raises RegistryError for another type."""
    value = body.get(name)
    if isinstance(value, bool | int | float):  # which Jackson reads as a text
        return str(value).lower() if isinstance(value, bool) else str(value)
    if value is not None and not isinstance(value, str):
        raise _wrong_type(name, "a string")
    return value


def object_of(body: Mapping[str, Any], name: str) -> Json | None:
    """Returns a member that is an object, None if it is missing or null. Raises RegistryError for another type."""
    value = body.get(name)
    if value is not None and not isinstance(value, dict):
        raise _wrong_type(name, "an object")
    return value


def flag_of(body: Mapping[str, Any], name: str) -> bool | None:
    """Returns a member that is true or false, None if it is missing or null. Raises RegistryError for another type."""
    value = body.get(name)
    if value is None or isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return bool(value == "true")
    raise _wrong_type(name, "true or false")


def _number(body: Mapping[str, Any], name: str, default: int) -> int:
    value = body.get(name)
    if value is None:
        return default
    try:
        number = int(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None
    except (ValueError, OverflowError):
        number = None
    if number is None or not -(1 << 31) <= number < 1 << 31:
        raise _wrong_type(name, "an integer of 32 bits")
    return number


def _reference(given: object) -> NamedReference:
    if not isinstance(given, dict):
        raise _wrong_type("references", "a list of objects")
    name, subject = text_of(given, "name"), text_of(given, "subject")
    if name is None or subject is None or given.get("version") is None:
        shown = ", ".join(f"{each}={given.get(each)}" for each in ("name", "subject", "version"))
        raise RegistryError(42201, f"Invalid schema, details: Invalid reference: {{{shown}}}; give name, subject and version")
    return NamedReference(name, subject, _number(given, "version", NO_VERSION))


def _wrong_type(name: str, expected: str) -> RegistryError:
    return RegistryError(400, f"Cannot deserialize the request: {name} must be {expected}")
