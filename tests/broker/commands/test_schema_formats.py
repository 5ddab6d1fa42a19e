"""Records in Confluent's wire format: `odradek consume` reads what other clients write, and they read what `odradek produce` writes."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from odradek import Cluster
from tests.broker.commands.console import Console

pytestmark = pytest.mark.clients

ORDER = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "note", "type": ["null", "string"], "default": None},
        {"name": "lines", "type": {"type": "array", "items": {"type": "map", "values": "double"}}, "default": []},
    ],
}
PROTO = (
    'syntax = "proto3"; package shop; message Order { int32 id = 1; map<string, double> prices = 2; Kind kind = 3;'
    " enum Kind { NONE = 0; NEW = 1; } }"
)
WRITTEN = bytes.fromhex("02 0202 78 0202 0261 000000000000e03f 00 00".replace(" ", ""))
"""The order 1 with the note x and the line {"a": 0.5}, as the package fastavro writes it."""


@pytest.fixture(scope="module")
def shared_cluster() -> Iterator[Cluster]:
    with Cluster(nodes=1, schema_registry=True) as cluster:
        yield cluster


@pytest.fixture
def registry(shared_cluster: Cluster, console: Console, monkeypatch: pytest.MonkeyPatch) -> str:
    """Returns the URL of the registry, which commands find in the environment."""
    shared_cluster.create_topic("orders", 1)
    monkeypatch.setenv("SCHEMA_REGISTRY_URL", shared_cluster.schema_registry_url)
    return shared_cluster.schema_registry_url


def write(cluster: Cluster, *values: bytes) -> None:
    cluster.produce("orders", [{"value": value} for value in values])


def register(registry: str, schema: object) -> bytes:
    """Registers an Avro schema. Returns what is in front of the data that are written with it."""
    body = json.dumps({"schema": json.dumps(schema)}).encode()
    request = urllib.request.Request(f"{registry}/subjects/orders-value/versions", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return b"\0" + int(json.load(answer)["id"]).to_bytes(4, "big")


def read_first(cluster: Cluster) -> bytes:
    value = cluster.records("orders")[0].value
    assert isinstance(value, bytes)
    return value


def file_of(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def test_avro_of_another_client_is_shown(shared_cluster: Cluster, console: Console, registry: str) -> None:
    write(shared_cluster, register(registry, ORDER) + WRITTEN)
    (shown,) = console.succeed("consume", "orders", "--value-format", "avro").json_lines
    assert shown == {"id": 1, "note": {"string": "x"}, "lines": [{"a": 0.5}]}
    (entry,) = console.succeed("consume", "orders", "--value-format", "avro", "--output", "json").json_lines
    assert json.loads(entry["value"]) == shown


@pytest.mark.parametrize("note", ["x", {"string": "x"}])
def test_written_avro_is_that_of_other_clients(
    shared_cluster: Cluster, console: Console, registry: str, tmp_path: Path, note: object
) -> None:
    schema = file_of(tmp_path, "order.avsc", json.dumps(ORDER))
    line = json.dumps({"id": 1, "note": note, "lines": [{"a": 0.5}]}).encode()
    console.succeed("produce", "orders", "--value-format", "avro", "--schema", schema, given=line)
    assert read_first(shared_cluster) == register(registry, ORDER) + WRITTEN


@pytest.mark.parametrize(
    ("data_format", "schema", "line", "shown"),
    [
        ("protobuf", PROTO, {"id": 3, "prices": {"a": 1.5}, "kind": "NEW"}, {"id": 3, "prices": {"a": 1.5}, "kind": "NEW"}),
        ("json", '{"type": "object"}', {"b": [1, None]}, {"b": [1, None]}),
        ("avro", '"bytes"', "\u00ff", "\u00ff"),
    ],
)
def test_written_records_are_shown_again(
    console: Console, registry: str, tmp_path: Path, data_format: str, schema: str, line: Any, shown: Any
) -> None:
    file = file_of(tmp_path, "schema", schema)
    entry = json.dumps({"key": "k", "value": json.dumps(line)})
    arguments = ["--format", "jsonl", "--value-format", data_format, "--schema", file, "--subject", "s"]
    console.succeed("produce", "orders", *arguments, given=entry.encode())
    assert console.succeed("consume", "orders", "--value-format", data_format).json_lines == [shown]
    assert console.succeed("schemas", "list", "--output", "json").json == [{"subject": "s"}]


def test_tombstones_and_plain_keys_stay(shared_cluster: Cluster, console: Console, registry: str) -> None:
    shared_cluster.produce("orders", [{"key": "k", "value": None}])
    assert console.succeed("consume", "orders", "--value-format", "avro", "--format", "%k %v\\n").output == "k null\n"


class TestMistakes:
    def test_value_without_schema_is_named(self, shared_cluster: Cluster, console: Console, registry: str) -> None:
        write(shared_cluster, b"plain")
        result = console.run("consume", "orders", "--value-format", "avro")
        assert (result.code, "orders-0 offset 0: value: the data do not begin with the byte 0" in result.errors) == (1, True)

    def test_unknown_id_is_named(self, shared_cluster: Cluster, console: Console, registry: str) -> None:
        write(shared_cluster, b"\0\0\0\0\x63data")
        assert "40403" in console.run("consume", "orders", "--value-format", "avro").errors

    def test_other_format_is_named(self, shared_cluster: Cluster, console: Console, registry: str) -> None:
        write(shared_cluster, register(registry, "int") + b"\2")
        assert "is of the format avro, not json" in console.run("consume", "orders", "--value-format", "json").errors

    def test_line_that_does_not_fit_is_named(self, console: Console, registry: str, tmp_path: Path) -> None:
        schema = file_of(tmp_path, "order.avsc", json.dumps(ORDER))
        given = b'{"id": 1}\n{"id": "x"}\n'
        result = console.run("produce", "orders", "--value-format", "avro", "--schema", schema, given=given)
        assert (result.code, "line 2: value.id: expected long, found str 'x'" in result.errors) == (2, True)

    def test_invalid_schema_is_refused(self, console: Console, registry: str, tmp_path: Path) -> None:
        schema = file_of(tmp_path, "order.avsc", '{"type": "record"}')
        result = console.run("produce", "orders", "--value-format", "avro", "--schema", schema)
        assert (result.code, "No name in schema" in result.errors) == (2, True)

    @pytest.mark.parametrize(
        ("argv", "message"),
        [
            (["produce", "orders", "--value-format", "avro"], "--value-format and --schema go together"),
            (["produce", "--format", "jsonl", "--value-format", "avro", "--schema", "x"], "name the topic, or the subject"),
            (["consume", "orders", "--value-format", "avro", "--schema-registry", "nonsense"], "invalid URL"),
            (["produce", "orders", "--value-format", "avro", "--schema", "x", "--schema-registry", "nonsense"], "invalid URL"),
            (["produce", "orders", "--value-format", "avro", "--schema", "/none"], "cannot read /none"),
        ],
    )
    def test_wrong_options_are_refused(self, console: Console, argv: list[str], message: str) -> None:
        result = console.run(*argv)
        assert (result.code, message in result.errors) == (2, True), result.errors
