"""Schemas that come in several forms and are one schema."""

from __future__ import annotations

import base64

import pytest

from odradek.broker.schema_registry.schemas import parse_schema
from tests.broker.schema_registry.rest_calls import RestRegistry

ORDER = 'syntax = "proto3"; package shop; message Order { Item item = 2; map<string, Item> more = 3; int64 id = 1; message Item {} }'
WITH_NOTE = ORDER.replace("int64 id = 1;", "int64 id = 1; string note = 4;")


def described(text: str) -> str:
    """Returns the serialized descriptor of a file as Python's generated code contains it."""
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    file = FileDescriptorProto.FromString(base64.b64decode(parse_schema("PROTOBUF", text).in_format("serialized")))
    for field in [field for message in file.message_type for part in (message, *message.nested_type) for field in part.field]:
        field.ClearField("json_name")
    return base64.b64encode(file.SerializeToString()).decode()


def register(registry: RestRegistry, subject: str, text: str) -> int:
    return int(registry.register(subject, text, schemaType="PROTOBUF")["id"])


@pytest.mark.parametrize("descriptor_first", [True, False])
def test_text_and_descriptor_have_one_id(descriptor_first: bool) -> None:
    registry = RestRegistry()
    forms = [described(ORDER), ORDER] if descriptor_first else [ORDER, described(ORDER)]
    assert [register(registry, "orders-value", form) for form in (*forms, *forms)] == [1] * 4
    assert [register(registry, "orders-value", form) for form in (WITH_NOTE, described(WITH_NOTE), *forms)] == [2, 2, 1, 1]
    assert registry.get("/subjects/orders-value/versions") == [1, 2]


def test_text_has_the_id_of_a_descriptor_of_another_subject() -> None:
    registry = RestRegistry()
    assert register(registry, "orders-value", described(ORDER)) == register(registry, "audit-value", ORDER) == 1


def test_look_up_finds_the_other_form() -> None:
    registry = RestRegistry()
    register(registry, "a", ORDER)
    register(registry, "b", described(WITH_NOTE))
    for subject, form in (("a", described(ORDER)), ("b", WITH_NOTE)):
        assert registry.ok(f"POST /subjects/{subject}", {"schema": form, "schemaType": "PROTOBUF"})["version"] == 1


def test_texts_of_different_form_are_versions() -> None:
    registry = RestRegistry()
    assert register(registry, "orders-value", ORDER) == 1
    assert register(registry, "orders-value", ORDER.replace("Item item", "Order.Item item")) == 2
