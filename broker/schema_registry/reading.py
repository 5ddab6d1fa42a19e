"""Reading a registry: subjects, versions, and schemas by id and GUID."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple
from uuid import UUID

from .errors import invalid_version, schema_not_found, subject_not_found, version_not_found
from .index import ContextId, SchemaIndex
from .records import StoredSchema
from .schema_parsing import SchemaParser
from .schema_topic import SchemaTopic
from .subjects import DEFAULT_CONTEXT, Subject, context_of, normal_name, qualified_name

LATEST = -1
_MAX_VERSION = (1 << 31) - 1


class Deleted(NamedTuple):
    """Which versions a list has, besides or instead of those that are not soft deleted."""

    included: bool = False
    only: bool = False

    def shows(self, *, deleted: bool) -> bool:
        """Returns whether the list has a version, or a subject, in this state."""
        return deleted if self.only else self.included or not deleted


class SchemaReader:
    """Finds subjects and schemas. A subject of the default context that does not exist is looked for in the other contexts."""

    def __init__(self, topic: SchemaTopic, parser: SchemaParser) -> None:
        self._topic = topic
        self._parser = parser

    @property
    def _index(self) -> SchemaIndex:
        return self._topic.index

    def contexts(self) -> list[str]:
        """Returns the contexts, the default one first."""
        return [DEFAULT_CONTEXT, *sorted(self._index.contexts)]

    def subjects(self, prefix: str, deleted: Deleted) -> list[str]:
        """Returns the subjects whose names begin with a prefix, in order. `:*:` stands for all contexts."""
        shown = ((subject, all(each.deleted for each in versions.values())) for subject, versions in self._with_prefix(prefix))
        return sorted(subject for subject, is_deleted in shown if deleted.shows(deleted=is_deleted))

    def schemas(self, prefix: str, deleted: Deleted, *, latest_only: bool) -> list[StoredSchema]:
        """Returns the versions of the subjects whose names begin with a prefix, in order."""
        found: list[StoredSchema] = []
        for _, versions in sorted(self._with_prefix(prefix)):
            shown = [schema for _, schema in sorted(versions.items()) if deleted.shows(deleted=schema.deleted)]
            found += shown[-1:] if latest_only else shown
        return found

    def _with_prefix(self, prefix: str) -> Iterator[tuple[str, dict[int, StoredSchema]]]:
        wanted = Subject.parse(prefix)
        for subject, versions in self._index.versions.items():
            given = Subject.parse(subject)
            if wanted.context in ("*", given.context) and given.name.startswith(wanted.name):
                yield subject, versions

    def versions(self, subject: str, deleted: Deleted, *, as_negative: bool = False) -> list[int]:
        """Returns the versions of a subject, those that are deleted `as_negative` numbers if that is asked for. Raises RegistryError."""
        subject = normal_name(subject)
        if not self._index.has_subject(subject, deleted=deleted.included or deleted.only):
            raise subject_not_found(subject)
        versions = sorted(self._index.versions.get(subject, {}).items())
        if as_negative:
            return [-number if schema.deleted else number for number, schema in versions]
        return [number for number, schema in versions if deleted.shows(deleted=schema.deleted)]

    def find(self, subject: str, version: int, *, deleted: bool = False) -> StoredSchema | None:
        """Returns a version of a subject, None if there is none; LATEST is the latest one that is not deleted."""
        if version == LATEST:
            return self._index.latest(subject)
        found = self._index.version(subject, version)
        return None if found is None or (found.deleted and not deleted) else found

    def version(self, subject: str, version: str, *, deleted: bool = False) -> StoredSchema:
        """Returns a version of a subject. Raises RegistryError if there is none."""
        subject, number = normal_name(subject), parse_version(version)
        found = self.find(subject, number, deleted=deleted)
        if found is None and context_of(subject) == DEFAULT_CONTEXT:
            others = (self.find(str(Subject(context, subject)), number, deleted=deleted) for context in self.contexts()[1:])
            found = next(filter(None, others), None)
        if found is not None:
            return found
        if self._index.has_subject(subject, deleted=deleted):
            raise version_not_found(number)
        raise subject_not_found(subject)

    def size(self, subject: str) -> int:
        """Returns the number of characters of all versions of a subject."""
        return sum(len(schema.text) for schema in self._index.versions.get(normal_name(subject), {}).values())

    def latest_with_metadata(self, subject: str, properties: dict[str, str], *, deleted: bool) -> StoredSchema:
        """Returns the latest version of a subject whose metadata has these properties. Raises RegistryError if there is none."""
        subject = normal_name(subject)
        for schema in self._index.versions_from_latest(subject):
            given = (schema.metadata or {}).get("properties")
            if (deleted or not schema.deleted) and given is not None and properties.items() <= given.items():
                return schema
        if self._index.has_subject(subject, deleted=deleted):
            raise schema_not_found()
        raise subject_not_found(subject)

    def by_id(self, schema_id: int, subject: str | None) -> StoredSchema:
        """Returns the schema with an id, of a subject or context if one is given. Raises RegistryError if there is none."""
        found = self._find_id(schema_id, Subject.parse(subject or ""))
        if found is None:
            raise schema_not_found(schema_id)
        return found

    def _find_id(self, schema_id: int, subject: Subject) -> StoredSchema | None:
        index = self._index
        if not subject.name:
            return index.by_id(subject.context, schema_id)
        contexts = [subject.context] if subject.context != DEFAULT_CONTEXT else self.contexts()
        for context in contexts:
            name = str(Subject(context, subject.name))
            version = index.subjects_of(context, schema_id).get(name)
            if version is not None:
                return index.version(name, version)
        return index.by_id(DEFAULT_CONTEXT, schema_id) if subject.context == DEFAULT_CONTEXT else None

    def versions_of_id(self, schema_id: int, subject: str | None, *, deleted: bool) -> list[StoredSchema]:
        """Returns the versions that have an id, one for each subject. Raises RegistryError for an unknown id."""
        found = self._find_id(schema_id, Subject.parse(subject or ""))
        if found is None:
            raise schema_not_found()
        places = self._index.subjects_of(context_of(found.subject), schema_id)
        versions = (self._index.version(each, version) for each, version in places.items())
        return [schema for schema in versions if schema is not None and (deleted or not schema.deleted)]

    def max_id(self, schema: StoredSchema) -> int:
        """Returns the highest id of the context of a schema."""
        return self._index.max_id(context_of(schema.subject))

    def ids_of_guid(self, guid: str) -> list[ContextId]:
        """Returns the contexts in which a schema is registered, with its id in each."""
        try:
            wanted = str(UUID(guid))
        except ValueError:
            return []
        found = ((context, self._index.id_of(context, wanted)) for context in self.contexts())
        return [(context, schema_id) for context, schema_id in found if schema_id is not None]

    def by_guid(self, guid: str) -> StoredSchema:
        """Returns the schema with a GUID. Raises RegistryError if there is none."""
        for context, schema_id in self.ids_of_guid(guid):
            if (found := self._index.by_id(context, schema_id)) is not None:
                return found
        raise schema_not_found(guid)

    def referring_ids(self, subject: str, version: str, *, deleted: bool) -> list[int]:
        """Returns the ids of the schemas that refer to a version. Raises RegistryError if the version does not exist."""
        found = self.version(subject, version, deleted=True)
        return [
            schema_id
            for context, schema_id in self._index.referrers(found.subject, found.version)
            if deleted or self._is_alive(context, schema_id)
        ]

    def _is_alive(self, context: str, schema_id: int) -> bool:
        versions = (self._index.version(*place) for place in self._index.subjects_of(context, schema_id).items())
        return any(schema is not None and not schema.deleted for schema in versions)

    def in_format(self, schema: StoredSchema, schema_format: str) -> StoredSchema:
        """Returns a version with its text in a format, such as "resolved"; without one, as it is."""
        if not schema_format.strip():
            return schema
        return replace(schema, text=self._parser.parse_stored(schema, self._index).in_format(schema_format))


def with_qualified_references(schema: StoredSchema) -> StoredSchema:
    """Returns a version whose references name the contexts of their subjects, unless it is in the default context."""
    if context_of(schema.subject) == DEFAULT_CONTEXT:
        return schema
    references = (each._replace(subject=qualified_name(each.subject, schema.subject)) for each in schema.references)
    return replace(schema, references=tuple(references))


def parse_version(text: str) -> int:
    """Returns the number of a version, LATEST for "latest" and -1. Raises RegistryError for another text."""
    given = text.strip().lower()
    if given == "latest":
        return LATEST
    digits = given.removeprefix("-").removeprefix("+")
    if not digits.isascii() or not digits.isdigit() or len(digits) > 10:
        raise invalid_version(text)
    number = int(given)
    if number != LATEST and not 0 < number <= _MAX_VERSION:
        raise invalid_version(text if number > _MAX_VERSION else str(number))
    return number
