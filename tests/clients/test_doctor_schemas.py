"""The doctor beside a schema registry, with requests over HTTP and records of a real producer."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from odradek import Cluster
from tests.clients.diagnosis import PATIENCE_S, diagnosis, producer

pytestmark = [pytest.mark.sockets, pytest.mark.clients]


def order(*fields: str) -> dict[str, Any]:
    return {"type": "record", "name": "Order", "fields": [{"name": name, "type": "long"} for name in fields]}


def ask(cluster: Cluster, path: str, schema: dict[str, Any] | None = None) -> None:
    """Sends a request to the registry as a client with a name of its own, whatever the answer is."""
    body = None if schema is None else json.dumps({"schema": json.dumps(schema)}).encode()
    headers = {"Content-Type": "application/json", "User-Agent": "shop/1.0"}
    with suppress(HTTPError), urlopen(Request(f"{cluster.schema_registry_url}{path}", body, headers), timeout=PATIENCE_S):
        pass


def write(cluster: Cluster, value: bytes) -> None:
    writer = producer(cluster, client_id="writer")
    writer.produce("orders", value)
    assert writer.flush(PATIENCE_S) == 0


def test_mistakes_with_schemas_are_explained() -> None:
    with Cluster(nodes=1, topics={"orders": 1}, schema_registry=True) as cluster:
        with cluster.fault(api="SchemaRegistry", status=409, times=1):
            ask(cluster, "/subjects/orders-value/versions", order("id"))
        ask(cluster, "/subjects/orders-value/versions", order("id"))
        assert cluster.doctor() == []
        ask(cluster, "/subjects/orders-value/versions", order("id", "price"))
        refused = diagnosis(cluster, "an incompatible schema")
        assert "price" in refused.problem and refused.client == "shop/1.0 at 127.0.0.1"
        write(cluster, b'{"id": 7}')
        assert "writer" in diagnosis(cluster, "records without a schema id").client
        write(cluster, b"\0\0\0\0\7\2")
        ask(cluster, "/schemas/ids/7")
        assert "written records with it to orders" in diagnosis(cluster, "an unknown schema id").problem
        ask(cluster, "/subjects/orders-shop.Order/versions/latest")
        assert "orders-shop.Order" in diagnosis(cluster, "a subject name strategy that does not fit").problem


def test_schemas_that_producers_register_are_explained() -> None:
    with Cluster(nodes=1, topics={"orders": 1}, schema_registry=True) as cluster:
        cluster.schemas.register("orders-value", order("id", "price"))
        ask(cluster, "/subjects/orders-value/versions/latest")
        ask(cluster, "/subjects/orders-value/versions", order("id"))
        write(cluster, b"\0\0\0\0\2\2")
        assert "version 2 of orders-value" in diagnosis(cluster, "automatic registration of schemas").problem


def test_records_that_a_topic_refuses_are_explained() -> None:
    required = {"confluent.value.schema.validation": "true"}
    with Cluster(nodes=1, topics={"orders": {"configs": required}}, schema_registry=True) as cluster:
        schema = cluster.schemas.register("payments-value", order("id"))
        writer = producer(cluster)
        writer.produce("orders", b"\0" + schema.id.to_bytes(4, "big") + b"\2")
        writer.flush(PATIENCE_S)
        assert "the subject orders-value" in diagnosis(cluster, "a subject name strategy that does not fit").problem
