import json
import time
from typing import Any

import pytest

from odradek.broker.schema_registry.schemas import InvalidSchema, Reference, Schema, find_incompatibilities, parse_schema
from odradek.broker.schema_registry.schemas.json_schema.matching import count_matches
from odradek.broker.schema_registry.schemas.schema import MAX_NESTING


def json_schema(declared: Any, *references: Reference) -> Schema:
    return parse_schema("JSON", json.dumps(declared), references)


def incompatibilities(old: Any, new: Any) -> list[str]:
    return find_incompatibilities(json_schema(new), json_schema(old))


class TestText:
    def test_numbers_keep_their_digits(self) -> None:
        schema = parse_schema("JSON", '{"maximum": 1.50, "minimum": 1e2, "default": -0.0}')
        assert schema.text == '{"maximum":1.50,"minimum":1E+2,"default":0.0}'

    def test_normal_text_has_sorted_keys(self) -> None:
        assert json_schema({"b": [{"d": 1, "c": 2}], "a": 1}).normal_text() == '{"a":1,"b":[{"c":2,"d":1}]}'

    def test_formats_do_not_exist(self) -> None:
        assert json_schema({"type": "null"}).in_format("resolved") == '{"type":"null"}'


class TestReferences:
    def test_reference_is_found_by_name_and_pointer(self) -> None:
        address = Reference("address.json", "a", 1, json_schema({"$defs": {"a/b~c": {"type": "integer"}}}))
        for ref in ("address.json#/$defs/a~1b~0c", "./address.json#/$defs/a~1b~0c"):
            old = json_schema({"properties": {"home": {"$ref": ref}}}, address)
            new = json_schema({"properties": {"home": {"type": "string"}}})
            assert "TYPE_CHANGED" in find_incompatibilities(new, old)[0]

    def test_references_of_references_are_known(self) -> None:
        street = Reference("street.json", "s", 1, json_schema({"type": "string"}))
        address = Reference("address.json", "a", 1, json_schema({"properties": {"s": {"$ref": "street.json"}}}, street))
        assert json_schema({"$ref": "address.json"}, address).text == '{"$ref":"address.json"}'

    @pytest.mark.parametrize("identifier", [{"$id": "http://x.org/y"}, {"$id": "#y"}, {"$anchor": "y"}])
    def test_schema_is_found_by_its_identifier(self, identifier: dict[str, str]) -> None:
        ref = "#y" if "http://x.org/y" not in identifier.values() else "http://x.org/y"
        declared = {"properties": {"a": {"$ref": ref}}, "definitions": {"b": {**identifier, "type": "string"}}}
        new = {"properties": {"a": {"$ref": ref}}, "definitions": {"b": {**identifier, "type": "integer"}}}
        assert "#/properties/a" in incompatibilities(declared, new)[0]

    def test_element_of_an_array_is_found(self) -> None:
        old = {"anyOf": [{"$ref": "#/allOf/0"}], "allOf": [{"type": "string"}]}
        assert incompatibilities(old, old) == []

    def test_definitions_are_found_among_defs(self) -> None:
        old = {"properties": {"a": {"$ref": "#/$defs/b"}}, "definitions": {"b": {"type": "string"}}}
        assert incompatibilities(old, {"properties": {"a": {"type": "integer"}}})

    def test_metaschema_accepts_everything(self) -> None:
        assert incompatibilities({"type": "string"}, {"$ref": "http://json-schema.org/draft-07/schema#"}) == []

    @pytest.mark.parametrize(
        ("ref", "message"),
        [
            ("#/definitions/none", "refers to nothing"),
            ("#/definitions/list/7", "refers to nothing"),
            ("none.json", "refers to nothing"),
            ("http://example.com/x.json", "disabled: http://example.com/x.json"),
            ("#", "refers to itself"),
            ("#/definitions/loop", "refers to itself"),
        ],
    )
    def test_reference_without_target_is_refused(self, ref: str, message: str) -> None:
        with pytest.raises(InvalidSchema, match=message):
            json_schema({"$ref": ref, "definitions": {"list": [1], "loop": {"$ref": "#/definitions/loop2"}, "loop2": {"$ref": ref}}})

    def test_reference_that_is_no_uri_is_refused(self) -> None:
        with pytest.raises(InvalidSchema, match="is no URI"):
            json_schema({"$id": "http://x.org/", "properties": {"a": {"$ref": "http://[x"}}})

    def test_reference_to_another_language_is_refused(self) -> None:
        with pytest.raises(InvalidSchema, match="not a JSON Schema, but of type AVRO"):
            json_schema({}, Reference("a", "a", 1, parse_schema("AVRO", '"int"')))


class TestRefusal:
    @pytest.mark.parametrize(
        ("declared", "message"),
        [
            ([], "must be an object or a boolean, but this is a JsonArray"),
            ({"properties": {"a": {"minLength": "1"}}}, "#/properties/a/minLength: expected type: Integer, found: String"),
            ({"items": [{"type": "strin"}]}, r"#/items/0: unknown type: \[strin\]"),
            ({"properties": None}, "#/properties: expected type: JsonObject, found: Null"),
            ({"pattern": "("}, r"the pattern \( is no regular expression"),
            ({"pattern": "a" * 20_000}, "at most 10000 are allowed"),
            ({"patternProperties": {"(": {}}}, "is no regular expression"),
            ({"multipleOf": 0}, "multipleOf should not be 0"),
        ],
    )
    def test_message_names_the_wrong_part(self, declared: Any, message: str) -> None:
        with pytest.raises(InvalidSchema, match=message):
            json_schema(declared)

    @pytest.mark.parametrize("number", ["1e999999999", "1" * 2000, "0." + "1" * 2000], ids=["exponent", "digits", "fraction"])
    def test_number_that_is_too_large_is_refused(self, number: str) -> None:
        with pytest.raises(InvalidSchema, match="1000"):
            parse_schema("JSON", f'{{"multipleOf": {number}}}')


class TestBounds:
    def test_chain_of_references_is_followed(self) -> None:
        chain = {f"d{number}": {"$ref": f"#/definitions/d{number + 1}"} for number in range(5000)} | {"d5000": {"type": "string"}}
        assert incompatibilities({"$ref": "#/definitions/d0", "definitions": chain}, {"type": "string"}) == []

    @pytest.mark.parametrize("keyword", ["not", "additionalProperties", "items"])
    def test_deepest_schema_is_compared(self, keyword: str) -> None:
        declared: Any = {"type": "string"}
        for _ in range(MAX_NESTING - 1):
            declared = {keyword: declared}
        assert incompatibilities(declared, declared) == []

    def test_many_alternatives_end_in_a_message(self) -> None:
        old: Any = {"anyOf": [{"properties": {f"a{number}": {}}} for number in range(250)]}
        new = {"anyOf": [{"properties": {f"b{number}": {"type": "null"}}} for number in range(250)]}
        assert "too many pairs" in incompatibilities(old, new)[0]

    def test_nested_cycles_are_compared_in_time(self) -> None:
        def cycles(declared: str) -> Any:
            names = [f"d{number}" for number in range(12)]
            every = {"oneOf": [{"$ref": f"#/definitions/{name}"} for name in names]}
            members = {name: {"properties": {"child": every, name: {"type": declared}}, "additionalProperties": False} for name in names}
            return {"$ref": "#/definitions/d0", "definitions": members}

        began = time.process_time()
        assert incompatibilities(cycles("string"), cycles("integer"))
        assert incompatibilities(cycles("string"), cycles("string")) == []
        assert time.process_time() - began < 5

    def test_exploding_pattern_is_matched_in_time(self) -> None:
        old = {"properties": {"a" * 5000: {"type": "string"}}}
        new = {"patternProperties": {"(a*)*(a|aa)+$(a+)+b": {"type": "integer"}}, "additionalProperties": False}
        began = time.process_time()
        assert incompatibilities(old, new)
        assert time.process_time() - began < 10

    def test_pattern_beyond_re2_does_not_match(self) -> None:
        found = incompatibilities({"properties": {"a": {}}}, {"patternProperties": {"(?=a)a": {}}, "additionalProperties": False})
        assert "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL" in found[0]


def test_unevaluated_properties_decide_the_content_model() -> None:
    modern = {"$schema": "https://json-schema.org/draft/2020-12/schema", "unevaluatedProperties": False}
    assert incompatibilities({**modern, "properties": {}}, {**modern, "properties": {"a": {"type": "string"}}}) == []
    assert "UNEVALUATED_PROPERTIES_REMOVED" in incompatibilities({**modern, "unevaluatedProperties": {}}, modern)[0]
    assert (
        "UNEVALUATED_PROPERTIES_NARROWED"
        in incompatibilities(
            {"$schema": modern["$schema"], "properties": {"b": {}}},
            modern
            | {
                "unevaluatedProperties": {"type": "string"},
                "properties": {"b": {}},
            },
        )[0]
    )


def test_matching_is_as_large_as_possible() -> None:
    assert count_matches([[0, 1], [0], [0, 2], []]) == 3
    assert count_matches([[0], [0]]) == 1
    assert count_matches([]) == 0
