"""The state of a registry: what the records of `_schemas` say, in the order in which they were written.

`apply` takes the records one after the other; everything else only reads. Its rules are those of Confluent's KafkaStoreMessageHandler and
InMemoryCache, so that the registry sees the same in a topic that another registry has written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .records import Json, StoredSchema
from .stored_records import InvalidRecord, read_association, read_config, read_fields, read_key, read_mode, read_schema
from .subjects import DEFAULT_CONTEXT, GLOBAL_CONTEXT, Subject, context_of, qualified_name

ContextId = tuple[str, int]
"""A context and the id of a schema in it."""


class SchemaIndex:
    """The schemas, configs, modes, contexts and associations."""

    def __init__(self) -> None:
        self.versions: dict[str, dict[int, StoredSchema]] = {}
        """The versions by subject, also those that are soft deleted."""
        self.contexts: dict[str, None] = {}
        self.configs: dict[str | None, Json] = {}
        self.modes: dict[str | None, str] = {}
        self.associations: dict[tuple[str, ...], Json] = {}
        self._subjects_by_id: dict[ContextId, dict[str, int]] = {}
        self._id_by_guid: dict[tuple[str, str], int] = {}
        self._referring: dict[tuple[str, int], dict[ContextId, None]] = {}
        self._max_ids: dict[str, int] = {}

    # Reading

    def version(self, subject: str, version: int) -> StoredSchema | None:
        """Returns a version of a subject, also one that is soft deleted."""
        return self.versions.get(subject, {}).get(version)

    def versions_from_latest(self, subject: str) -> list[StoredSchema]:
        """Returns all versions of a subject, the latest first."""
        return [schema for _, schema in sorted(self.versions.get(subject, {}).items(), reverse=True)]

    def latest(self, subject: str) -> StoredSchema | None:
        """Returns the latest version of a subject that is not deleted."""
        return next((schema for schema in self.versions_from_latest(subject) if not schema.deleted), None)

    def subjects_at(self, subject: str) -> Iterator[str]:
        """Yields a subject or, for the name of a context, its subjects."""
        given = Subject.parse(subject)
        if given.name:
            if subject in self.versions:
                yield subject
        else:
            yield from (each for each in self.versions if given.context in (GLOBAL_CONTEXT, context_of(each)))

    def has_subject(self, subject: str, *, deleted: bool) -> bool:
        """Returns whether a subject, or any of a context, has a version; with `deleted`, also one that is soft deleted."""
        return any(deleted or not schema.deleted for each in self.subjects_at(subject) for schema in self.versions[each].values())

    def subjects_of(self, context: str, schema_id: int) -> dict[str, int]:
        """Returns the subjects that have a schema, with the version of each, in the order of registration."""
        return self._subjects_by_id.get((context, schema_id), {})

    def by_id(self, context: str, schema_id: int) -> StoredSchema | None:
        """Returns a version with an id, None if no subject of the context has one."""
        for subject, version in self.subjects_of(context, schema_id).items():
            return self.version(subject, version)
        return None

    def id_of(self, context: str, guid: str) -> int | None:
        """Returns the id of the schema with a GUID in a context, None if none was registered."""
        schema_id = self._id_by_guid.get((context, guid))
        return schema_id if schema_id is not None and (context, schema_id) in self._subjects_by_id else None

    def referrers(self, subject: str, version: int) -> list[ContextId]:
        """Returns the ids of the schemas that refer to a version, also deleted ones, in order."""
        return sorted(self._referring.get((subject, version), ()))

    def max_id(self, context: str) -> int:
        """Returns the highest id that was used in a context, 0 if none was."""
        return self._max_ids.get(context, 0)

    # Records

    def apply(self, key: bytes | None, value: bytes | None, timestamp: int) -> None:
        """Takes a record of the topic. Raises InvalidRecord, and changes nothing, for one that no registry has written."""
        fields = read_key(key)
        keytype, subject = fields.get("keytype"), fields.get("subject")
        if keytype == "SCHEMA":
            self._apply_schema(fields, value, timestamp)
        elif keytype in ("CONFIG", "MODE"):
            self._apply_setting(keytype, subject, value)
        elif keytype == "CONTEXT":
            name = str(fields.get("context"))
            self.contexts.pop(name, None)
            if value is not None:
                self.contexts[name] = None
        elif keytype == "ASSOC":
            self._apply_association(fields, value, timestamp)
        elif keytype == "DELETE_SUBJECT" and value is not None:
            self._delete_subject(read_fields(value))
        elif keytype == "CLEAR_SUBJECT" and value is not None:
            self._clear_subject(str(subject or ""))
        elif keytype not in ("NOOP", "DELETE_SUBJECT", "CLEAR_SUBJECT"):
            raise InvalidRecord(f"unknown keytype {keytype!r}")

    def _apply_schema(self, key: Json, value: bytes | None, timestamp: int) -> None:
        try:
            subject, version = str(key["subject"]), int(key["version"])
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidRecord(f"a key of a SCHEMA lacks subject or version: {error!r}") from None
        schema = None if value is None else read_schema(value, timestamp)
        self._remove(subject, version)
        if schema is not None:
            is_other = (schema.subject, schema.version) != (subject, version)
            self._add(replace(schema, subject=subject, version=version) if is_other else schema)

    def _add(self, schema: StoredSchema) -> None:
        context = context_of(schema.subject)
        self.versions.setdefault(schema.subject, {})[schema.version] = schema
        self._subjects_by_id.setdefault((context, schema.id), {})[schema.subject] = schema.version
        self._id_by_guid[context, schema.guid] = schema.id
        self._max_ids[context] = max(self.max_id(context), schema.id)
        for reference in schema.references:
            referred = (qualified_name(reference.subject, schema.subject), reference.version)
            self._referring.setdefault(referred, {})[context, schema.id] = None

    def _remove(self, subject: str, version: int) -> None:
        """Forgets a version. The indexes forget its id, too, unless another version has it."""
        versions = self.versions.get(subject, {})
        schema = versions.pop(version, None)
        if schema is None:
            return
        if not versions:
            del self.versions[subject]
        key = (context_of(subject), schema.id)
        subjects = self._subjects_by_id.get(key, {})
        if subjects.get(subject) == version:
            del subjects[subject]
            older = [each.version for each in versions.values() if each.id == schema.id]
            if older:
                subjects[subject] = max(older)
        if not subjects:
            self._subjects_by_id.pop(key, None)
            for reference in schema.references:
                self._referring.get((qualified_name(reference.subject, subject), reference.version), {}).pop(key, None)

    def _apply_setting(self, keytype: str, subject: str | None, value: bytes | None) -> None:
        settings: dict[str | None, Json] | dict[str | None, str] = self.configs if keytype == "CONFIG" else self.modes
        if value is None:
            settings.pop(subject, None)
        elif keytype == "CONFIG":
            self.configs[subject] = read_config(value)
        else:
            self.modes[subject] = read_mode(value)

    def _apply_association(self, key: Json, value: bytes | None, timestamp: int) -> None:
        names = ("resourceName", "resourceNamespace", "resourceType", "associationType", "subject")
        place = tuple(str(key.get(name)) for name in names)
        association = None if value is None else read_association(value)
        before = self.associations.pop(place, None)
        if association is not None:
            created = timestamp if before is None else before["createTs"]
            self.associations[place] = association | {"createTs": created, "updateTs": timestamp}

    def _delete_subject(self, fields: Json) -> None:
        subject, last = str(fields.get("subject")), fields.get("version")
        for version, schema in self.versions.get(subject, {}).items():
            if isinstance(last, int) and version <= last and not schema.deleted:
                self.versions[subject][version] = replace(schema, deleted=True)

    def _clear_subject(self, subject: str) -> None:
        deleted = [schema for each in list(self.subjects_at(subject)) for schema in self.versions[each].values() if schema.deleted]
        for schema in deleted:
            self._remove(schema.subject, schema.version)

    # Settings

    def setting_places(self, subject: str | None) -> list[str | None]:
        """Returns where the config or mode of a subject may be set: the subject, its context, and the global context."""
        context = None if subject is None else context_of(subject)
        whole = None if context in (None, DEFAULT_CONTEXT) else f":{context}:"
        return list(dict.fromkeys((subject, whole, f":{GLOBAL_CONTEXT}:")))
