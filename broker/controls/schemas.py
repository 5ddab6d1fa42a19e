"""Controls of the schema registry: `cluster.schemas` registers, reads, checks and deletes schemas, also if the registry has no listener."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict, TypeVar

from ..frozen_data import FrozenData
from ..plurals import counted
from .declaration import Blocking, Part, blocking, control

if TYPE_CHECKING:
    from ..schema_registry.records import StoredSchema
    from ..schema_registry.registry import SchemaRegistry

T = TypeVar("T")

MAX_TOLD_CHARACTERS = 200

SubjectName = Annotated[str, "the name of a subject, such as orders-value"]
SchemaText = Annotated[str | Mapping[str, Any], "the schema: its text or, for Avro and JSON Schema, an object"]
SchemaType = Annotated[Literal["AVRO", "JSON", "PROTOBUF"], "the language of the schema"]
Level = Annotated[
    Literal["NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE"],
    "the compatibility level",
]


class SchemaReference(TypedDict):
    """A reference of a schema to a version of a subject, under the name by which the schema calls it."""

    name: str
    subject: str
    version: int


References = Annotated[Sequence[SchemaReference], "the versions that the schema refers to: objects with name, subject and version"]


class SchemaVersion(FrozenData):
    """A version of a subject. `schema` is its text, and `type` is "AVRO", "JSON" or "PROTOBUF"."""

    subject: str
    version: int
    id: int
    type: str
    schema: str


class SchemaCheck(FrozenData):
    """Whether a schema is compatible with a subject, and the reasons why it is not."""

    is_compatible: bool
    messages: list[str]


class AsyncSchemas(Part):
    """The schema registry of an `AsyncCluster`."""

    @control("schema register", owner="schemas")
    async def register(
        self, subject: SubjectName, schema: SchemaText, *, schema_type: SchemaType = "AVRO", references: References = ()
    ) -> SchemaVersion:
        """Registers a schema and returns its version. A schema that the subject has already keeps its version.

        Raises ControlRefused if the registry refuses the schema; its code is that of Confluent's error, such as 409 for an
        incompatible one.
        """
        draft = _body(schema, schema_type, references)
        version = await self._run(lambda registry: _version(registry.register(_draft(subject, draft))), subject, draft)
        self._tell(f"registering version {version.version} of {subject}", version.subject, id=version.id, version=version.version)
        return version

    @control("schema list", reads=True, owner="schemas")
    async def subjects(self, *, deleted: Annotated[bool, "also subjects that are soft deleted"] = False) -> list[str]:
        """Returns the names of all subjects."""
        from ..schema_registry.reading import Deleted
        from ..schema_registry.subjects import ALL_CONTEXTS

        return await self._run(lambda registry: registry.reader.subjects(ALL_CONTEXTS, Deleted(deleted)))

    @control("schema show", reads=True, owner="schemas")
    async def get(
        self, subject: SubjectName, version: Annotated[int | None, "a version; by default the latest one"] = None
    ) -> SchemaVersion:
        """Returns a version of a subject. Raises ControlRefused if there is none."""
        number = "latest" if version is None else str(version)
        return await self._run(lambda registry: _version(registry.reader.version(subject, number)))

    @control("schema check", reads=True, owner="schemas")
    async def check(
        self,
        subject: SubjectName,
        schema: SchemaText,
        *,
        version: Annotated[int | None, "compare with this version only; by default, the level decides"] = None,
        schema_type: SchemaType = "AVRO",
        references: References = (),
    ) -> SchemaCheck:
        """Returns whether a schema could be registered in a subject, with the reasons why not.

        Raises ControlRefused for an invalid schema, and for a version that does not exist.
        """
        draft, number = _body(schema, schema_type, references), None if version is None else str(version)
        messages = await self._run(lambda registry: registry.check(_draft(subject, draft), number), subject, draft)
        return SchemaCheck(not messages, messages)

    @control("schema delete", owner="schemas")
    async def delete(
        self,
        subject: SubjectName,
        version: Annotated[int | None, "only this version; by default all versions"] = None,
        *,
        permanent: Annotated[bool, "delete what is soft deleted, so that its id is unknown"] = False,
    ) -> list[int]:
        """Deletes the versions of a subject and returns their numbers. They stay readable by their ids until a `permanent` deletion."""
        if version is None:
            deleted = await self._run(lambda registry: registry.deletion.delete_subject(subject, permanent=permanent))
        else:
            deleted = await self._run(lambda registry: [registry.deletion.delete_version(subject, str(version), permanent=permanent)])
        self._tell(f"deleting {counted(len(deleted), 'version')} of {subject}", subject)
        return deleted

    @control("schema compatibility", owner="schemas")
    async def set_compatibility(
        self, level: Level, subject: Annotated[str | None, "a subject; by default all without a level"] = None
    ) -> None:
        """Sets the compatibility level of a subject, or that of all subjects without one."""
        await self._run(lambda registry: registry.settings.update_config(subject, {"compatibility": level}))
        self._tell(f"setting the compatibility of {subject or 'all subjects without a level'} to {level}", subject or "")

    def _tell(self, doing: str, subject: str, **numbers: int) -> None:
        """Adds a change to the record, as an event."""
        self._server.core.tell("control", doing[:MAX_TOLD_CHARACTERS], subject=subject[:MAX_TOLD_CHARACTERS], **numbers)

    async def _run(self, work: Callable[[SchemaRegistry], T], subject: str = "", draft: Mapping[str, Any] | None = None) -> T:
        size = 0 if draft is None else len(draft["schema"])
        return await self._server.schemas.run(work, subject=subject, size=size)


class Schemas(Blocking):
    """The schema registry of a `Cluster`."""

    register = blocking(AsyncSchemas.register)
    subjects = blocking(AsyncSchemas.subjects)
    get = blocking(AsyncSchemas.get)
    check = blocking(AsyncSchemas.check)
    delete = blocking(AsyncSchemas.delete)
    set_compatibility = blocking(AsyncSchemas.set_compatibility)


def _body(schema: str | Mapping[str, Any], schema_type: str, references: Sequence[SchemaReference]) -> dict[str, Any]:
    """Returns a schema as in the body of a request."""
    text = schema if isinstance(schema, str) else json.dumps(schema)
    return {"schema": text, "schemaType": schema_type, "references": [dict(each) for each in references]}


def _draft(subject: str, body: Mapping[str, Any]) -> Any:
    from ..schema_registry.drafts import Draft

    return Draft.of(subject, body)


def _version(stored: StoredSchema) -> SchemaVersion:
    return SchemaVersion(stored.subject, stored.version, stored.id, stored.type, stored.text)
