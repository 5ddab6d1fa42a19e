"""The generator of the typed controls: what the schemas of the OpenAPI document become in each language."""

from __future__ import annotations

import pytest

from documents.bindings import go, java, node
from documents.bindings.interface import Field, Interface, Operation, Type, interface, type_of, wrapped

TEXT, INTEGER = {"type": "string"}, {"type": "integer"}
NULL = {"type": "null"}
RECORD = {"$ref": "#/components/schemas/Record"}


@pytest.mark.parametrize(
    ("schema", "of_go", "of_java", "of_node"),
    [
        (TEXT, "string", "String", "string"),
        ({"anyOf": [INTEGER, NULL]}, "*int", "Long", "number | null"),
        ({"type": "string", "format": "date-time"}, "time.Time", "Instant", "string"),
        ({"$ref": "#/components/schemas/Duration"}, "time.Duration", "Duration", "Duration"),
        ({"anyOf": [{"$ref": "#/components/schemas/Bytes"}, NULL]}, "Bytes", "Bytes", "Bytes | null"),
        ({"anyOf": [TEXT, {"type": "array", "items": TEXT}, NULL]}, "[]string", "List<String>", "string[] | null"),
        ({"anyOf": [RECORD, NULL]}, "*Record", "Record", "Record | null"),
        ({"type": "object", "additionalProperties": INTEGER}, "map[string]int", "Map<String, Long>", "{ [key: string]: number }"),
        ({"type": "array", "items": {"type": "object"}}, "[]map[string]any", "List<Map<String, Object>>", "({ [key: string]: unknown })[]"),
        ({"anyOf": [{"type": "boolean"}, {"enum": ["refused", "closed"]}]}, "string", "String", "string"),
        ({"anyOf": [TEXT, INTEGER]}, "any", "Object", "unknown"),
        ({}, "any", "Object", "unknown"),
    ],
)
def test_schema_becomes_a_type_of_each_language(schema: dict[str, object], of_go: str, of_java: str, of_node: str) -> None:
    found = type_of(schema)
    assert (go.type_name(found), java.type_name(found), node.type_name(found)) == (of_go, of_java, of_node)


def test_record_or_its_value_becomes_a_record() -> None:
    new = {"anyOf": [{"$ref": "#/components/schemas/NewRecord"}, {"$ref": "#/components/schemas/Bytes"}, NULL]}
    assert type_of({"type": "array", "items": new}) == Type("list", Type("structure", name="NewRecord"))


def test_operations_have_the_names_of_python() -> None:
    operations = {(each.owner, each.name): each for each in interface().operations}
    advance = operations["clock", "advance"]
    assert [(each.name, each.type.kind) for each in advance.required] == [("duration", "duration")] and not advance.options
    assert [each.name for each in operations["", "stop_node"].options] == ["graceful"]
    assert operations["", "list_faults"].reads and operations["", "reset"].result is None


def test_control_named_get_hides_no_method_of_java() -> None:
    control = Operation("get", "schemas", "/schema/get", True, "Returns a schema.", [], [], Type("text"))
    assert 'Json.text(Controls.this.get("/schema/get", ' in java.source(Interface([control], []))


def test_words_of_a_language_are_not_names() -> None:
    assert java._name(Field("default", Type("text"))) == "defaultValue"
    assert go._parameter(Field("type", Type("text"))) == "typeValue"


def test_comment_is_wrapped_at_words() -> None:
    assert wrapped("// ", "one two three", columns=10) == ["// one two", "// three"]
