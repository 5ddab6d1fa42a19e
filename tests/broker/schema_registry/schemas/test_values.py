"""Data of Avro and Protobuf schemas: the codings, and hostile bytes."""

import json
import random
import time
from pathlib import Path
from typing import Any

import pytest

from odradek.broker.schema_registry.schemas import InvalidSchema, Reference, parse_schema
from odradek.broker.schema_registry.schemas.avro.schema import AvroSchema
from odradek.broker.schema_registry.schemas.avro.values import decode_avro, encode_avro
from odradek.broker.schema_registry.schemas.protobuf.schema import ProtobufSchema
from odradek.broker.schema_registry.schemas.protobuf.values import ProtobufMessages
from odradek.broker.schema_registry.schemas.wire_format import ByteReader, InvalidData, join_payload, split_payload, write_zigzag

WRITTEN = Path(__file__).parent / "recorded" / "avro_values.jsonl"
HEAD = 'syntax = "proto3"; package p;'


def avro(declared: Any) -> Any:
    schema = parse_schema("AVRO", json.dumps(declared))
    assert isinstance(schema, AvroSchema)
    return schema.root


def proto(text: str, *references: Reference) -> ProtobufMessages:
    schema = parse_schema("PROTOBUF", HEAD + text, references)
    assert isinstance(schema, ProtobufSchema)
    return ProtobufMessages(schema)


class TestWireFormat:
    def test_payload_has_an_id(self) -> None:
        assert split_payload(join_payload(7, b"data")) == (7, b"data")

    @pytest.mark.parametrize("payload", [b"", b"\0\0\0", b"plain text"])
    def test_other_payload_is_refused(self, payload: bytes) -> None:
        with pytest.raises(InvalidData, match="not written with a schema registry"):
            split_payload(payload)

    @pytest.mark.parametrize("number", [0, -1, 1, 63, 64, -64, -65, 2**31, 2**63 - 1, -(2**63)])
    def test_number_survives_its_coding(self, number: int) -> None:
        assert ByteReader(write_zigzag(number)).zigzag() == number

    def test_endless_number_is_refused(self) -> None:
        with pytest.raises(InvalidData, match="more than 10 bytes"):
            ByteReader(b"\xff" * 20).zigzag()


class TestAvro:
    def test_data_are_those_of_another_library(self) -> None:
        """The lines were written by the package fastavro: a schema, and the data of a random value in base 16."""
        lines = [json.loads(line) for line in WRITTEN.read_text(encoding="utf-8").splitlines()]
        assert len(lines) >= 50
        for line in lines:
            schema, data = avro(line["schema"]), bytes.fromhex(line["data"])
            assert encode_avro(schema, json.loads(json.dumps(decode_avro(schema, data)))) == data

    @pytest.mark.parametrize(
        ("schema", "value", "message"),
        [
            ("int", 2**31, "value: expected int, found int 2147483648"),
            ("float", 1e300, "too large for a float"),
            ("bytes", "\u0100", "characters up to"),
            ("null", 0, "expected null"),
            ("boolean", 1, "expected boolean"),
            ({"type": "fixed", "name": "F", "size": 2}, "abc", "expected F"),
            ({"type": "enum", "name": "E", "symbols": ["A"]}, "B", "expected E, found str 'B'"),
            ({"type": "array", "items": "int"}, [1, None], r"value\[1\]: expected int, found null"),
            ({"type": "map", "values": "int"}, [], "expected map, found list"),
            (["null", "int"], "x", "no type of the union fits; write null or"),
            ({"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}, {}, "the field a is missing"),
            ({"type": "record", "name": "R", "fields": []}, {"b": 1}, "R has no field b"),
        ],
    )
    def test_value_that_does_not_fit_is_named(self, schema: Any, value: Any, message: str) -> None:
        with pytest.raises(InvalidData, match=message):
            encode_avro(avro(schema), value)

    @pytest.mark.parametrize(
        ("schema", "data", "message"),
        [
            ("string", b"\x0eabc", "end in a part of 7 bytes"),
            ("string", b"\x01", "end in a part of -1 bytes"),
            ("string", b"\x02\xff", "not UTF-8"),
            ("int", b"\x02\x02", "1 bytes are left"),
            (["null"], b"\x04", "no branch of a union with the index 2"),
            ({"type": "enum", "name": "E", "symbols": ["A"]}, b"\x02", "no symbol of an enum with the index 1"),
            ({"type": "array", "items": "null"}, write_zigzag(2**60), "more than 1000000 parts"),
            ({"type": "array", "items": "null"}, write_zigzag(-(2**60)) + b"\0", "more than 1000000 parts"),
            ({"type": "record", "name": "R", "fields": [{"name": "r", "type": ["null", "R"]}]}, b"\x02" * 500, "deeper than"),
            ({"type": "record", "name": "R", "fields": [{"name": "r", "type": "R"}]}, b"", "deeper than"),
        ],
    )
    def test_hostile_data_are_refused(self, schema: Any, data: bytes, message: str) -> None:
        with pytest.raises(InvalidData, match=message):
            decode_avro(avro(schema), data)

    def test_parts_without_bytes_are_counted(self) -> None:
        schema: Any = "null"
        for level in range(25):
            first = {"type": "record", "name": f"R{level}", "fields": [{"name": "a", "type": schema}]}
            schema = {**first, "fields": [*first["fields"], {"name": "b", "type": f"R{level - 1}" if level else "null"}]}
        with pytest.raises(InvalidData, match="more than 1000 parts"):
            decode_avro(avro(schema), b"", 1000)

    def test_damaged_data_end_in_a_value_or_an_error(self) -> None:
        chooser = random.Random(7)
        lines = [json.loads(line) for line in WRITTEN.read_text(encoding="utf-8").splitlines()]
        began = time.process_time()
        for line in lines:
            schema, data = avro(line["schema"]), bytearray.fromhex(line["data"])
            for _ in range(10):
                if data:
                    data[chooser.randrange(len(data))] = chooser.randrange(256)
                try:
                    decode_avro(schema, bytes(data))
                except InvalidData:
                    continue
        assert time.process_time() - began < 5


class TestProtobuf:
    def test_nested_message_is_found_by_its_path(self) -> None:
        messages = proto("message A { message B { int32 x = 1; } } message C { repeated A.B b = 1; }")
        assert messages.decode(b"\x02\x02" + b"\x0a\x02\x08\x05") == {"b": [{"x": 5}]}
        assert messages.decode(b"\x04\x00\x00" + b"\x08\x05") == {"x": 5}

    def test_imports_are_loaded(self) -> None:
        other = parse_schema("PROTOBUF", 'syntax = "proto3"; package q; message N { string s = 1; }')
        messages = proto(
            'import "n.proto"; import "google/protobuf/timestamp.proto"; message M { q.N n = 1; google.protobuf.Timestamp t = 2; }',
            Reference("n.proto", "n", 1, other),
        )
        value = {"n": {"s": "x"}, "t": "2026-01-31T12:00:00Z"}
        assert messages.decode(messages.encode(value)) == value

    @pytest.mark.parametrize("data", [b"\x0e", b"\x02\x08", b"\x00\xff\xff", b"\xff" * 30, write_zigzag(101)])
    def test_hostile_data_are_refused(self, data: bytes) -> None:
        with pytest.raises(InvalidData):
            proto("message M { int32 x = 1; }").decode(data)

    @pytest.mark.parametrize("value", [{"y": 1}, {"x": "a"}, 1])
    def test_value_that_does_not_fit_is_refused(self, value: Any) -> None:
        with pytest.raises(InvalidData, match=r"the value is no p\.M"):
            proto("message M { int32 x = 1; }").encode(value)

    def test_schema_that_protobuf_refuses_is_named(self) -> None:
        with pytest.raises(InvalidSchema, match="protobuf refuses the schema"):
            proto("message M { int32 x = 1; int32 x = 2; }")

    def test_missing_import_is_named(self) -> None:
        with pytest.raises(InvalidSchema, match=r"none\.proto is neither a reference nor"):
            proto('import "none.proto"; message M { }')
