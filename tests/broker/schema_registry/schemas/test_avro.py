import json
import time
from typing import Any

import pytest

from odradek.broker.schema_registry.schemas import InvalidSchema, Reference, Schema, find_incompatibilities, parse_schema
from odradek.broker.schema_registry.schemas.schema import MAX_NESTING, MAX_TEXT_LENGTH


def avro(declared: Any, *references: Reference) -> Schema:
    return parse_schema("AVRO", json.dumps(declared), references)


def record(*fields: Any, name: str = "R", **attributes: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields), **attributes}


def field(name: str, declared: Any, **attributes: Any) -> dict[str, Any]:
    return {"name": name, "type": declared, **attributes}


class TestText:
    def test_attributes_have_the_order_of_java(self) -> None:
        declared = record(field("a", {"type": "long", "logicalType": "date"}, x=1, default=1, doc="d"), doc="r", aliases=["S"], owner="me")
        assert avro(declared).text == (
            '{"type":"record","name":"R","doc":"r","fields":[{"name":"a","type":{"type":"long","logicalType":"date"},"doc":"d",'
            '"default":1,"x":1}],"owner":"me","aliases":["S"]}'
        )

    def test_namespace_is_written_where_it_changes(self) -> None:
        inner = record(field("self", ["null", "x.Inner"]), name="Inner")
        outer = record(field("a", inner), field("b", "Inner"), field("c", record(name="y.C")), name="Outer", namespace="x")
        assert avro(outer).text == (
            '{"type":"record","name":"Outer","namespace":"x","fields":[{"name":"a","type":{"type":"record","name":"Inner","fields":'
            '[{"name":"self","type":["null","Inner"]}]}},{"name":"b","type":"Inner"},{"name":"c","type":{"type":"record","name":"C",'
            '"namespace":"y","fields":[]}}]}'
        )

    def test_numbers_have_the_form_of_java(self) -> None:
        assert '"default":1.0E10' in avro(record(field("a", "double", default=1e10))).text
        assert '"default":"NaN"' in avro(record(field("a", "double", default="NaN"))).text

    def test_name_may_be_used_before_its_declaration(self) -> None:
        used = record(field("a", "Later"), field("b", {"type": "enum", "name": "Later", "symbols": ["X"]}))
        assert avro(used).text.index("symbols") < avro(used).text.index('"b"')

    def test_primitive_without_properties_is_a_name(self) -> None:
        assert avro({"type": "string"}).text == '"string"'


class TestNormalizing:
    def test_forms_of_one_schema_have_one_text(self) -> None:
        decimal = {"type": "bytes", "scale": 2, "precision": 4, "logicalType": "decimal"}
        one = record(field("a", decimal, z=1, b={"y": 1, "x": 2}), aliases=["T", "S"], doc="")
        other = record(field("a", dict(reversed(decimal.items())), b={"x": 2, "y": 1}, z=1), aliases=["S", "T"])
        assert avro(one).normal_text() == avro(other).normal_text()

    def test_default_gets_the_type_of_its_field(self) -> None:
        assert '"default":0.0' in avro(record(field("a", ["null", "double"], default=0))).normal_text()
        assert '"default":0.10000000149011612' in avro(record(field("a", "float", default=0.1))).normal_text()

    def test_normal_form_of_normal_form_is_itself(self) -> None:
        normal = avro(record(field("a", {"type": "array", "items": "int", "b": 1, "a": 2}, default=[]), namespace="n")).normal_text()
        assert avro(json.loads(normal)).normal_text() == normal


class TestReferences:
    def test_referenced_type_is_named_and_resolved(self) -> None:
        address = Reference("x.Address", "address", 1, avro(record(field("zip", "string"), name="Address", namespace="x")))
        schema = avro(record(field("home", "x.Address")), address)
        assert schema.text == '{"type":"record","name":"R","fields":[{"name":"home","type":"x.Address"}]}'
        assert '"name":"zip"' in schema.in_format("resolved")
        assert schema.in_format("unknown") == schema.text

    def test_references_of_references_are_known(self) -> None:
        street = Reference("Street", "s", 1, avro(record(name="Street")))
        address = Reference("Address", "a", 1, avro(record(field("street", "Street"), name="Address"), street))
        assert avro(record(field("a", "Address"), field("s", "Street")), address).text.count("record") == 1

    def test_missing_reference_is_named(self) -> None:
        with pytest.raises(InvalidSchema, match=r"Undefined schema: x\.Address"):
            avro(record(field("home", "x.Address")))

    def test_conflicting_references_are_refused(self) -> None:
        references = [Reference("A", "a", version, avro(record(field(f"v{version}", "int"), name="A"))) for version in (1, 2)]
        with pytest.raises(InvalidSchema, match="Can't redefine: A"):
            avro(record(field("a", "A")), *references)


class TestRefusal:
    @pytest.mark.parametrize(
        ("declared", "message"),
        [
            (1, "Schema not yet supported: 1"),
            ({}, "No type: {}"),
            ({"type": {"type": "string"}}, "No type"),
            ({"type": "foo"}, "MUST be a primitive type"),
            ({"type": "record", "name": "R"}, "Record has no fields"),
            ({"type": "record", "fields": []}, "No name in schema"),
            (record("a"), 'No field name: "a"'),
            (record({"name": "a"}), "No field type"),
            (record(field("a", "int"), field("a", "int")), "Duplicate field a in record R"),
            (record(field("a-b", "int")), "Illegal character in: a-b"),
            (record(name="1R"), "Illegal initial character: 1R"),
            (record(name=""), "Empty name"),
            (record(name="R", namespace="a-b.c"), 'Namespace part "a-b" is invalid: Illegal character in: a-b'),
            (record(name="string"), "may not be named after primitives: string"),
            (record(field("a", "int", order="up")), "order of field a"),
            (record(field("a", "int", aliases="b")), "aliases not an array"),
            (record(field("a", "int", aliases=[1])), "alias not a string: 1"),
            (record(field("a", "int", default="x")), 'Invalid default for field a: "x" not a "int"'),
            (record(field("a", "double", default="x")), "Invalid default for field a"),
            (record(field("a", "int", default=2**31)), "Invalid default"),
            (record(field("a", "R", default={})), "contains itself"),
            ({"type": "enum", "name": "E"}, "Enum has no symbols"),
            ({"type": "enum", "name": "E", "symbols": ["A", "A"]}, "Duplicate enum symbol: A"),
            ({"type": "enum", "name": "E", "symbols": [1]}, "Null name"),
            ({"type": "enum", "name": "E", "symbols": ["A"], "default": "B"}, r"Default: B is not in the enum symbol set: \[A\]"),
            ({"type": "fixed", "name": "F"}, "Invalid or no size"),
            ({"type": "fixed", "name": "F", "size": -1}, "from 0 to"),
            ({"type": "array"}, "Array has no items type"),
            ({"type": "map"}, "Map has no values type"),
            (["int", "int"], "Duplicate in union:int"),
            (["int", ["string"]], "Nested union"),
            ([record(), record(field("a", "int"))], "Can't redefine: R"),
        ],
    )
    def test_message_names_the_wrong_part(self, declared: Any, message: str) -> None:
        with pytest.raises(InvalidSchema, match=message):
            avro(declared)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("{", "not valid JSON"),
            ("NaN", "not a number"),
            ("1" * 2000, "at most 1000"),
            ('"\\ud800"', "surrogate"),
            ('"string" "int"', "not valid JSON"),
        ],
    )
    def test_text_that_is_no_json_is_refused(self, text: str, message: str) -> None:
        with pytest.raises(InvalidSchema, match=message):
            parse_schema("AVRO", text)

    @pytest.mark.parametrize(
        "text",
        [
            "[" * 10_000,
            "[" * (MAX_NESTING + 1) + "]" * (MAX_NESTING + 1),
            f'"{"a" * MAX_TEXT_LENGTH}"',
            json.dumps([record(field("next", f"R{number + 1}"), name=f"R{number}") for number in range(5000)] + [record(name="R5000")]),
        ],
        ids=["unclosed", "deep", "long", "chain of names"],
    )
    def test_excessive_schema_is_refused_in_time(self, text: str) -> None:
        began = time.process_time()
        with pytest.raises(InvalidSchema):
            parse_schema("AVRO", text)
        assert time.process_time() - began < 10

    def test_type_that_does_not_exist_is_refused(self) -> None:
        with pytest.raises(InvalidSchema, match="Invalid schema type XML"):
            parse_schema("XML", "")


class TestCompatibility:
    @pytest.mark.parametrize(
        ("reader", "writer", "expected"),
        [
            ("long", "int", []),
            ("string", "bytes", []),
            (["null", "string"], "string", []),
            (record(field("b", "int", default=1), field("a", "int")), record(field("a", "int")), []),
            (record(field("b", "int", aliases=["a"])), record(field("a", "int")), []),
            ({"type": "enum", "name": "E", "symbols": ["A"], "default": "A"}, {"type": "enum", "name": "E", "symbols": ["A", "B"]}, []),
            (
                "int",
                "long",
                [
                    "{errorType:'TYPE_MISMATCH', description:'The type (path '/') of a field in the new schema does not match with the"
                    " old schema', additionalInfo:'reader type: INT not compatible with writer type: LONG'}",
                ],
            ),
            (
                record(field("a", {"type": "array", "items": {"type": "map", "values": "int"}})),
                record(field("a", {"type": "array", "items": {"type": "map", "values": ["int", "string"]}})),
                [
                    "{errorType:'TYPE_MISMATCH', description:'The type (path '/fields/0/type/items/values/1') of a field in the new schema"
                    " does not match with the old schema', additionalInfo:'reader type: INT not compatible with writer type: STRING'}",
                ],
            ),
            (
                record(field("a", "int"), field("b", "int")),
                record(field("a", "int")),
                [
                    "{errorType:'READER_FIELD_MISSING_DEFAULT_VALUE', description:'The field 'b' at path '/fields/1' in the new schema has"
                    " no default value and is missing in the old schema', additionalInfo:'b'}",
                ],
            ),
            (
                ["int", "string"],
                ["int", "boolean"],
                [
                    "{errorType:'MISSING_UNION_BRANCH', description:'The new schema is missing a type inside a union field at path '/1' in"
                    " the old schema', additionalInfo:'reader union lacking writer type: BOOLEAN'}",
                ],
            ),
            (
                {"type": "fixed", "name": "F", "size": 1},
                {"type": "fixed", "name": "G", "size": 2},
                [
                    "{errorType:'NAME_MISMATCH', description:'The name of the schema has changed (path '/name')', additionalInfo:'expected:"
                    " G'}",
                    "{errorType:'FIXED_SIZE_MISMATCH', description:'The size of FIXED type field at path '/size' in the new schema does"
                    " not match with the old schema', additionalInfo:'expected: 2, found: 1'}",
                ],
            ),
        ],
    )
    def test_messages_are_those_of_confluent(self, reader: Any, writer: Any, expected: list[str]) -> None:
        assert find_incompatibilities(avro(reader), avro(writer)) == expected

    def test_names_of_reader_and_writer_are_chosen(self) -> None:
        found = find_incompatibilities(avro("int"), avro("string"), reader_name="old", writer_name="new")
        assert "in the old schema does not match with the new schema" in found[0]

    def test_recursive_records_are_compared(self) -> None:
        reader, writer = (avro(record(field("next", ["null", "R"]), field("a", declared))) for declared in ("int", "string"))
        assert len(find_incompatibilities(reader, writer)) == 1
        assert find_incompatibilities(reader, reader) == []

    def test_cycles_of_different_length_are_compared(self) -> None:
        def cycle(length: int) -> Schema:
            return avro([record(field("n", f"R{(number + 1) % length}", aliases=["m"]), name=f"R{number}") for number in range(length)])

        assert find_incompatibilities(cycle(13), cycle(17))

    def test_large_unions_end_in_a_message(self) -> None:
        reader, writer = (avro([record(field(side, "int"), name=f"{side}{number}") for number in range(250)]) for side in "ab")
        assert "too many pairs" in find_incompatibilities(reader, writer)[0]

    def test_field_that_matches_two_fields_ends_in_a_message(self) -> None:
        found = find_incompatibilities(avro(record(field("a", "int", aliases=["b"]))), avro(record(field("a", "int"), field("b", "int"))))
        assert "field a type:INT pos:0 matches multiple fields" in found[0]
