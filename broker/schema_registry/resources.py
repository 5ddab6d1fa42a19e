"""The resources of the REST interface, as in Confluent's API reference. Each function returns the body of the answer.

They are grouped as in Confluent's documentation: subjects and versions, schemas, compatibility, config, mode, contexts, and the server.
"""

from __future__ import annotations

from typing import Any

from .drafts import Draft
from .errors import RegistryError
from .reading import Deleted, with_qualified_references
from .records import Json, StoredSchema
from .registry import SchemaRegistry
from .rest import Answer, Call, integer, route
from .schemas import SCHEMA_TYPES
from .scoped_settings import update_as_json
from .subjects import ALL_CONTEXTS, normal_name

MAX_SCHEMAS = 1000
"""The most schemas in one response (schema.search.max.limit)."""
VERSION = "8.2.0"
"""The version of Confluent's registry whose interface this is."""


def _wanted_deleted(call: Call) -> Deleted:
    return Deleted(call.flag("deleted"), call.flag("deletedOnly"))


def _without_state(schema: StoredSchema) -> Json:
    """Returns a version as the answers to POST show it: without time and deletion."""
    return {name: value for name, value in schema.as_json().items() if name not in ("ts", "deleted")}


# Subjects


@route("GET /subjects")
def list_subjects(registry: SchemaRegistry, call: Call) -> Any:
    return call.page(registry.reader.subjects(call.text("subjectPrefix", ALL_CONTEXTS), _wanted_deleted(call)))


@route("POST /subjects/{subject}")
def look_up_schema(registry: SchemaRegistry, call: Call, subject: str) -> Json:
    draft = Draft.of(subject, call.json())
    found = registry.look_up(draft, normalize=call.flag("normalize"), deleted=call.flag("deleted"))
    return _without_state(registry.reader.in_format(found, call.text("format")))


@route("DELETE /subjects/{subject}")
def delete_subject(registry: SchemaRegistry, call: Call, subject: str) -> list[int]:
    registry.associations.check_deletion(subject)
    return registry.deletion.delete_subject(subject, permanent=call.flag("permanent"))


@route("GET /subjects/{subject}/metadata")
def latest_with_metadata(registry: SchemaRegistry, call: Call, subject: str) -> Json:
    properties = dict(zip(call.query.get("key", []), call.query.get("value", []), strict=False))
    found = registry.reader.latest_with_metadata(subject, properties, deleted=call.flag("deleted"))
    return registry.reader.in_format(found, call.text("format")).as_json()


# Versions


@route("GET /subjects/{subject}/versions")
def list_versions(registry: SchemaRegistry, call: Call, subject: str) -> Any:
    return call.page(registry.reader.versions(subject, _wanted_deleted(call), as_negative=call.flag("deletedAsNegative")))


@route("POST /subjects/{subject}/versions")
def register_schema(registry: SchemaRegistry, call: Call, subject: str) -> Json:
    draft = Draft.of(subject, call.json())
    registered = registry.register(draft, normalize=call.flag("normalize"), force=call.flag("force"))
    shown = _without_state(registry.reader.in_format(registered, call.text("format")))
    return {name: value for name, value in shown.items() if name != "subject"}


@route("GET /subjects/{subject}/versions/{version}")
def get_version(registry: SchemaRegistry, call: Call, subject: str, version: str) -> Json:
    return _version(registry, call, subject, version).as_json()


@route("GET /subjects/{subject}/versions/{version}/schema")
def get_schema_of_version(registry: SchemaRegistry, call: Call, subject: str, version: str) -> str:
    return _version(registry, call, subject, version).text


def _version(registry: SchemaRegistry, call: Call, subject: str, version: str) -> StoredSchema:
    found = registry.reader.version(subject, version, deleted=call.flag("deleted"))
    return _in_wanted_format(registry, call, found)


def _in_wanted_format(registry: SchemaRegistry, call: Call, schema: StoredSchema) -> StoredSchema:
    formatted = registry.reader.in_format(schema, call.text("format"))
    return with_qualified_references(formatted) if call.text("referenceFormat") == "qualified" else formatted


@route("GET /subjects/{subject}/versions/{version}/referencedby")
def list_referring(registry: SchemaRegistry, call: Call, subject: str, version: str) -> Any:
    return call.page(registry.reader.referring_ids(subject, version, deleted=call.flag("deleted")), MAX_SCHEMAS)


@route("DELETE /subjects/{subject}/versions/{version}")
def delete_version(registry: SchemaRegistry, call: Call, subject: str, version: str) -> int:
    return registry.deletion.delete_version(subject, version, permanent=call.flag("permanent"))


# Schemas


@route("GET /schemas")
def list_schemas(registry: SchemaRegistry, call: Call) -> list[Json]:
    found = registry.reader.schemas(call.text("subjectPrefix"), _wanted_deleted(call), latest_only=call.flag("latestOnly"))
    if rule_type := call.text("ruleType"):
        found = [each for each in found if _has_rules(each, rule_type)]
    return [schema.as_json() for schema in call.page(found, MAX_SCHEMAS)]


def _has_rules(schema: StoredSchema, rule_type: str) -> bool:
    return any(rule.get("type") == rule_type for rules in (schema.rule_set or {}).values() if isinstance(rules, list) for rule in rules)


@route("GET /schemas/types")
def list_types(_registry: SchemaRegistry, _call: Call) -> list[str]:
    return list(SCHEMA_TYPES)


@route("GET /schemas/ids/{schema_id}")
def get_schema(registry: SchemaRegistry, call: Call, schema_id: str) -> Json:
    subject = call.query.get("subject", [None])[0]
    found = registry.reader.by_id(integer(schema_id), subject)
    shown = _in_wanted_format(registry, call, found).as_json()
    del shown["id"]
    if subject is None:
        del shown["subject"], shown["version"]
    return shown | ({"maxId": registry.reader.max_id(found)} if call.flag("fetchMaxId") else {})


@route("GET /schemas/ids/{schema_id}/schema")
def get_schema_text(registry: SchemaRegistry, call: Call, schema_id: str) -> str:
    found = registry.reader.by_id(integer(schema_id), call.query.get("subject", [None])[0])
    return registry.reader.in_format(found, call.text("format")).text


@route("GET /schemas/ids/{schema_id}/subjects")
def list_subjects_of_schema(registry: SchemaRegistry, call: Call, schema_id: str) -> Any:
    return call.page([each.subject for each in _versions_of_id(registry, call, schema_id)])


@route("GET /schemas/ids/{schema_id}/versions")
def list_versions_of_schema(registry: SchemaRegistry, call: Call, schema_id: str) -> Any:
    return call.page([{"subject": each.subject, "version": each.version} for each in _versions_of_id(registry, call, schema_id)])


def _versions_of_id(registry: SchemaRegistry, call: Call, schema_id: str) -> list[StoredSchema]:
    return registry.reader.versions_of_id(integer(schema_id), call.query.get("subject", [None])[0], deleted=call.flag("deleted"))


@route("GET /schemas/guids/{guid}")
def get_schema_by_guid(registry: SchemaRegistry, call: Call, guid: str) -> Json:
    shown = registry.reader.in_format(registry.reader.by_guid(guid), call.text("format")).as_json()
    return {name: value for name, value in shown.items() if name not in ("subject", "version", "id")}


@route("GET /schemas/guids/{guid}/ids")
def list_ids_of_guid(registry: SchemaRegistry, _call: Call, guid: str) -> list[Json]:
    return [{"context": context, "id": schema_id} for context, schema_id in registry.reader.ids_of_guid(guid)]


# Compatibility


@route("POST /compatibility/subjects/{subject}/versions")
def check_with_versions(registry: SchemaRegistry, call: Call, subject: str) -> Json:
    return _check(registry, call, subject, None)


@route("POST /compatibility/subjects/{subject}/versions/{version}")
def check_with_version(registry: SchemaRegistry, call: Call, subject: str, version: str) -> Json:
    return _check(registry, call, subject, version)


def _check(registry: SchemaRegistry, call: Call, subject: str, version: str | None) -> Json:
    verbose = call.flag("verbose")
    try:
        messages = registry.check(Draft.of(subject, call.json()), version, normalize=call.flag("normalize"))
    except RegistryError as error:
        if error.error_code != INVALID_SCHEMA or not verbose:
            raise
        messages = [error.message]
    return {"is_compatible": not messages} | ({"messages": messages} if verbose else {})


INVALID_SCHEMA = 42201


# Config


@route("GET /config")
def get_global_config(registry: SchemaRegistry, call: Call) -> Json:
    return registry.settings.config(None, default_to_global=call.flag("defaultToGlobal"))


@route("PUT /config")
def update_global_config(registry: SchemaRegistry, call: Call) -> Json:
    return update_as_json(registry.settings.update_config(None, call.json()))


@route("DELETE /config")
def delete_global_config(registry: SchemaRegistry, _call: Call) -> Json:
    return registry.settings.delete_config(None)


@route("GET /config/{subject}")
def get_config(registry: SchemaRegistry, call: Call, subject: str) -> Json:
    return registry.settings.config(subject, default_to_global=call.flag("defaultToGlobal"))


@route("PUT /config/{subject}")
def update_config(registry: SchemaRegistry, call: Call, subject: str) -> Json:
    return update_as_json(registry.settings.update_config(subject, call.json()))


@route("DELETE /config/{subject}")
def delete_config(registry: SchemaRegistry, _call: Call, subject: str) -> Json:
    return registry.settings.delete_config(subject)


# Mode


@route("GET /mode")
def get_global_mode(registry: SchemaRegistry, call: Call) -> Json:
    return {"mode": registry.settings.mode(None, default_to_global=call.flag("defaultToGlobal"))}


@route("PUT /mode")
def update_global_mode(registry: SchemaRegistry, call: Call) -> Json:
    return _update_mode(registry, call, None)


@route("DELETE /mode")
def delete_global_mode(registry: SchemaRegistry, call: Call) -> Json:
    return _delete_mode(registry, call, None)


@route("GET /mode/{subject}")
def get_mode(registry: SchemaRegistry, call: Call, subject: str) -> Json:
    return {"mode": registry.settings.mode(subject, default_to_global=call.flag("defaultToGlobal"))}


@route("PUT /mode/{subject}")
def update_mode(registry: SchemaRegistry, call: Call, subject: str) -> Json:
    return _update_mode(registry, call, subject)


@route("DELETE /mode/{subject}")
def delete_mode(registry: SchemaRegistry, call: Call, subject: str) -> Json:
    return _delete_mode(registry, call, subject)


def _update_mode(registry: SchemaRegistry, call: Call, subject: str | None) -> Json:
    body = call.json()
    registry.settings.update_mode(subject, body, force=call.flag("force"))
    return {"mode": body.get("mode")}


def _delete_mode(registry: SchemaRegistry, call: Call, subject: str | None) -> Json:
    mode = registry.settings.delete_mode(subject, recursive=call.flag("recursive"))
    return {} if mode is None else {"mode": mode}


# Associations


@route("GET /associations/subjects/{subject}")
def list_associations_of_subject(registry: SchemaRegistry, call: Call, subject: str) -> Any:
    return _associations(registry, call, subject=normal_name(subject))


@route("GET /associations/resources/{namespace}/{name}")
def list_associations_of_topic(registry: SchemaRegistry, call: Call, namespace: str, name: str) -> Any:
    names = {} if name == "-" else {"resourceName": name}
    return _associations(registry, call, **names, **({} if namespace == "-" else {"resourceNamespace": namespace}))


@route("GET /associations/resources/{resource_id}")
def list_associations_of_id(registry: SchemaRegistry, call: Call, resource_id: str) -> Any:
    return _associations(registry, call, resourceId=resource_id)


@route("POST /associations")
def create_associations(registry: SchemaRegistry, call: Call) -> Json:
    return registry.associations.add(call.json(), is_new=True, dry_run=call.flag("dryRun"))


@route("PUT /associations/resources/{resource_id}")
def update_associations(registry: SchemaRegistry, call: Call, resource_id: str) -> Json:
    return registry.associations.add({"resourceId": resource_id, **call.json()}, is_new=False, dry_run=call.flag("dryRun"))


@route("DELETE /associations/resources/{resource_id}")
def delete_associations(registry: SchemaRegistry, call: Call, resource_id: str) -> Answer:
    types = call.query.get("associationType", [])
    registry.associations.delete(resource_id, call.text("resourceType"), types, dry_run=call.flag("dryRun"))
    return Answer(204, None)


def _associations(registry: SchemaRegistry, call: Call, **wanted: str) -> Any:
    found = registry.associations.select(call.query.get("associationType", []), call.text("lifecycle"), call.text("resourceType"), **wanted)
    return call.page(found, MAX_SCHEMAS)


# Contexts


@route("GET /contexts")
def list_contexts(registry: SchemaRegistry, call: Call) -> Any:
    return call.page([each for each in registry.reader.contexts() if each.startswith(call.text("contextPrefix"))])


@route("DELETE /contexts/{context}")
def delete_context(registry: SchemaRegistry, _call: Call, context: str) -> Answer:
    registry.deletion.delete_context(context)
    return Answer(204, None)


# The server


@route("GET /")
def get_root(_registry: SchemaRegistry, _call: Call) -> Json:
    return {}


@route("POST /")
def post_root(_registry: SchemaRegistry, _call: Call) -> Json:
    return {}


@route("GET /v1/metadata/id")
def get_cluster_id(registry: SchemaRegistry, _call: Call) -> Json:
    clusters = {"kafka-cluster": registry.topic.cluster_id, "schema-registry-cluster": "schema-registry"}
    return {"scope": {"path": [], "clusters": clusters}, "id": ""}


@route("GET /v1/metadata/version")
def get_server_version(_registry: SchemaRegistry, _call: Call) -> Json:
    return {"version": VERSION, "commitId": ""}
