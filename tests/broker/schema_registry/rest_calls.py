"""A schema registry without sockets, and calls of its REST interface."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from odradek.broker.schema_registry import resources as _resources  # noqa: F401  (declares the routes)
from odradek.broker.schema_registry.errors import RegistryError
from odradek.broker.schema_registry.registry import SchemaRegistry
from odradek.broker.schema_registry.rest import Answer, Call, answer, refusal
from odradek.broker.schema_registry.schema_topic import SchemaTopic
from odradek.broker.settings.schema_registry import RegistrySettings
from tests.broker.harness import World


class RestRegistry:
    """A registry in a cluster without sockets."""

    def __init__(self, settings: Mapping[str, str] | None = None, world: World | None = None) -> None:
        self.world = world or World(nodes=3)
        given = RegistrySettings.of(settings or {})
        self.registry = SchemaRegistry(SchemaTopic(lambda: self.world.cluster, given.topic), given)

    def ask(self, request: str, body: Any = None) -> Answer:
        """Returns the answer to a request such as "GET /subjects"."""
        method, _, target = request.partition(" ")
        self.registry.topic.catch_up()
        try:
            call = Call.of(method, target, b"" if body is None else json.dumps(body).encode())
            answered = answer(self.registry, call)
            self.registry.topic.commit()
        except RegistryError as error:
            return refusal(error)
        return answered

    def get(self, path: str) -> Any:
        """Returns the body of the answer to a GET, which must be 200."""
        return self.ok(f"GET {path}")

    def ok(self, request: str, body: Any = None) -> Any:
        """Returns the body of an answer, which must be 200."""
        answered = self.ask(request, body)
        assert answered.status == 200, answered
        return answered.body

    def error(self, request: str, body: Any = None) -> int:
        """Returns the error code of an answer, whose first digits must be its status."""
        answered = self.ask(request, body)
        assert str(answered.body["error_code"]).startswith(str(answered.status)), answered
        return int(answered.body["error_code"])

    def register(self, subject: str, schema: Any, **members: Any) -> Any:
        """Registers an Avro schema and returns the body of the answer, which must be 200."""
        return self.ok(f"POST /subjects/{subject}/versions", {"schema": text_of(schema), **members})

    def keys(self) -> list[dict[str, Any]]:
        """Returns the keys of the records in the topic."""
        from odradek.broker.controls.stored_records import records_of

        partition = self.world.cluster.topics["_schemas"].partitions[0]
        batches = partition.log.batches(0, partition.log.end_offset)
        return [json.loads(record.key or b"") for batch in batches for record in records_of(partition, batch)]


def text_of(schema: Any) -> str:
    return schema if isinstance(schema, str) else json.dumps(schema)


def record(*fields: str, name: str = "Order", **defaults: Any) -> dict[str, Any]:
    """Returns an Avro record with int fields; those in `defaults` have a default."""
    plain: list[dict[str, Any]] = [{"name": each, "type": "int"} for each in fields]
    optional = [{"name": each, "type": "int", "default": value} for each, value in defaults.items()]
    return {"type": "record", "name": name, "fields": plain + optional}
