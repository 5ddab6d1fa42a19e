"""A schema as a client sends it, to be registered, looked up or checked: the body of a request, after all checks of its types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .body_members import number_of, text_of, wrong_type
from .data_contracts import metadata_of, rule_set_of
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

    def as_stored(self, version: int, schema_id: int, *, deleted: bool = False, timestamp: int | None = None) -> StoredSchema:
        """Returns the version that is stored for this schema."""
        parts = self.text, self.type, self.references, self.metadata, self.rule_set
        return StoredSchema(self.subject, version, schema_id, *parts, deleted, timestamp)

    @classmethod
    def of(cls, subject: str, body: Mapping[str, Any]) -> Draft:
        """Returns the schema in the body of a request. Raises RegistryError for a member of another type."""
        references = [] if body.get("references") is None else body["references"]
        if not isinstance(references, list) or len(references) > MAX_REFERENCES:
            raise wrong_type("references", f"a list of at most {MAX_REFERENCES} references")
        return cls(
            subject,
            text_of(body, "schema") or "",
            text_of(body, "schemaType") or AVRO,
            tuple(map(_reference, references)),
            metadata_of(body, "metadata"),
            rule_set_of(body, "ruleSet"),
            number_of(body, "id", NO_ID),
            number_of(body, "version", NO_VERSION),
        )


def _reference(given: object) -> NamedReference:
    if not isinstance(given, dict):
        raise wrong_type("references", "a list of objects")
    name, subject = text_of(given, "name"), text_of(given, "subject")
    if name is None or subject is None or given.get("version") is None:
        shown = ", ".join(f"{each}={given.get(each)}" for each in ("name", "subject", "version"))
        raise RegistryError(42201, f"Invalid schema, details: Invalid reference: {{{shown}}}; give name, subject and version")
    return NamedReference(name, subject, number_of(given, "version", NO_VERSION))
