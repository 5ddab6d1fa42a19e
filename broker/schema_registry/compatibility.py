"""Compares a schema with earlier versions of its subject by the compatibility level (Confluent's CompatibilityChecker)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum

from .records import StoredSchema
from .schemas import Schema, find_incompatibilities

MAX_SHOWN_CHARACTERS = 10 * 1024
DIFFERENT_TYPE = "Incompatible because of different schema type"


class CompatibilityLevel(Enum):
    """The level says how a new version must fit the latest version or, if it is transitive, all versions."""

    NONE = "NONE"
    BACKWARD = "BACKWARD"
    BACKWARD_TRANSITIVE = "BACKWARD_TRANSITIVE"
    FORWARD = "FORWARD"
    FORWARD_TRANSITIVE = "FORWARD_TRANSITIVE"
    FULL = "FULL"
    FULL_TRANSITIVE = "FULL_TRANSITIVE"

    @classmethod
    def by_name(cls, name: str) -> CompatibilityLevel | None:
        """Returns the level with a name in any case, None if there is none."""
        return cls.__members__.get(name.upper())

    @property
    def is_transitive(self) -> bool:
        """Whether all versions count, and not only the latest one."""
        return self.value.endswith("_TRANSITIVE")

    @property
    def reads_old(self) -> bool:
        """Whether the new version must read data of the earlier ones."""
        return self.value.startswith(("BACKWARD", "FULL"))

    @property
    def is_read_by_old(self) -> bool:
        """Whether the earlier versions must read data of the new one."""
        return self.value.startswith(("FORWARD", "FULL"))


def compare_with_versions(
    new: Schema, versions: Iterable[StoredSchema], level: CompatibilityLevel, parse: Callable[[StoredSchema], Schema]
) -> list[str]:
    """Returns why a schema is incompatible with earlier versions, of which the latest comes first, [] if it is compatible.

    The messages end with the first version that is incompatible, and with the level.
    """
    if level is CompatibilityLevel.NONE:
        return []
    for version in versions:
        old = parse(version)
        messages = [DIFFERENT_TYPE] if new.type != old.type else _compare(new, old, version, level)
        if messages:
            return [*messages, f"{{validateFields: 'false', compatibility: '{level.value}'}}"]
        if not level.is_transitive:
            break
    return []


def _compare(new: Schema, old: Schema, version: StoredSchema, level: CompatibilityLevel) -> list[str]:
    if new.text == version.text and not version.references:
        return []
    messages = []
    if level.is_read_by_old:
        messages += find_incompatibilities(old, new, reader_name="old", writer_name="new")
    if level.reads_old:
        messages += find_incompatibilities(new, old)
    if not messages:
        return []
    shown = old.text
    if len(shown) > MAX_SHOWN_CHARACTERS:
        return [*messages, f"{{oldSchemaVersion: {version.version}}}", f"{{oldSchema: <truncated> '{shown[:MAX_SHOWN_CHARACTERS]}...'}}"]
    return [*messages, f"{{oldSchemaVersion: {version.version}}}", f"{{oldSchema: '{shown}'}}"]
