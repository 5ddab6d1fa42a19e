"""Reads the records of `_schemas`. Other registries write it too, and any client can, so that members are checked as those of a request.

Members that are not known are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeVar

from .body_members import flag_of, text_of
from .compatibility import CompatibilityLevel
from .config_members import MODES, config_members
from .drafts import NO_ID, NO_VERSION, Draft
from .errors import RegistryError
from .records import Json, StoredSchema

T = TypeVar("T")

_ASSOCIATION_TEXTS = (
    *("resourceName", "resourceNamespace", "resourceId", "resourceType"),
    *("associationType", "subject", "lifecycle", "guid"),
)


class InvalidRecord(Exception):
    """A record of `_schemas` that no registry has written."""


def read_key(key: bytes | None) -> Json:
    """Returns the fields of a key, of which the subject is a text or missing. Raises InvalidRecord."""
    fields = read_fields(key or b"")
    _read(lambda: text_of(fields, "subject"))
    return fields


def read_fields(data: bytes) -> Json:
    """Returns the fields of a value. Raises InvalidRecord."""
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InvalidRecord(f"not JSON: {error}") from None
    if not isinstance(fields, dict):
        raise InvalidRecord("not a JSON object")
    return fields


def read_schema(value: bytes, timestamp: int) -> StoredSchema:
    """Returns the version in the value of a SCHEMA record. Raises InvalidRecord."""
    fields = read_fields(value)
    draft = _read(lambda: Draft.of(text_of(fields, "subject") or "", fields))
    if not draft.subject or draft.id <= NO_ID or draft.version <= NO_VERSION:
        raise InvalidRecord("a SCHEMA record needs a subject, an id and a version")
    deleted = bool(_read(lambda: flag_of(fields, "deleted")))
    return draft.as_stored(draft.version, draft.id, deleted=deleted, timestamp=timestamp)


def read_config(value: bytes) -> Json:
    """Returns the members of a config that are not null. Raises InvalidRecord."""
    fields = read_fields(value)
    config = {name: each for name, each in _read(lambda: config_members(fields)).items() if each is not None}
    name = _read(lambda: text_of(fields, "compatibilityLevel"))
    level = None if name is None else CompatibilityLevel.by_name(name)
    if name is not None and level is None:
        raise InvalidRecord(f"unknown compatibility level {name!r}")
    return config if level is None else {"compatibilityLevel": level.value, **config}


def read_mode(value: bytes) -> str:
    """Returns the mode in the value of a MODE record. Raises InvalidRecord."""
    fields = read_fields(value)
    mode = _read(lambda: text_of(fields, "mode"))
    if mode not in MODES:
        raise InvalidRecord(f"unknown mode {mode!r}")
    return mode


def read_association(value: bytes) -> Json:
    """Returns the members of an association. Raises InvalidRecord."""
    fields = read_fields(value)
    if missing := [name for name in _ASSOCIATION_TEXTS if not isinstance(fields.get(name), str)]:
        raise InvalidRecord(f"an ASSOC record has no text {missing[0]}")
    return fields


def _read(read: Callable[[], T]) -> T:
    """Returns what a function reads. Raises InvalidRecord where it raises RegistryError."""
    try:
        return read()
    except RegistryError as error:
        raise InvalidRecord(error.message) from None
