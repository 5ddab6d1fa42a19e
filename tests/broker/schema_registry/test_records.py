"""The fields of records, and the GUID of a schema."""

from __future__ import annotations

from hashlib import md5
from uuid import UUID

from odradek.broker.schema_registry.records import NamedReference, guid_of, schema_record
from odradek.broker.schema_registry.records import StoredSchema as Stored
from odradek.broker.schema_registry.stored_records import read_schema


def test_guid_is_the_hash_of_text_and_references() -> None:
    references = (NamedReference("n", "s", 258),)
    expected = md5(b'"int"' + b"ns" + b"\0\0\1\2").digest()
    assert guid_of('"int"', references, None, None) == str(UUID(bytes=expected))


def test_guid_depends_on_metadata_and_rules() -> None:
    metadata = {"tags": {"b": ["2", "1"], "a": []}, "properties": {"p": "q"}, "sensitive": ["p"]}
    rules = {"domainRules": [{"name": "r", "kind": "CONDITION", "params": {"x": "y"}, "disabled": True}], "enableAt": "CLIENT"}
    expected = md5(b"t" + b"\1ab12pqp" + b"\1rCONDITIONxy\1CLIENT").digest()
    assert guid_of("t", (), metadata, rules) == str(UUID(bytes=expected))


def test_schema_record_is_read_as_it_was() -> None:
    stored = Stored("s", 2, 3, "t", "JSON", (NamedReference("n", "r", 1),), {"properties": {}}, {"domainRules": []}, True, 5)
    value = schema_record(stored).value
    assert value is not None and read_schema(value, 5) == stored
