"""Deleting versions, subjects and contexts. A deletion is soft first: the schema stays readable by its id. Then it can be permanent."""

from __future__ import annotations

from dataclasses import replace

from .errors import (
    context_not_empty,
    reference_exists,
    subject_not_found,
    subject_not_soft_deleted,
    subject_soft_deleted,
    version_not_found,
    version_not_soft_deleted,
    version_soft_deleted,
)
from .index import SchemaIndex
from .reading import LATEST, parse_version
from .records import StoredSchema, context_record, schema_record, schema_tombstone, subject_record
from .schema_topic import SchemaTopic
from .scoped_settings import ScopedSettings
from .subjects import Subject, normal_name


class Deletion:
    """Deletes what is in a registry."""

    def __init__(self, topic: SchemaTopic, settings: ScopedSettings) -> None:
        self._topic = topic
        self._settings = settings

    @property
    def _index(self) -> SchemaIndex:
        return self._topic.index

    def delete_subject(self, subject: str, *, permanent: bool) -> list[int]:
        """Deletes the versions of a subject and returns their numbers. Raises RegistryError."""
        subject, index = normal_name(subject), self._index
        if not index.has_subject(subject, deleted=True):
            raise subject_not_found(subject)
        if not permanent and not index.has_subject(subject, deleted=False):
            raise subject_soft_deleted(subject)
        self._settings.check_writable(subject)
        versions = [each for _, each in sorted(index.versions.get(subject, {}).items()) if permanent or not each.deleted]
        for each in versions:
            if self._referring_subjects(each, deleted=permanent) - {subject}:
                raise reference_exists(subject, each.version)
            if permanent and not each.deleted:
                raise subject_not_soft_deleted(subject)
        numbers = [each.version for each in versions]
        if permanent:
            self._topic.write(*(schema_tombstone(subject, number) for number in reversed(numbers)))
            self._delete_settings(subject)
        else:
            self._topic.write(subject_record("DELETE_SUBJECT", subject, {"version": max(numbers, default=0)}))
        return numbers

    def delete_version(self, subject: str, version: str, *, permanent: bool) -> int:
        """Deletes a version of a subject and returns its number. Raises RegistryError."""
        subject, number = normal_name(subject), parse_version(version)
        found = self._index.latest(subject) if number == LATEST else self._index.version(subject, number)
        if found is None:
            raise version_not_found(number) if self._index.has_subject(subject, deleted=True) else subject_not_found(subject)
        if found.deleted and not permanent:
            raise version_soft_deleted(subject, number)
        self._settings.check_writable(subject)
        if self._referring_subjects(found, deleted=permanent):
            raise reference_exists(subject, found.version)
        if permanent and not found.deleted:
            raise version_not_soft_deleted(subject, found.version)
        if not permanent:
            self._topic.write(schema_record(replace(found, deleted=True)))
            return found.version
        self._topic.write(schema_tombstone(subject, found.version))
        if len(self._index.versions[subject]) == 1:
            self._delete_settings(subject)
        return found.version

    def delete_context(self, context: str) -> None:
        """Deletes a context without subjects. Raises RegistryError if it has one."""
        name = Subject.parse(normal_name(context))
        if self._index.has_subject(str(name), deleted=True):
            raise context_not_empty(str(name))
        self._topic.write(context_record(name.context, exists=False))

    def _referring_subjects(self, schema: StoredSchema, *, deleted: bool) -> set[str]:
        """Returns the subjects with a version that refers to a version; with `deleted`, also those whose version is soft deleted."""
        index, found = self._index, set()
        for context, schema_id in index.referrers(schema.subject, schema.version):
            for subject, version in index.subjects_of(context, schema_id).items():
                referring = index.version(subject, version)
                if referring is not None and (deleted or not referring.deleted):
                    found.add(subject)
        return found

    def _delete_settings(self, subject: str) -> None:
        """Deletes the mode and the config of a subject that has no version any more."""
        if subject in self._index.modes:
            self._topic.write(subject_record("MODE", subject, None))
        if subject in self._index.configs:
            self._topic.write(subject_record("CONFIG", subject, None))
