"""The config and the mode of subjects, contexts and the whole registry.

A subject without a config of its own has that of its context, then that of the context `.__GLOBAL`, then the default of the registry's
settings. The same holds for modes. Both belong to no subject (None) where they are global.
"""

from __future__ import annotations

from typing import Any

from ..settings.schema_registry import RegistrySettings
from .body_members import text_of
from .compatibility import CompatibilityLevel
from .config_members import FLAGS, FORWARD, IMPORT, MODES, READONLY, READONLY_OVERRIDE, READWRITE, RULE_SETS, config_members
from .data_contracts import check_rule_names
from .errors import (
    RegistryError,
    invalid_compatibility,
    invalid_mode,
    invalid_subject,
    no_subject_compatibility,
    no_subject_mode,
    not_permitted,
    reference_exists,
    subject_not_found,
)
from .records import Json, SchemaTopicRecord, schema_tombstone, subject_record
from .schema_topic import SchemaTopic
from .subjects import GLOBAL_CONTEXT, Subject, context_of, is_valid_subject, normal_name, prefix_of

_INHERITED = (*FLAGS, "compatibilityPolicy", "compatibilityGroup")


class ScopedSettings:
    """Reads and changes the configs and modes of a registry."""

    def __init__(self, topic: SchemaTopic, settings: RegistrySettings) -> None:
        self._topic = topic
        self._settings = settings

    # Config

    def config(self, subject: str | None, *, default_to_global: bool) -> Json:
        """Returns the config of a subject, or the global one for None. Raises RegistryError if the subject has none of its own."""
        subject = _place(subject)
        config = self.config_in_scope(subject) if default_to_global else self._own_config(subject)
        if config is None:
            raise no_subject_compatibility(subject or "")
        return config

    def config_in_scope(self, subject: str | None) -> Json:
        """Returns the config that applies to a subject. It always has a compatibilityLevel."""
        configs = self._topic.index.configs
        if subject is not None and subject in configs:
            inherited = {name: value for name, value in configs.get(None, {}).items() if name in _INHERITED}
            return self._with_level(inherited | configs[subject])
        for place in self._topic.index.setting_places(subject):
            if place in configs:
                return self._with_level(configs[place])
        return self._with_level({})

    def level(self, subject: str) -> CompatibilityLevel:
        """Returns the compatibility level that applies to a subject."""
        return CompatibilityLevel[self.config_in_scope(subject)["compatibilityLevel"]]

    def alias(self, subject: str) -> str:
        """Returns the subject for which a subject is an alias, or the subject itself."""
        alias = self._topic.index.configs.get(subject, {}).get("alias")
        return str(Subject(context_of(subject), alias)) if alias and not alias.startswith(":.") else alias or subject

    def update_config(self, subject: str | None, body: Json) -> Json:
        """Changes the members of a config that `body` names; null removes one. Returns the whole config. Raises RegistryError."""
        changes = _config_changes(body)
        subject = self._check_place(subject)
        self._check_writable(subject)
        config = {**self._topic.index.configs.get(subject, {}), **changes}
        config = {name: value for name, value in config.items() if value is not None}
        self._topic.write(subject_record("CONFIG", subject, config))
        return config

    def delete_config(self, subject: str | None) -> Json:
        """Removes the config of a subject and returns it. Raises RegistryError if it has none."""
        subject = _place(subject)
        config = self._own_config(subject)
        if config is None:
            raise subject_not_found(subject or "")
        self._check_writable(subject)
        self._topic.write(subject_record("CONFIG", subject, None))
        return config

    def _own_config(self, subject: str | None) -> Json | None:
        own = self._topic.index.configs.get(subject)
        return None if own is None and not _is_global(subject) else self._with_level(own or {})

    def _with_level(self, config: Json) -> Json:
        return {"compatibilityLevel": self._settings.compatibility_level, **config}

    # Mode

    def mode(self, subject: str | None, *, default_to_global: bool) -> str:
        """Returns the mode of a subject, or the global one for None. Raises RegistryError if the subject has none of its own."""
        subject = _place(subject)
        mode = self.mode_in_scope(subject) if default_to_global else self._own_mode(subject)
        if mode is None:
            raise no_subject_mode(subject or "")
        return mode

    def mode_in_scope(self, subject: str | None) -> str:
        """Returns the mode that applies to a subject."""
        modes = self._topic.index.modes
        return next((modes[place] for place in self._topic.index.setting_places(subject) if place in modes), READWRITE)

    def update_mode(self, subject: str | None, body: Json, *, force: bool) -> None:
        """Sets the mode of a subject, or removes it if it is null. Raises RegistryError.

        IMPORT needs a subject without versions, unless it is forced, because the ids of imported schemas might be in use; soft-deleted
        versions are deleted permanently.
        """
        if subject is not None and not is_valid_subject(subject, for_settings=True):
            raise invalid_subject(subject)
        subject, mode = _place(subject), text_of(body, "mode")
        mode = None if mode is None else mode.upper()
        if mode is not None and mode not in MODES:
            raise invalid_mode()
        if mode == FORWARD and (subject is None or Subject.parse(subject) != (GLOBAL_CONTEXT, "")):
            raise invalid_mode("Forward mode only supported on global level")
        self._check_mode_changes()
        if mode == IMPORT and not force and self.mode_in_scope(subject) != IMPORT:
            self._topic.write(*self._clear(subject))
        self._topic.write(subject_record("MODE", subject, None if mode is None else {"mode": mode}))

    def delete_mode(self, subject: str | None, *, recursive: bool) -> str | None:
        """Removes the mode of a subject and returns it; with `recursive`, also those of the subjects of a context. Raises RegistryError."""
        subject = _place(subject)
        mode = self._own_mode(subject)
        if mode is None and not recursive:
            raise subject_not_found(subject or "")
        self._check_mode_changes()
        self._topic.write(subject_record("MODE", subject, None))
        whole = Subject.parse(subject or "")
        if recursive and not whole.name:
            below = [each for each in self._topic.index.modes if each is not None and each != subject and context_of(each) == whole.context]
            self._topic.write(*(subject_record("MODE", each, None) for each in below))
        return mode

    def is_read_only(self, subject: str | None) -> bool:
        """Returns whether the mode forbids changes of a subject."""
        return self.mode_in_scope(subject) in (READONLY, READONLY_OVERRIDE)

    def check_writable(self, subject: str) -> None:
        """Raises RegistryError if the mode forbids changes of a subject."""
        self._check_writable(subject)

    def _own_mode(self, subject: str | None) -> str | None:
        return self._topic.index.modes.get(subject, READWRITE if _is_global(subject) else None)

    def _check_writable(self, subject: str | None) -> None:
        if self.is_read_only(subject):
            context = prefix_of(context_of(subject or ""))
            raise not_permitted(f"Subject {'null' if subject is None else subject} in context {context} is in read-only mode")

    def _check_mode_changes(self) -> None:
        if not self._settings.mode_mutability:
            raise not_permitted("Mode changes are not allowed")

    def _check_place(self, subject: str | None) -> str | None:
        if subject is not None and not is_valid_subject(subject, for_settings=True):
            raise invalid_subject(subject)
        return _place(subject)

    def _clear(self, subject: str | None) -> list[SchemaTopicRecord]:
        """Returns the records that delete soft-deleted versions permanently. Raises RegistryError if there are others."""
        index = self._topic.index
        subjects = list(index.versions) if subject is None else list(index.subjects_at(subject))
        versions = [schema for each in subjects for schema in index.versions[each].values()]
        if not all(schema.deleted for schema in versions):
            raise not_permitted("Cannot import since found existing subjects")
        for schema in versions:
            if index.referrers(schema.subject, schema.version):
                raise reference_exists(schema.subject, schema.version)
        return [schema_tombstone(schema.subject, schema.version) for schema in versions]


def _place(subject: str | None) -> str | None:
    """Returns where the config or mode of a subject is kept: None for the default context as a whole."""
    return None if subject is None or Subject.parse(subject).is_default_context else normal_name(subject)


def _is_global(subject: str | None) -> bool:
    return subject is None or context_of(subject) == GLOBAL_CONTEXT


def _config_changes(body: Json) -> dict[str, Any]:
    """Returns the members of a config in the body of a request. Raises RegistryError."""
    changes: dict[str, Any] = {}
    if "compatibility" in body:
        name = text_of(body, "compatibility")
        level = None if name is None else CompatibilityLevel.by_name(name)
        if name is not None and level is None:
            raise invalid_compatibility()
        changes["compatibilityLevel"] = None if level is None else level.value
    changes |= config_members(body)
    for name in RULE_SETS:
        check_rule_names(changes.get(name))
    return changes


def update_as_json(config: Json) -> Json:
    """Returns a config as the response to its change shows it, where the level has another name."""
    return {("compatibility" if name == "compatibilityLevel" else name): value for name, value in config.items()}


__all__ = ["FORWARD", "IMPORT", "READWRITE", "RegistryError", "ScopedSettings", "update_as_json"]
