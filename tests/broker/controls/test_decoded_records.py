"""Keys and values of stored records, decoded by the schemas of the registry."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from odradek import Cluster
from odradek.broker.controls import decoded_records
from odradek.broker.controls.stored_records import DecodedData

ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=1, topics={"orders": 1}) as running:
        yield running


def framed(schema_id: int, data: bytes) -> bytes:
    return b"\0" + schema_id.to_bytes(4, "big") + data


def values(cluster: Cluster) -> list[DecodedData | None]:
    return [each.decoded_value for each in cluster.decoded_records("orders")]


def errors(cluster: Cluster) -> list[str | None]:
    return [None if each is None else each.error for each in values(cluster)]


def test_values_of_all_types_are_decoded(cluster: Cluster) -> None:
    cluster.schemas.register("orders-key", '"string"')
    cluster.schemas.register("orders-value", ORDER)
    cluster.schemas.register("any-value", '{"type": "object"}', schema_type="JSON")
    cluster.schemas.register("file-value", 'syntax = "proto3"; message Order { int64 id = 1; }', schema_type="PROTOBUF")
    cluster.produce("orders", [(framed(1, b"\2a"), framed(2, b"\x0e")), framed(3, b'{"id": 7}'), framed(4, b"\0\x08\7")])
    avro, json_schema, protobuf = values(cluster)
    assert avro == DecodedData(2, "AVRO", ["orders-value"], '{"id":7}', None)
    assert json_schema == DecodedData(3, "JSON", ["any-value"], '{"id":7}', None)
    assert protobuf == DecodedData(4, "PROTOBUF", ["file-value"], '{"id":"7"}', None)
    assert cluster.decoded_records("orders")[0].decoded_key == DecodedData(1, "AVRO", ["orders-key"], '"a"', None)


def test_references_are_resolved(cluster: Cluster) -> None:
    cluster.schemas.register("order", ORDER)
    names: list[Any] = [{"name": "Order", "subject": "order", "version": 1}]
    cluster.schemas.register("orders-value", {"type": "array", "items": "Order"}, references=names)
    cluster.produce("orders", [framed(2, b"\2\x0e\0")])
    assert [each.data for each in values(cluster) if each] == ['[{"id":7}]']


def test_data_that_cannot_be_decoded_have_a_reason(cluster: Cluster) -> None:
    cluster.produce("orders", [framed(9, b"")])
    assert values(cluster) == [None]  # without a schema, the byte 0 means nothing
    cluster.schemas.register("orders-value", ORDER)
    cluster.produce("orders", [framed(1, b"\x0e\0"), b"text", b"\0\0\0\1", None])
    unknown, damaged, *others = values(cluster)
    assert unknown == DecodedData(9, None, [], None, "the schema registry has no schema with the id 9")
    assert damaged == DecodedData(1, "AVRO", ["orders-value"], None, "1 bytes are left behind the value")
    assert others == [None, None, None]


def test_schema_that_cannot_be_parsed_is_a_reason(cluster: Cluster) -> None:
    cluster.schemas.register("orders-value", ORDER)
    stored = cluster.records("_schemas")[-1]
    assert stored.key is not None and stored.value is not None
    broken = {**json.loads(stored.value), "schema": '{"type": "nothing"}', "id": 7, "version": 2}
    cluster.produce("_schemas", [(json.dumps({**json.loads(stored.key), "version": 2}), json.dumps(broken))])
    cluster.produce("orders", [framed(7, b"\2"), framed(7, b"\2")])
    first, second = errors(cluster)
    assert first == second and first is not None and "MUST be a primitive" in first


def test_work_for_one_request_is_limited(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster.schemas.register("orders-value", '"string"')
    cluster.schemas.register("nulls-value", '{"type": "array", "items": "null"}')
    many = b"\x80\x80\x80\2\0"
    cluster.produce("orders", [framed(1, b"\6abc"), framed(1, bytes(70_000)), framed(2, many), framed(1, b"\6abc")])
    monkeypatch.setattr(decoded_records, "MAX_WORK", 9000)
    assert errors(cluster) == [
        None,
        "it has 70000 bytes; at most 65536 are decoded",
        "the value has more than 10000 parts",
        "the other records are as many as are decoded at once; ask for fewer",
    ]
    monkeypatch.setattr(decoded_records, "MAX_CHARACTERS", 2)
    assert errors(cluster)[0] == "its JSON has more than 2 characters"
