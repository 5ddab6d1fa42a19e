"""The records of `_schemas`: their keys and values as Confluent's registry writes them (SchemaRegistrySerializer), in JSON.

A key has a type: SCHEMA for a version of a subject, CONFIG and MODE for those of a subject or, without one, the global ones, CONTEXT,
ASSOC, DELETE_SUBJECT for the soft deletion of all versions up to one, CLEAR_SUBJECT, and NOOP, which other registries write to find the
end of the topic. `stored_records.py` reads them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import md5
from typing import Any, NamedTuple

AVRO = "AVRO"
TENANT = "default"
Json = dict[str, Any]


class NamedReference(NamedTuple):
    """A reference of a schema to a version of a subject, under a name. Version -1 stands for the latest one."""

    name: str
    subject: str
    version: int

    def as_json(self) -> Json:
        """Returns the reference as it is stored and sent."""
        return self._asdict()


@dataclass(frozen=True, slots=True)
class StoredSchema:
    """A version of a subject. `text` is the canonical text of the schema, `timestamp` the time of its record in ms."""

    subject: str
    version: int
    id: int
    text: str
    type: str = AVRO
    references: tuple[NamedReference, ...] = ()
    metadata: Json | None = None
    rule_set: Json | None = None
    deleted: bool = False
    timestamp: int | None = None

    @property
    def guid(self) -> str:
        """The GUID, which follows from the text, references, metadata and rules, so that it is the same in every registry."""
        return guid_of(self.text, self.references, self.metadata, self.rule_set)

    def as_json(self) -> Json:
        """Returns the version as responses show it."""
        shown: Json = {"subject": self.subject, "version": self.version, "id": self.id, "guid": self.guid, "schemaType": self.type}
        shown |= self.optional_parts | {"schema": self.text}
        if self.timestamp is not None:
            shown["ts"] = self.timestamp
        return shown | {"deleted": self.deleted}

    @property
    def optional_parts(self) -> Json:
        """The references, metadata and rules as JSON; those that the version lacks are left out."""
        parts: Json = {"references": [each.as_json() for each in self.references]} if self.references else {}
        if self.metadata is not None:
            parts["metadata"] = self.metadata
        if self.rule_set is not None:
            parts["ruleSet"] = self.rule_set
        return parts


def guid_of(schema_text: str, references: Sequence[NamedReference], metadata: Json | None, rule_set: Json | None) -> str:
    """Returns the GUID of a schema: the MD5 hash that Confluent's `Schema.updateHash` computes, as a UUID."""
    digest = md5(schema_text.encode(), usedforsecurity=False)
    for reference in references:
        digest.update(f"{reference.name}{reference.subject}".encode() + (reference.version & 0xFFFFFFFF).to_bytes(4, "big"))
    if metadata is not None:
        digest.update(b"\1" + _metadata_bytes(metadata))
    if rule_set is not None:
        rules = [rule for kind in ("migrationRules", "domainRules", "encodingRules") for rule in rule_set.get(kind) or ()]
        digest.update(b"\1" + b"".join(map(_rule_bytes, rules)) + str(rule_set.get("enableAt") or "").encode())
    text = digest.hexdigest()  # as a UUID; the class UUID would take longer than the hash
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _metadata_bytes(metadata: Json) -> bytes:
    tags = "".join(name + "".join(sorted(tags)) for name, tags in sorted((metadata.get("tags") or {}).items()))
    properties = "".join(f"{name}{value}" for name, value in sorted((metadata.get("properties") or {}).items()))
    return (tags + properties + "".join(sorted(metadata.get("sensitive") or ()))).encode()


def _rule_bytes(rule: Json) -> bytes:
    texts = [rule.get(name) or "" for name in ("name", "doc", "kind", "mode", "type")]
    texts += sorted(rule.get("tags") or ())
    texts += [f"{name}{value}" for name, value in sorted((rule.get("params") or {}).items())]
    texts += [rule.get(name) or "" for name in ("expr", "onSuccess", "onFailure")]
    return "".join(map(str, texts)).encode() + (b"\1" if rule.get("disabled") else b"")


class SchemaTopicRecord(NamedTuple):
    """A record of `_schemas`. Without a value, it is a tombstone."""

    key: bytes
    value: bytes | None


def schema_record(schema: StoredSchema) -> SchemaTopicRecord:
    """Returns the record of a version."""
    fields: Json = {"subject": schema.subject, "version": schema.version, "id": schema.id, "schemaType": schema.type}
    fields |= schema.optional_parts | {"schema": schema.text, "deleted": schema.deleted}
    return SchemaTopicRecord(_schema_key(schema.subject, schema.version), _encode(fields))


def schema_tombstone(subject: str, version: int) -> SchemaTopicRecord:
    """Returns the record of the permanent deletion of a version."""
    return SchemaTopicRecord(_schema_key(subject, version), None)


def subject_record(keytype: str, subject: str | None, fields: Mapping[str, Any] | None) -> SchemaTopicRecord:
    """Returns a record about a subject, such as its CONFIG, or the global one for None; a tombstone without fields."""
    named = {} if subject is None else {"subject": subject}
    return SchemaTopicRecord(_encode({"keytype": keytype, **named, "magic": 0}), None if fields is None else _encode({**named, **fields}))


def context_record(context: str, *, exists: bool = True) -> SchemaTopicRecord:
    """Returns the record that a context exists, or the tombstone of one that is deleted."""
    fields = {"tenant": TENANT, "context": context}
    return SchemaTopicRecord(_encode({"keytype": "CONTEXT", **fields, "magic": 0}), _encode(fields) if exists else None)


def association_record(fields: Mapping[str, Any], *, exists: bool = True) -> SchemaTopicRecord:
    """Returns the record of an association of a subject with a resource, or its tombstone."""
    names = ("resourceName", "resourceNamespace", "resourceType", "associationType", "subject")
    key = {"keytype": "ASSOC", "tenant": TENANT, **{name: fields[name] for name in names}, "magic": 0}
    return SchemaTopicRecord(_encode(key), _encode({"tenant": TENANT, **fields}) if exists else None)


def _schema_key(subject: str, version: int) -> bytes:
    return _encode({"keytype": "SCHEMA", "subject": subject, "version": version, "magic": 1})


def _encode(fields: Mapping[str, Any]) -> bytes:
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()
