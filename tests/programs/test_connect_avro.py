"""Kafka Connect writes and reads values in Avro with Confluent's converter, whose schemas are in the schema registry of the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from odradek import Cluster
from tests.cache import Unavailable
from tests.confluent_jars import confluent_jars
from tests.programs.connect import CLUSTER_SETTINGS, Worker, libraries
from tests.programs.program import PATIENCE_S

pytestmark = [pytest.mark.clients, pytest.mark.slow, pytest.mark.timeout(600)]

CONVERTER = "io.confluent.connect.avro.AvroConverter"
CONNECTOR = "org.apache.kafka.connect.file.FileStream{}Connector"
ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}, {"name": "note", "type": "string"}]}


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[tuple[Cluster, Worker]]:
    try:
        libraries()
        converter = confluent_jars()
    except Unavailable as reason:
        pytest.skip(str(reason))
    with (
        Cluster(nodes=1, topics={"lines": 1, "orders": 1}, settings=CLUSTER_SETTINGS, schema_registry=True) as cluster,
        Worker(cluster.bootstrap_servers, tmp_path, [converter]) as worker,
    ):
        yield cluster, worker


def test_connect_with_avro_converter_writes_and_reads(worker: tuple[Cluster, Worker], tmp_path: Path) -> None:
    cluster, connect = worker
    source, sink = tmp_path / "source.txt", tmp_path / "sink.txt"
    source.write_text("spool\nstar\n")
    registered = cluster.schemas.register("orders-value", ORDER)
    cluster.produce("orders", [b"\0" + registered.id.to_bytes(4, "big") + b"\x0e\x04to"])

    avro = {"value.converter": CONVERTER, "value.converter.schema.registry.url": cluster.schema_registry_url, "tasks.max": 1}
    connect.put("source", avro | {"connector.class": CONNECTOR.format("Source"), "file": source, "topic": "lines"})
    connect.put("sink", avro | {"connector.class": CONNECTOR.format("Sink"), "file": sink, "topics": "orders"})
    cluster.wait_for_records("lines", 2, timeout_s=PATIENCE_S)
    cluster.wait_until(lambda: sink.exists() and sink.read_text(), timeout_s=PATIENCE_S)

    assert cluster.schemas.subjects() == ["lines-value", "orders-value"]
    decoded = [each.decoded_value.data for each in cluster.decoded_records("lines") if each.decoded_value]
    assert decoded == ['"spool"', '"star"']
    assert sink.read_text() == "Struct{id=7,note=to}\n"
