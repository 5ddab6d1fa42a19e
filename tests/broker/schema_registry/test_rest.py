"""Paths, queries and bodies of calls."""

from __future__ import annotations

import pytest

from odradek.broker.schema_registry import rest
from odradek.broker.schema_registry.errors import RegistryError
from odradek.broker.schema_registry.rest import Answer, Call
from tests.broker.schema_registry.rest_calls import RestRegistry


@pytest.mark.parametrize(("request_line", "status"), [
    ("GET /nothing", 404),
    ("GET /subjects/a/b/c/d/e", 404),
    ("PATCH /subjects", 405),
    ("GET /contexts/.billing", 405),
    ("GET /contexts/a:b/subjects", 400),
    ("GET /subjects?offset=many", 404),
    ("POST /subjects/a", 422),
])  # fmt: skip
def test_invalid_requests_are_refused(request_line: str, status: int) -> None:
    answered = RestRegistry().ask(request_line)
    assert (answered.status, answered.body["error_code"]) == (status, status)


@pytest.mark.parametrize("body", [b"{", b"[]", b"1", b"\xff", b"[" * 100_000])
def test_body_that_is_no_object_is_refused(body: bytes) -> None:
    with pytest.raises(RegistryError) as raised:
        Call.of("POST", "/subjects/a", body).json()
    assert raised.value.status == 400


def test_body_with_too_many_values_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "MAX_VALUES", 3)
    with pytest.raises(RegistryError, match="more than 3 values"):
        Call.of("POST", "/", b'{"a":[1,2,3,4]}').json()


@pytest.mark.parametrize("body", [{"schema": {}}, {"schema": "x", "references": {}}, {"schema": "x", "version": "one"}, {"metadata": []}])
def test_members_of_other_types_are_refused(body: object) -> None:
    assert RestRegistry().error("POST /subjects/a/versions", body) == 400


def test_query_with_too_many_fields_is_refused() -> None:
    with pytest.raises(RegistryError, match="query"):
        Call.of("GET", "/subjects?" + "a=1&" * 1100, b"")


def test_context_in_the_path_qualifies_subjects() -> None:
    registry = RestRegistry()
    registry.ok("POST /contexts/.billing/subjects/a/versions", {"schema": '"int"'})
    assert registry.get("/subjects/:.billing:a/versions") == [1]
    assert registry.get("/contexts/:.billing:/subjects/a/versions") == [1]
    registry.ok("PUT /contexts/billing/config", {"compatibility": "NONE"})
    assert registry.get("/config/:.billing:") == {"compatibilityLevel": "NONE"}
    registry.ok("PUT /contexts/billing/mode/a", {"mode": "READONLY"})
    assert registry.get("/mode/:.billing:a") == {"mode": "READONLY"}
    assert [each["subject"] for each in registry.get("/contexts/billing/schemas")] == [":.billing:a"]
    assert registry.get("/contexts/./subjects") == []


def test_slashes_in_subjects_are_encoded() -> None:
    registry = RestRegistry()
    registry.register("a%2Fb", '"int"')
    assert registry.get("/subjects/") == ["a/b"]
    assert registry.get("/subjects/a%2Fb/versions") == [1]


def test_answer_encodes_texts_as_they_are() -> None:
    assert Answer(200, '{"type": "int"}').encode() == b'{"type": "int"}'
    assert Answer(200, {"a": "ä"}).encode() == '{"a":"ä"}'.encode()
    assert Answer(204, None).encode() == b""


def test_server_says_what_it_is() -> None:
    registry = RestRegistry()
    assert registry.get("/") == registry.ok("POST /", {}) == {}
    assert registry.get("/schemas/types") == ["JSON", "PROTOBUF", "AVRO"]
    assert registry.get("/v1/metadata/id")["scope"]["clusters"]["kafka-cluster"] == registry.world.cluster.cluster_id
    assert set(registry.get("/v1/metadata/version")) == {"version", "commitId"}
