"""The schema registry on sockets: media types, access, TLS, large requests, and bad clients."""

from __future__ import annotations

import json
import ssl
from base64 import b64encode
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from odradek import Cluster

JSON = "application/json"
V1_JSON = "application/vnd.schemaregistry.v1+json"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=1, schema_registry=True) as running:
        yield running


def ask(url: str, method: str, path: str, body: Any = None, context: ssl.SSLContext | None = None, **headers: str) -> HTTPResponse:
    """Returns the response to a request, whose body has been read into `text`."""
    address = urlsplit(url)
    assert address.hostname is not None
    if address.scheme == "https":
        connection: HTTPConnection = HTTPSConnection(address.hostname, address.port, timeout=10, context=context)
    else:
        connection = HTTPConnection(address.hostname, address.port, timeout=10)
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    connection.request(method, path, data, {name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    response.text = response.read()  # type: ignore[attr-defined]
    connection.close()
    return response


def code(response: HTTPResponse) -> int:
    """Returns the error code of a response, whose first digits must be its status."""
    error = json.loads(response.text)  # type: ignore[attr-defined]
    assert set(error) == {"error_code", "message"} and str(error["error_code"]).startswith(str(response.status))
    return int(error["error_code"])


ACCEPTED = [
    ("*/*", V1_JSON), (V1_JSON, V1_JSON), ("application/vnd.schemaregistry+json", "application/vnd.schemaregistry+json"),
    (JSON, JSON), ("text/html, application/*;q=0.5", V1_JSON), (f"{JSON};q=0.4, {V1_JSON};q=0.8", V1_JSON), (f"{JSON};q=x", JSON),
]  # fmt: skip


@pytest.mark.parametrize(("accept", "content_type"), ACCEPTED)
def test_response_has_the_accepted_type(cluster: Cluster, accept: str, content_type: str) -> None:
    response = ask(cluster.schema_registry_url, "GET", "/subjects", Accept=accept)
    assert (response.status, response.headers["Content-Type"]) == (200, content_type)


def test_unknown_types_are_refused(cluster: Cluster) -> None:
    url = cluster.schema_registry_url
    assert code(ask(url, "GET", "/subjects", Accept="text/html")) == 406
    assert code(ask(url, "GET", "/subjects", Accept=f"{JSON};q=0")) == 406
    assert code(ask(url, "POST", "/subjects/a/versions", {"schema": '"int"'}, Content_Type="text/plain")) == 415


@pytest.mark.parametrize("content_type", [JSON, V1_JSON, "application/octet-stream", f"{JSON}; charset=utf-8"])
def test_known_types_are_accepted(cluster: Cluster, content_type: str) -> None:
    response = ask(cluster.schema_registry_url, "POST", "/subjects/a/versions", {"schema": '"int"'}, Content_Type=content_type)
    assert response.status == 200


def test_head_has_no_body(cluster: Cluster) -> None:
    response = ask(cluster.schema_registry_url, "HEAD", "/subjects")
    assert response.status == 200 and int(response.headers["Content-Length"]) > 0


def test_internal_error_is_logged_and_answered(cluster: Cluster, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr("odradek.broker.registry_edge.listener.answer", lambda *_: 1 / 0)
    assert code(ask(cluster.schema_registry_url, "GET", "/subjects")) == 50001
    assert "ZeroDivisionError" in caplog.text


def test_pages_of_other_sites_are_refused(cluster: Cluster) -> None:
    url = cluster.schema_registry_url
    assert code(ask(url, "GET", "/subjects", Host="evil.example")) == 403
    assert code(ask(url, "GET", "/subjects", Origin="http://evil.example")) == 403
    assert ask(url, "GET", "/subjects", Origin=url).status == 200


def test_request_that_is_no_http_is_refused(cluster: Cluster) -> None:
    assert code(ask(cluster.schema_registry_url, "POST", "/subjects/a", b"", Transfer_Encoding="gzip")) == 501


def test_large_schema_is_registered_in_a_thread(cluster: Cluster) -> None:
    fields = [{"name": f"field_{number}", "type": "int", "doc": "x" * 50} for number in range(2000)]
    body = {"schema": json.dumps({"type": "record", "name": "Large", "fields": fields})}
    for _ in range(2):
        assert ask(cluster.schema_registry_url, "POST", "/subjects/large/versions", body).status == 200


def test_listener_can_be_started_later() -> None:
    with Cluster(nodes=1) as cluster:
        with pytest.raises(ValueError, match="schema_registry=True"):
            _ = cluster.schema_registry_url
        url = cluster.start_schema_registry()
        assert cluster.start_schema_registry() == cluster.schema_registry_url == url
        assert ask(url, "GET", "/subjects").status == 200


def test_users_authenticate_by_basic() -> None:
    with Cluster(nodes=1, users={"alice": "secret"}, schema_registry=True) as cluster:
        url = cluster.schema_registry_url

        def status(credentials: str, scheme: str = "Basic") -> int:
            return ask(url, "GET", "/subjects", Authorization=f"{scheme} {b64encode(credentials.encode()).decode()}").status

        assert status("alice:secret") == 200
        assert [status(each) for each in ("alice:wrong", "bob:secret", "bob:", ":", "alice")] == [401] * 5
        assert status("alice:secret", "Bearer") == 401
        refused = ask(url, "GET", "/subjects", Authorization="Basic %%%")
        assert code(refused) == 401 and refused.headers["WWW-Authenticate"].startswith("Basic ")


def test_clients_connect_by_tls() -> None:
    with Cluster(nodes=1, tls=True, schema_registry=True) as cluster:
        assert cluster.schema_registry_url.startswith("https://127.0.0.1:")
        context = ssl.create_default_context(cafile=cluster.tls.ca_file)
        assert ask(cluster.schema_registry_url, "GET", "/subjects", context=context).status == 200
        assert code(ask(cluster.schema_registry_url, "POST", "/subjects/a", b"", context=context, Transfer_Encoding="gzip")) == 501


def test_reset_forgets_schemas() -> None:
    with Cluster(nodes=1, schema_registry=True) as cluster:
        url = cluster.schema_registry_url
        ask(url, "POST", "/subjects/a/versions", {"schema": '"int"'})
        snapshot = cluster.snapshot()
        cluster.reset()
        assert ask(url, "GET", "/subjects").text == b"[]"  # type: ignore[attr-defined]
        cluster.restore(snapshot)
        assert ask(url, "GET", "/subjects").text == b'["a"]'  # type: ignore[attr-defined]


def test_requests_are_events_of_the_record() -> None:
    with Cluster(nodes=1, schema_registry=True) as cluster:
        url = cluster.schema_registry_url
        ask(url, "POST", "/subjects/orders-value/versions", {"schema": '"int"'})
        ask(url, "GET", "/subjects/orders-key/versions/1")
        ask(url, "GET", "/schemas/types")
        events = cluster.wire.entries(filter="api=SchemaRegistry")
        assert [each["text"] for each in events] == [
            "POST /subjects/orders-value/versions: 200",
            "GET /subjects/orders-key/versions/1: 404",
            "GET /schemas/types: 200",
        ]
        (failed,) = cluster.wire.entries(filter="subject=orders-* and status>=400")
        assert "orders-key" in failed["text"]
        ask(url, "GET", "/schemas/ids/7")
        assert [each["text"] for each in cluster.wire.entries(filter="id=7 and status=404")] == ["GET /schemas/ids/7: 404"]
        cluster.fault(api="SchemaRegistry", status=503, delay_ms=20)
        ask(url, "GET", "/subjects")
        (delayed,) = cluster.wire.entries(filter="event='schema registry' and status=503")
        assert delayed["fields"]["delay_ms"] == 20


def test_markup_in_a_subject_is_only_text(cluster: Cluster) -> None:
    name = "<script>alert(1)</script>"
    path = f"/subjects/{quote(name, safe='')}/versions"
    assert ask(cluster.schema_registry_url, "POST", path, {"schema": '"int"'}, Content_Type=V1_JSON).status == 200
    for asked in ("/subjects", path, f"{path}/9"):
        response = ask(cluster.schema_registry_url, "GET", asked, Accept="text/html, */*;q=0.1")
        assert (response.headers["Content-Type"], response.headers["X-Content-Type-Options"]) == (V1_JSON, "nosniff")
    assert name in json.loads(ask(cluster.schema_registry_url, "GET", "/subjects").text)  # type: ignore[attr-defined]
