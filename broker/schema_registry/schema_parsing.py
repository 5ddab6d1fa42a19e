"""Parses schemas with the versions that they refer to. The latest parsed schemas are kept, because parsing takes longer than all else."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import replace

from .drafts import Draft
from .errors import invalid_schema, schema_too_large
from .index import SchemaIndex
from .records import NamedReference, StoredSchema
from .schemas import SCHEMA_TYPES, InvalidSchema, Reference, Schema, parse_schema
from .schemas.schema import MAX_TEXT_LENGTH
from .subjects import context_of, qualified_name

MAX_KEPT = 500
MAX_KEPT_CHARACTERS = 4_000_000
"""The most characters of the texts of the schemas that are kept."""
MAX_REFERRED = 1000
"""The most references of one schema, with those of the schemas that it refers to."""

_Key = tuple[str, str, tuple[tuple[str, str], ...]]


class SchemaParser:
    """Parses drafts and stored schemas."""

    def __init__(self) -> None:
        self._kept: OrderedDict[_Key, Schema] = OrderedDict()
        self._characters = 0

    def parse_draft(self, draft: Draft, index: SchemaIndex, *, normalize: bool, as_new: bool) -> tuple[Draft, Schema]:
        """Returns a draft with its canonical text and the versions of its references, and its schema. Raises RegistryError.

        A schema that is parsed `as_new` may not refer to versions that are soft deleted.
        """
        if draft.type not in SCHEMA_TYPES:
            raise invalid_schema(f"Invalid schema type {draft.type}")
        if len(draft.text) > MAX_TEXT_LENGTH:
            raise schema_too_large()
        try:
            references = _Resolution(self, index, deleted=not as_new).resolve(draft.references, draft.subject)
            schema = self._parse(draft.type, draft.text, references)
            text = schema.normal_text() if normalize else schema.text
        except InvalidSchema as error:
            raise invalid_schema(f"Invalid schema of type {draft.type}, details: {error}") from None
        named = zip(references, draft.references, strict=True)
        versions = tuple(NamedReference(each.name, given.subject, each.version) for each, given in named)
        parsed = replace(draft, text=text, references=tuple(sorted(versions)) if normalize else versions)
        return (self._in_known_form(parsed, schema, index) if draft.type == "PROTOBUF" else parsed), schema

    def _in_known_form(self, draft: Draft, schema: Schema, index: SchemaIndex) -> Draft:
        """Returns a Protobuf schema with the text under which it is registered, because a descriptor and a text are one schema.

        A descriptor takes the text of the version of its subject that has the same normal form; a text takes its normal form, if that is
        registered, as it is for descriptors. In Confluent's registry, only `normalize=true` gives both one id.
        """
        from .schemas.protobuf.schema import ProtobufSchema

        context = context_of(draft.subject)
        if index.id_of(context, draft.guid) is not None or not isinstance(schema, ProtobufSchema):
            return draft
        if not schema.is_described:
            normal = replace(draft, text=schema.normal_text())
            return draft if index.id_of(context, normal.guid) is None else normal
        for stored in index.versions_from_latest(draft.subject):
            if stored.type == draft.type and self.parse_stored(stored, index).normal_text() == draft.text:
                return replace(draft, text=stored.text)
        return draft

    def parse_stored(self, stored: StoredSchema, index: SchemaIndex) -> Schema:
        """Returns the schema of a version. Raises RegistryError if another registry has stored an invalid one."""
        try:
            references = _Resolution(self, index, deleted=True).resolve(stored.references, stored.subject)
            return self._parse(stored.type, stored.text, references)
        except InvalidSchema as error:
            raise invalid_schema(f"Invalid schema of type {stored.type}, details: {error}") from None

    def _parse(self, schema_type: str, text: str, references: list[Reference]) -> Schema:
        key = (schema_type, text, tuple((each.name, each.schema.text) for each in references))
        schema = self._kept.get(key)
        if schema is None:
            schema = parse_schema(schema_type, text, references)
            self._keep(key, schema)
        else:
            self._kept.move_to_end(key)
        return schema

    def _keep(self, key: _Key, schema: Schema) -> None:
        self._kept[key] = schema
        self._characters += len(key[1])
        while len(self._kept) > MAX_KEPT or self._characters > MAX_KEPT_CHARACTERS:
            (_, text, _), _ = self._kept.popitem(last=False)
            self._characters -= len(text)


class _Resolution:
    """Finds the schemas that one schema refers to. With `deleted`, they may be soft deleted."""

    def __init__(self, parser: SchemaParser, index: SchemaIndex, *, deleted: bool) -> None:
        self._parser = parser
        self._index = index
        self._deleted = deleted
        self._left = MAX_REFERRED
        self._open: set[tuple[str, int]] = set()

    def resolve(self, references: Iterable[NamedReference], parent: str) -> list[Reference]:
        """Returns the references of a schema of the subject `parent` with their schemas. Raises InvalidSchema."""
        return [self._resolve(reference, parent) for reference in references]

    def _resolve(self, reference: NamedReference, parent: str) -> Reference:
        subject = qualified_name(reference.subject, parent)
        index = self._index
        stored = index.latest(subject) if reference.version == -1 else index.version(subject, reference.version)
        if stored is None or (stored.deleted and not self._deleted):
            raise InvalidSchema(f'No schema reference found for subject "{subject}" and version {reference.version}')
        place = (stored.subject, stored.version)
        if place in self._open:
            raise InvalidSchema(f"version {stored.version} of the subject {stored.subject} refers to itself")
        self._left -= 1
        if self._left < 0:
            raise InvalidSchema(f"the schema and those that it refers to have more than {MAX_REFERRED} references")
        self._open.add(place)
        nested = self.resolve(stored.references, stored.subject)
        self._open.discard(place)
        schema = self._parser._parse(stored.type, stored.text, nested)  # noqa: SLF001  (a part of the parser)
        return Reference(reference.name, stored.subject, stored.version, schema)
