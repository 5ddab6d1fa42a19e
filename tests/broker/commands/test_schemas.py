"""`odradek schemas` with a registry that runs in the test."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from odradek import Cluster
from odradek.broker.cli import main
from tests.broker.http_server import http_server

ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=1, users={"alice": "se:cret"}, tls=True, schema_registry=True) as running:
        yield running


@pytest.fixture(autouse=True)
def registry(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster.reset()
    monkeypatch.setenv("SCHEMA_REGISTRY_URL", cluster.schema_registry_url.replace("https://", "https://alice:se%3Acret@"))
    monkeypatch.setenv("SSL_CERT_FILE", cluster.tls.ca_file)


@pytest.fixture
def schema_file(tmp_path: Path) -> str:
    path = tmp_path / "order.avsc"
    path.write_text(json.dumps(ORDER), encoding="utf-8")
    return str(path)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(["schemas", *arguments]) == code
    return capsys.readouterr().out


def test_schema_is_registered_listed_and_shown(capsys: pytest.CaptureFixture[str], schema_file: str) -> None:
    assert json.loads(printed(capsys, "register", "orders-value", schema_file, "--output", "json")) == [
        {"subject": "orders-value", "id": 1}
    ]
    assert printed(capsys).split() == ["SUBJECT", "orders-value"]
    assert json.loads(printed(capsys, "get", "orders-value")) == json.loads(printed(capsys, "get", "--id", "1")) == ORDER


def test_check_of_an_incompatible_schema_exits_with_1(capsys: pytest.CaptureFixture[str], schema_file: str, tmp_path: Path) -> None:
    printed(capsys, "register", "orders-value", schema_file)
    assert "true" in printed(capsys, "check", "orders-value", schema_file).lower()
    changed = tmp_path / "changed.avsc"
    changed.write_text(json.dumps(ORDER).replace('"int"', '"string"'), encoding="utf-8")
    (answer,) = json.loads(printed(capsys, "check", "orders-value", str(changed), "--output", "json", code=1))
    assert answer["compatible"] is False and "TYPE_MISMATCH" in answer["reasons"][0]
    assert main(["schemas", "register", "orders-value", str(changed)]) == 1
    assert "409: Schema being registered is incompatible" in capsys.readouterr().err


def test_schema_is_read_from_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO('"string"'))
    printed(capsys, "register", "orders-key", "-", "--type", "AVRO")
    assert printed(capsys, "get", "orders-key", "--version", "1") == '"string"\n'


def test_reference_names_another_subject(capsys: pytest.CaptureFixture[str], schema_file: str, tmp_path: Path) -> None:
    printed(capsys, "register", "orders-value", schema_file)
    batch = tmp_path / "batch.avsc"
    batch.write_text('{"type": "array", "items": "Order"}', encoding="utf-8")
    printed(capsys, "register", "batches-value", str(batch), "--reference", "Order=orders-value:1")
    with pytest.raises(SystemExit):
        main(["schemas", "register", "batches-value", str(batch), "--reference", "Order"])
    assert "NAME=SUBJECT:VERSION" in capsys.readouterr().err


def test_versions_are_deleted(capsys: pytest.CaptureFixture[str], schema_file: str) -> None:
    printed(capsys, "register", "orders-value", schema_file)
    assert printed(capsys, "delete", "orders-value", "--version", "1").split()[-1] == "1"
    assert "orders-value" not in printed(capsys) and "orders-value" in printed(capsys, "list", "--deleted")
    printed(capsys, "delete", "orders-value", "--permanent")
    assert "orders-value" not in printed(capsys, "list", "--deleted")


@pytest.mark.parametrize("url", ["127.0.0.1:8081", "ftp://127.0.0.1", "http://[::1", "http://127.0.0.1:port"])
def test_invalid_url_is_a_mistake_in_the_call(capsys: pytest.CaptureFixture[str], url: str) -> None:
    assert main(["schemas", "--schema-registry", url]) == 2
    assert "invalid URL" in capsys.readouterr().err


def test_missing_file_is_a_mistake_in_the_call(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["schemas", "register", "a", str(tmp_path / "none.avsc")]) == 2
    assert "No such file" in capsys.readouterr().err


def test_server_that_is_no_registry_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with http_server() as (host, port):
        assert main(["schemas", "list", "--schema-registry", f"http://{host}:{port}"]) == 1
    assert f"{host}:{port}" in capsys.readouterr().err
    assert main(["schemas", "--schema-registry", f"http://{host}:{port}"]) == 1
    assert "no answer from the schema registry" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["schemas"], ["consume", "orders", "--value-format", "avro"]])
def test_certificates_to_trust_are_those_of_the_option(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    if command == ["schemas"]:
        assert main([*command, "--registry-ca-file", cluster.tls.ca_file]) == 0
    assert main([*command, "--registry-ca-file", __file__]) == 2
    assert "cannot be used as the certificates to trust" in capsys.readouterr().err
