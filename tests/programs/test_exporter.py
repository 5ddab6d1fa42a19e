"""prometheus-kafka-consumer-group-exporter reads the commits of groups from __consumer_offsets, and reports lag as our own metrics do.

danielqsj's kafka_exporter, whose names our metrics have, and kminion are not on the Go module proxy.
"""

from __future__ import annotations

import urllib.request
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from odradek import Cluster
from tests.apache_kafka import reserve_port
from tests.programs.program import PATIENCE_S, Program, python_with
from tests.programs.progress import consume

pytestmark = [pytest.mark.clients, pytest.mark.slow, pytest.mark.timeout(600)]

NAME = "prometheus-kafka-consumer-group-exporter"
SAMPLES = {"kafka_consumer_group_offset": "committed", "kafka_consumer_group_lag": "lag", "kafka_topic_highwater": "high watermark"}
Progress = dict[tuple[str, int], float]


def exporter(cluster: Cluster, port: int, directory: Path) -> Program:
    """Starts the exporter. Skips the test if it cannot be installed."""
    # The exporter uses modules that later versions of kafka-python do not have.
    python = python_with(f"{NAME}-0.5.5", f"{NAME}==0.5.5", "kafka-python==2.0.6")
    intervals = [f"--{name}-interval=0.2" for name in ("topic", "high-water", "low-water")]
    servers = ["--bootstrap-brokers", cluster.bootstrap_servers, "--port", str(port)]
    return Program([python, "-m", NAME.replace("-", "_"), "--from-start", *servers, *intervals], directory)


def exported(port: int) -> dict[str, Progress]:
    """Returns the values for the topic `orders` by topic partition."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE_S) as response:
        families = list(text_string_to_metric_families(response.read().decode()))
    return {
        SAMPLES[family.name]: {
            (sample.labels["topic"], int(sample.labels["partition"])): sample.value
            for sample in family.samples
            if sample.labels["topic"] == "orders"
        }
        for family in families
        if family.name in SAMPLES
    }


def of_cluster(cluster: Cluster) -> dict[str, Progress]:
    offsets = {(each.topic, each.partition): each for each in cluster.group("billing").offsets}
    return {
        "committed": {place: float(each.committed or 0) for place, each in offsets.items()},
        "lag": {place: float(each.lag) for place, each in offsets.items()},
        "high watermark": {("orders", n): float(len(cluster.records("orders", n))) for n in (0, 1)},
    }


def test_exporter_reports_lag_of_groups(tmp_path: Path) -> None:
    # The exporter sends ListOffsets v0, which Kafka 4 refuses (KIP-896).
    with Cluster(nodes=2, topics={"orders": 2}, as_version="3.9") as cluster:
        cluster.produce("orders", [f"value {n}" for n in range(20)])
        consume(cluster, "billing", "orders", 20)
        cluster.produce("orders", ["late"], partition=1)
        with reserve_port() as reserved, exporter(cluster, port := reserved.getsockname()[1], tmp_path) as program:
            program.wait_for_line("Server started")
            cluster.wait_until(lambda: exported(port) == of_cluster(cluster), timeout_s=PATIENCE_S)
            consume(cluster, "billing", "orders", 1)
            assert cluster.group("billing").lag == 0
            cluster.wait_until(lambda: exported(port) == of_cluster(cluster), timeout_s=PATIENCE_S)
