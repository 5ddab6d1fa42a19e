"""The rules of a schema registry: registering schemas, looking them up, and checking their compatibility.

They are those of Confluent's KafkaSchemaRegistry and AbstractSchemaRegistry, whose order of checks decides which error a client sees.
Methods read the index and write records to the topic, which `SchemaTopic.commit` appends; they do no I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..settings.schema_registry import RegistrySettings
from .associations import Associations
from .compatibility import CompatibilityLevel, compare_with_versions
from .data_contracts import check_rule_names
from .deletion import Deletion
from .drafts import NO_ID, NO_VERSION, Draft
from .errors import (
    incompatible_schema,
    invalid_schema,
    invalid_subject,
    not_permitted,
    schema_not_found,
    subject_not_found,
    version_not_found,
)
from .index import SchemaIndex
from .merging import CONFLUENT_VERSION, merge_metadata, merge_rule_sets, with_version, without_version
from .reading import SchemaReader, parse_version
from .records import Json, StoredSchema, context_record, schema_record, schema_tombstone
from .schema_parsing import SchemaParser
from .schema_topic import SchemaTopic
from .schemas import Schema
from .scoped_settings import FORWARD, IMPORT, READWRITE, ScopedSettings
from .subjects import DEFAULT_CONTEXT, Subject, context_of, is_valid_subject, normal_name, prefix_of, qualified_name


class SchemaRegistry:
    """A registry whose schemas are in a topic. Before each request, `topic.catch_up` has to be called, and `topic.commit` after it."""

    def __init__(self, topic: SchemaTopic, settings: RegistrySettings) -> None:
        self.topic = topic
        self.settings = ScopedSettings(topic, settings)
        self.parser = SchemaParser()
        self.reader = SchemaReader(topic, self.parser)
        self.deletion = Deletion(topic, self.settings)
        self.associations = Associations(topic, lambda subject, schema: self.register(Draft.of(subject, schema)))

    @property
    def index(self) -> SchemaIndex:
        """The state of the registry."""
        return self.topic.index

    # Registering

    def register(self, draft: Draft, *, normalize: bool = False, force: bool = False) -> StoredSchema:
        """Returns the version of the subject that has a schema; registers it if there is none. Raises RegistryError.

        With `force`, the compatibility is not checked.
        """
        check_rule_names(draft.rule_set)
        if not is_valid_subject(draft.subject):
            raise invalid_subject(draft.subject)
        if (subject := normal_name(draft.subject)) != draft.subject:
            draft = replace(draft, subject=subject)
        config = self.settings.config_in_scope(draft.subject)
        normalize = normalize or bool(config.get("normalize"))
        return self._find_registered(draft, config, normalize) or self._add(draft, config, normalize, force)

    def _find_registered(self, draft: Draft, config: Json, normalize: bool) -> StoredSchema | None:
        """Returns the version that a request to register names, None if there is none or the config would change the schema."""
        if any(config.get(name) for name in ("defaultMetadata", "overrideMetadata", "defaultRuleSet", "overrideRuleSet")):
            return None
        found = self._find(draft, normalize=normalize, deleted=False, latest_only=draft.version == -1)
        if found is None or (draft.version <= 0 and draft.id in (NO_ID, found.id)):
            return found
        same = self.index.version(draft.subject, draft.version)
        return same if same is not None and not same.deleted and same.id == found.id == draft.id else None

    def _add(self, draft: Draft, config: Json, normalize: bool, force: bool) -> StoredSchema:
        mode = self.settings.mode_in_scope(draft.subject)
        self._check_mode(draft, mode)
        versions = self.index.versions_from_latest(draft.subject)
        alive = [each for each in versions if not each.deleted]
        next_version = versions[0].version + 1 if versions else 1
        imports = mode in (IMPORT, FORWARD)
        if not imports:
            draft = _complete(draft, config, alive[0] if alive else None, next_version)
        if draft.is_empty:
            raise invalid_schema("Empty schema")
        as_new = draft.id < 0 and _validates_new(config)
        draft, schema = self.parser.parse_draft(draft, self.index, normalize=normalize and not imports, as_new=as_new)
        schema_id = self._id_of(draft)
        if draft.version == NO_VERSION and (found := self._among(draft, alive, schema_id)) is not None:
            return found
        if not imports and not force:
            self._check_compatibility(draft, schema, alive)
        version = next_version if draft.version <= 0 else draft.version
        if version != next_version and not imports:
            raise invalid_schema("Version is not one more than previous version")
        return self._write(draft, version, schema_id, versions)

    def _check_mode(self, draft: Draft, mode: str) -> None:
        """Raises RegistryError if the mode of the subject forbids to register the schema."""
        self.settings.check_writable(draft.subject)
        context = prefix_of(context_of(draft.subject))
        if draft.id >= 0 and mode not in (IMPORT, FORWARD):
            raise not_permitted(f"Subject {draft.subject} in context {context} is not in import mode")
        if draft.id < 0 and mode != READWRITE:
            raise not_permitted(f"Subject {draft.subject} in context {context} is not in read-write mode")

    def _id_of(self, draft: Draft) -> int:
        """Returns the id of a request in the mode IMPORT, or that of the same schema in another subject, NO_ID if there is none."""
        known = self.index.id_of(context_of(draft.subject), draft.guid)
        return known if known is not None and draft.id in (NO_ID, known) else draft.id

    def _among(self, draft: Draft, alive: Iterable[StoredSchema], schema_id: int) -> StoredSchema | None:
        """Returns the version that has the schema already."""
        return next((each for each in alive if schema_id in (NO_ID, each.id) and self._is_same(draft, each)), None)

    def _check_compatibility(self, draft: Draft, schema: Schema, alive: Iterable[StoredSchema]) -> None:
        if messages := self._incompatibilities(draft, schema, alive):
            raise incompatible_schema(draft.subject, messages)

    def _incompatibilities(self, draft: Draft, schema: Schema, versions: Iterable[StoredSchema]) -> list[str]:
        config = self.settings.config_in_scope(draft.subject)
        if group := config.get("compatibilityGroup"):
            versions = [each for each in versions if _property(each.metadata, group) == _property(draft.metadata, group)]
        level = CompatibilityLevel[config["compatibilityLevel"]]
        return compare_with_versions(schema, versions, level, lambda stored: self.parser.parse_stored(stored, self.index))

    def _write(self, draft: Draft, version: int, schema_id: int, versions: Iterable[StoredSchema]) -> StoredSchema:
        index, context = self.index, context_of(draft.subject)
        if schema_id >= 0:
            self._check_id(draft, schema_id)
        stored = draft.as_stored(version, schema_id if schema_id >= 0 else index.max_id(context) + 1)
        if context != DEFAULT_CONTEXT and context not in index.contexts:
            self.topic.write(context_record(context))
        for each in versions:
            if each.deleted and each.id == stored.id and each.version < version and not index.referrers(each.subject, each.version):
                self.topic.write(schema_tombstone(each.subject, each.version))
        self.topic.write(schema_record(stored))
        return stored

    def _check_id(self, draft: Draft, schema_id: int) -> None:
        """Raises RegistryError if another schema has the id."""
        context = context_of(draft.subject)
        other = self.index.by_id(context, schema_id)
        if other is not None and (other.guid, other.type) != (draft.guid, draft.type):
            raise not_permitted(f"Overwrite new schema with id {schema_id} in context {prefix_of(context)} is not permitted.")

    # Looking up

    def look_up(self, draft: Draft, *, normalize: bool = False, deleted: bool = False) -> StoredSchema:
        """Returns the version of a subject that has a schema. Raises RegistryError if there is none.

        A subject of the default context that has none is looked for in the other contexts.
        """
        subject = normal_name(draft.subject)
        normalize = normalize or bool(self.settings.config_in_scope(subject).get("normalize"))
        contexts = list(self.index.contexts) if context_of(subject) == DEFAULT_CONTEXT else []
        for each in (subject, *(str(Subject(context, subject)) for context in sorted(contexts))):
            found = self._look_up(replace(draft, subject=each), normalize, deleted)
            if found is not None:
                return found
        if self.index.has_subject(subject, deleted=deleted):
            raise schema_not_found()
        raise subject_not_found(subject)

    def _look_up(self, draft: Draft, normalize: bool, deleted: bool) -> StoredSchema | None:
        found = self._find(draft, normalize=normalize, deleted=deleted, latest_only=False)
        latest = None if found is not None else self.index.latest(draft.subject)
        if latest is None:
            return found
        completed = _with_metadata(draft, self.settings.config_in_scope(draft.subject), latest)
        return None if completed == draft else self._find(completed, normalize=normalize, deleted=deleted, latest_only=False)

    def _find(self, draft: Draft, *, normalize: bool, deleted: bool, latest_only: bool) -> StoredSchema | None:
        """Returns the version of a subject that has a schema: that with the same hash, else the latest one that is equivalent."""
        if draft.is_empty:
            return None
        draft, _ = self.parser.parse_draft(draft, self.index, normalize=normalize, as_new=False)
        index, context = self.index, context_of(draft.subject)
        if latest_only:
            versions = [latest] if (latest := index.latest(draft.subject)) is not None else []
        else:
            known = index.id_of(context, draft.guid)
            version = None if known is None else index.subjects_of(context, known).get(draft.subject)
            same = None if version is None else index.version(draft.subject, version)
            if same is not None and (deleted or not same.deleted):
                return same
            versions = [each for each in index.versions_from_latest(draft.subject) if deleted or not each.deleted]
        return next((each for each in versions if self._is_same(draft, each)), None)

    def _is_same(self, draft: Draft, stored: StoredSchema) -> bool:
        """Returns whether a draft with canonical text is a stored schema, sent without its references or without confluent:version."""
        if (draft.type, draft.text, draft.rule_set) != (stored.type, stored.text, stored.rule_set):
            return False
        if draft.references and self._places(draft.references, draft.subject) != self._places(stored.references, stored.subject):
            return False
        return _same_metadata(draft.metadata, stored)

    def _places(self, references: Iterable[tuple[str, str, int]], parent: str) -> list[tuple[str, str, int]]:
        """Returns references with the versions for which -1 stands."""
        latest = self.index.latest
        resolved = []
        for name, subject, version in references:
            found = latest(qualified_name(subject, parent)) if version == -1 else None
            resolved.append((name, subject, version if found is None else found.version))
        return resolved

    # Checking

    def check(self, draft: Draft, version: str | None, *, normalize: bool = False) -> list[str]:
        """Returns why a schema is incompatible with a version of its subject or, without one, with those of the level; [] if it is not.

        Raises RegistryError for an invalid schema, and for a version that does not exist.
        """
        subject = normal_name(draft.subject)
        if version is None:
            versions = [each for each in self.index.versions_from_latest(subject) if not each.deleted]
        else:
            number = parse_version(version)
            found = self.reader.find(subject, number)
            if found is None and number != -1:
                raise version_not_found(number)
            versions = [] if found is None else [found]
        if draft.is_empty:
            raise invalid_schema("Empty schema")
        config = self.settings.config_in_scope(subject)
        normalize = normalize or bool(config.get("normalize"))
        draft, schema = self.parser.parse_draft(
            replace(draft, subject=subject), self.index, normalize=normalize, as_new=_validates_new(config)
        )
        return self._incompatibilities(draft, schema, versions)


def _validates_new(config: Json) -> bool:
    """Returns whether new schemas are checked more strictly: they may not refer to versions that are deleted."""
    return bool(config.get("validateNewSchemas", True))


def _property(metadata: Mapping[str, Json] | None, name: str) -> object:
    return ((metadata or {}).get("properties") or {}).get(name)


def _same_metadata(given: Json | None, stored: StoredSchema) -> bool:
    version, known = _property(given, CONFLUENT_VERSION), _property(stored.metadata, CONFLUENT_VERSION)
    if version is not None and known is None and version != str(stored.version):
        return False
    if version is not None and known is not None:
        return given == stored.metadata
    return without_version(given) == without_version(stored.metadata)


def _complete(draft: Draft, config: Json, latest: StoredSchema | None, next_version: int) -> Draft:
    """Returns a draft with what it lacks: the text of the latest version if it is empty, metadata and rules."""
    if draft.is_empty and latest is not None:
        draft = replace(draft, text=latest.text, type=latest.type, references=latest.references)
    completed = _with_metadata(draft, config, latest)
    if draft.version != NO_VERSION or _property(completed.metadata, CONFLUENT_VERSION) is not None:
        completed = replace(completed, metadata=with_version(completed.metadata, next_version))
    return completed


def _with_metadata(draft: Draft, config: Json, latest: StoredSchema | None) -> Draft:
    metadata = draft.metadata if draft.metadata is not None or latest is None else latest.metadata
    rule_set = draft.rule_set if draft.rule_set is not None or latest is None else latest.rule_set
    metadata = merge_metadata(merge_metadata(config.get("defaultMetadata"), metadata), config.get("overrideMetadata"))
    rule_set = merge_rule_sets(merge_rule_sets(config.get("defaultRuleSet"), rule_set), config.get("overrideRuleSet"))
    is_same = metadata is draft.metadata and rule_set is draft.rule_set
    return draft if is_same else replace(draft, metadata=metadata, rule_set=rule_set)
