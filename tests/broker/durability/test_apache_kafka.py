"""Apache Kafka on the data directory of a cluster, and the cluster on the directory again."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from odradek import Cluster
from tests import apache_kafka
from tests.broker.directories.exported_kafka import exported_kafka, properties_of
from tests.storage.directories import recording

SETTINGS: dict[str, Any] = {
    "offsets.topic.num.partitions": 1,
    "transaction.state.log.num.partitions": 1,
    "group.initial.rebalance.delay.ms": 0,
    "log.retention.ms": -1,  # because the records are years old
}
NAMES = ["orders", "transfers"]


@pytest.mark.apache_kafka
@pytest.mark.slow
def test_apache_kafka_continues_a_data_directory(tmp_path: Path) -> None:
    if missing := apache_kafka.missing():
        pytest.skip(f"{missing} is missing")
    data = tmp_path / "data"
    with Cluster(nodes=1, settings=SETTINGS, topics={"orders": 2, "payments": 2}, data_dir=data) as cluster:
        recording.fill(cluster.bootstrap_servers, "orders")
        recording.run_transactions(cluster.bootstrap_servers)
        recording.commit_offsets(cluster.bootstrap_servers)
        expected = recording.describe(cluster.bootstrap_servers, NAMES)
        (node,) = cluster.export_log_dirs(tmp_path / "export")
    properties = properties_of(node.command)
    properties.write_text(re.sub("(?m)^log.dirs=.*$", f"log.dirs={data}", properties.read_text()))

    with exported_kafka([node.command]) as servers:
        assert recording.describe(servers, NAMES) == expected
        producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True})
        producer.produce("orders", b"new", partition=1)
        assert producer.flush(20) == 0

    with Cluster(nodes=1, settings=SETTINGS, data_dir=data) as cluster:
        found = recording.describe(cluster.bootstrap_servers, NAMES)
        assert [record.value for record in cluster.records("orders")][-1] == b"new"
    assert found["offsets"] == expected["offsets"]
    assert found["topics"]["transfers"] == expected["topics"]["transfers"]
