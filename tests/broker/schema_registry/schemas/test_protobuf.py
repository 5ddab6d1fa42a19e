import base64
import time

import pytest

from odradek.broker.schema_registry.schemas import InvalidSchema, Reference, Schema, find_incompatibilities, parse_schema

HEAD = 'syntax = "proto3";\n'
NESTED = "".join(f"message {{0}}{number} {{{{ " for number in range(30)) + "{1}" + "}}" * 30
"""Messages in each other, to which names of the messages and a body are given."""


def proto(text: str, *references: Reference) -> Schema:
    return parse_schema("PROTOBUF", text, references)


def incompatibilities(old: str, new: str) -> list[str]:
    return find_incompatibilities(proto(HEAD + new), proto(HEAD + old))


class TestText:
    def test_text_has_the_form_of_confluent(self) -> None:
        text = proto(
            HEAD + 'package a; /* c */ message M { reserved 4, 6 to 8, "x"; int32 id = 1; // d\n map<string,M> m = 2;'
            "oneof o { string p = 3 [deprecated=true, json_name='q']; } enum E { X = 0; } }"
        ).text
        assert text == (
            'syntax = "proto3";\npackage a;\n\nmessage M {\n  reserved 4, 6 to 8, "x";\n\n  int32 id = 1;\n  map<string, M> m = 2;\n\n'
            '  oneof o {\n    string p = 3 [\n      deprecated = true,\n      json_name = "q"\n    ];\n  }\n\n  enum E {\n    X = 0;\n'
            "  }\n}\n"
        )

    def test_text_of_text_is_itself(self) -> None:
        text = proto(
            HEAD + 'message M { option (a).b = { c: [1, 2] d { e: "\\n" } }; extensions 5 to max; } service S { rpc G (M) returns (M); }'
        ).text
        assert proto(text).text == text

    def test_extensions_are_left_out_if_asked(self) -> None:
        schema = proto(HEAD + "message M { option (a) = 1; option (confluent.message_meta).doc = 'd'; extensions 9; }")
        assert schema.in_format("ignore_extensions") == HEAD + '\nmessage M {\n\n  option (confluent.message_meta).doc = "d";\n}\n'.replace(
            "{\n\n", "{\n", 1
        )
        assert schema.in_format("unknown") == schema.text


class TestNormalizing:
    def test_order_and_names_do_not_matter(self) -> None:
        one = proto(HEAD + "package a; message M { N n = 2; int32 i = 1; message N {} } enum E { Y = 1; X = 0; }")
        other = proto(HEAD + "package a; message M { int32 i = 1; .a.M.N n = 2; message N {} } enum E { X = 0; Y = 1; }")
        assert one.normal_text() == other.normal_text()

    def test_unknown_type_is_refused(self) -> None:
        with pytest.raises(InvalidSchema, match=r"Could not resolve type: Missing"):
            proto(HEAD + "message M { Missing m = 1; }")


class TestDescriptors:
    DESCRIBED = (
        HEAD + 'package a.b; import "google/protobuf/timestamp.proto"; option java_package = "x"; '
        "message M { optional string s = 1; repeated N n = 2 [deprecated = true];"
        " map<string, N> names = 3; oneof o { int32 p = 4; E e = 5; }"
        " google.protobuf.Timestamp t = 6; reserved 7, 9 to 11; message N { M m = 1; } enum E { X = 0; Y = 1; } }"
        " service S { rpc Get (M) returns (stream M.N); }"
    )

    def test_text_of_a_descriptor_is_the_normal_one(self) -> None:
        schema = proto(self.DESCRIBED)
        described = proto(remove_json_names(schema.in_format("serialized")))
        assert described.text == described.normal_text() == schema.normal_text() != schema.text

    def test_descriptor_can_be_loaded(self) -> None:
        from google.protobuf import descriptor_pb2, descriptor_pool, timestamp_pb2

        described = descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(proto(self.DESCRIBED).in_format("serialized")))
        pool = descriptor_pool.DescriptorPool()
        pool.AddSerializedFile(timestamp_pb2.DESCRIPTOR.serialized_pb)
        pool.Add(described)
        message = pool.FindMessageTypeByName("a.b.M")
        assert [field.name for field in message.fields] == ["s", "n", "names", "t", "p", "e"]
        assert message.fields_by_name["names"].message_type.GetOptions().map_entry

    def test_proto2_survives_a_descriptor(self) -> None:
        schema = proto(
            'syntax = "proto2"; message M { required int32 a = 1 [default = 0x1F]; optional group G = 2 { optional string s = 3; }'
            ' extensions 10 to 20; } extend M { optional bool x = 10; } enum E { reserved 5 to 6, "Z"; X = 0; }'
        )
        read = proto(remove_json_names(schema.in_format("serialized")))
        for part in ("required int32 a = 1 [default = 31];", "extensions 10 to 20;", "extend .M {", "reserved 5 to 6;", "message G {"):
            assert part in read.text

    @pytest.mark.parametrize("text", ["aGVsbG8gd29ybGQ=", "hello", "12"])
    def test_text_that_is_neither_is_refused(self, text: str) -> None:
        with pytest.raises(InvalidSchema, match="neither the text of a"):
            proto(text)


def remove_json_names(serialized: str) -> str:
    """Returns a descriptor as Python's generated code contains it."""
    from google.protobuf import descriptor_pb2

    described = descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(serialized))
    pending = list(described.message_type)
    while pending:
        message = pending.pop()
        pending += message.nested_type
        for field in message.field:
            field.ClearField("json_name")
    for field in described.extension:
        field.ClearField("json_name")
    return base64.b64encode(described.SerializeToString()).decode()


class TestReferences:
    def test_imported_types_are_known(self) -> None:
        street = Reference("street.proto", "street", 1, proto(HEAD + "package s; message Street {}"))
        address = Reference(
            "address.proto", "address", 1, proto(HEAD + 'package p; import "street.proto"; message A { s.Street s = 1; }', street)
        )
        schema = proto(HEAD + 'import "address.proto"; message M { p.A a = 1; s.Street b = 2; }', address)
        assert ".p.A a = 1;" in schema.normal_text()

    def test_change_of_an_imported_message_is_found(self) -> None:
        versions = [
            Reference("a.proto", "a", version, proto(f"{HEAD}package p; message A {{ {kind} x = 1; A next = 2; }}"))
            for version, kind in ((1, "string"), (2, "int32"))
        ]
        old, new = (proto(HEAD + 'import "a.proto"; message M { p.A a = 1; }', version) for version in versions)
        found = find_incompatibilities(new, old)
        assert ["FIELD_SCALAR_KIND_CHANGED" in found[0], "#/A/1" in found[0], "FIELD_NAMED_TYPE_CHANGED" in found[-1]] == [True] * 3
        assert find_incompatibilities(old, old) == []

    def test_reference_to_another_language_is_refused(self) -> None:
        with pytest.raises(InvalidSchema, match="not a Protobuf schema, but of type AVRO"):
            proto(HEAD, Reference("a", "a", 1, parse_schema("AVRO", '"int"')))


class TestRefusal:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("message", "expected the name of a message, but found the end of the file"),
            ("message A {\n int32 x = 1 }", "Syntax error in 3:14: expected ';', but found '}'"),
            ("message A { int32 x = x; }", "expected a number, but found x"),
            ("message A { int32 x = 99999999999; }", "is too large"),
            ("message A { int32 x = 0; }", "must be from 1 to 536870911"),
            ("message A { int32 1x = 1; }", "expected the name of a field, but found '1x'"),
            ("message A { = 1; }", "expected a member of a message"),
            ("message A { required int32 x = 1; }", "'required' label forbidden"),
            ("message A {} enum A {}", "A is already defined"),
            ("message A { int32 x = 1 [a = 1 b = 2]; }", "expected ',' or ']'"),
            ("hello;", "unexpected 'hello' at the top"),
            ("message A { int32 ? = 1; }", "unexpected '?'"),
            ("import public none;", "expected a file in quotes"),
            ("message A { message }", "expected a name after 'message'"),
            ('edition = "2023";', "edition is not currently supported"),
            ('syntax = "proto2";', "must be the first"),
            ("service S { rpc A (B) returns C; }", r"expected '\('"),
            ("message A { map<string, A> x = 1; repeated map<string, A> y = 2; }", "a map has no label"),
        ],
    )
    def test_message_tells_place_and_reason(self, text: str, message: str) -> None:
        with pytest.raises(InvalidSchema, match=message):
            proto(HEAD + text)

    def test_field_without_label_needs_proto3(self) -> None:
        with pytest.raises(InvalidSchema, match="unexpected label: int32"):
            proto("message A { int32 x = 1; }")

    @pytest.mark.parametrize(
        "text",
        [
            HEAD + 'import "confluent/meta.proto";' + "option (confluent.file_meta).params = 1;" * 20_000,
            HEAD + "option (a) = {" + "b:1 " * 100_000 + "} x",
            HEAD + "".join(f"message M{number} {{}}" for number in range(20_000)) + "message M0 {}",
            "message A {" * 5000,
            "/*" * 100_000,
            '"' * 100_001,
            "x" * 2_000_000,
            HEAD + "option a = {" + "b {" * 5000,
            HEAD + '"\\' * 200_000,
            HEAD + "option (a)" + ".b" * 20_000 + " = 1;",
            HEAD + "package " + ".".join(["a"] * 100_000) + "; message M { N n = 1; }",
            HEAD + "message M {" * 33 + "}" * 33,
            HEAD + ";" * 200_001,
            HEAD + "message Z {}" + NESTED.format("Z", "".join(f"Z {'f' * 700}{number} = {number + 1};" for number in range(1000))),
            HEAD + NESTED.format("a" * 1000, "".join(f"message M{number} {{}}" for number in range(1000))),
        ],
        ids=[
            *("options", "list", "messages", "nested", "comments", "quotes", "long", "option"),
            *("escapes", "path", "package", "depth", "words", "indented", "names"),
        ],
    )
    def test_excessive_text_is_refused_in_time(self, text: str) -> None:
        began = time.process_time()
        with pytest.raises(InvalidSchema):
            proto(text)
        assert time.process_time() - began < 10


class TestCompatibility:
    @pytest.mark.parametrize(
        ("old", "new", "kinds"),
        [
            ("message M { int32 a = 1; }", "message M { int64 a = 1; bool b = 2; }", []),
            ("message M { string a = 1; }", "message M { repeated bytes a = 1; }", []),
            ("message M { repeated string a = 1; }", "message M { string a = 1; }", []),
            ("message M { int32 a = 1; }", "message M { sint32 a = 1; }", ["FIELD_SCALAR_KIND_CHANGED"]),
            ("message M { int32 a = 1; } message N {}", "message M { N a = 1; } message N {}", ["FIELD_KIND_CHANGED"]),
            ("message M { map<string, int32> a = 1; }", "message M { map<string, M> a = 1; }", ["FIELD_KIND_CHANGED"]),
            ("message M {} message N {}", "message M {}", ["MESSAGE_REMOVED"]),
            (
                "message M { int32 a = 1; string b = 2; }",
                "message M { oneof o { int32 a = 1; string b = 2; } }",
                ["MULTIPLE_FIELDS_MOVED_TO_ONEOF"],
            ),
            ("message M { oneof o { int32 a = 1; int32 b = 2; } }", "message M { oneof o { int32 a = 1; } }", ["ONEOF_FIELD_REMOVED"]),
            ("message M { oneof o { int32 a = 1; } }", "message M { }", []),
            ("package a;", "package b;", ["PACKAGE_CHANGED"]),
        ],
    )
    def test_incompatible_changes_are_named(self, old: str, new: str, kinds: list[str]) -> None:
        assert [message.split('"')[1] for message in incompatibilities(old, new)] == kinds

    def test_message_has_the_path_of_the_field(self) -> None:
        assert incompatibilities("message M { message N { int32 a = 7; } }", "message M { message N { string a = 7; } }") == [
            '{errorType:"FIELD_SCALAR_KIND_CHANGED", description:"The kind of a SCALAR field at path \'#/M/N/7\' in the new schema does not'
            ' match its kind in the old schema"}'
        ]

    def test_chain_of_imported_messages_is_compared_in_time(self) -> None:
        def chain(kind: str, version: int) -> Schema:
            messages = [f"message M{number} {{ M{number + 1} a = 1; M{number + 1} b = 2; }}" for number in range(300)]
            imported = proto(f"{HEAD}package p; {' '.join(messages)} message M300 {{ {kind} x = 1; }}")
            return proto(HEAD + 'import "c.proto"; message M { p.M0 m = 1; }', Reference("c.proto", "c", version, imported))

        began = time.process_time()
        assert len(find_incompatibilities(chain("int32", 2), chain("string", 1))) <= 1001
        assert time.process_time() - began < 5
