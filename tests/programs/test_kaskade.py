"""The terminal interface kaskade shows topics, groups with their lag, settings and records, and creates a topic."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka import Consumer

from odradek import Cluster
from tests.programs.program import PATIENCE_S, Program, python_with

pytestmark = [pytest.mark.clients, pytest.mark.slow, pytest.mark.timeout(600)]

SESSION = Path(__file__).with_name("kaskade_session.py")


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """A cluster whose group has read all but the last two records of a topic, and is still there."""
    with Cluster(nodes=2, topics={"orders": 2, "other": 1}) as cluster:
        cluster.produce("orders", [(f"key {n}", json.dumps({"n": n})) for n in range(5)])
        consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "billing", "auto.offset.reset": "earliest"})
        with closing(consumer):
            consumer.subscribe(["orders"])
            read = 0
            while read < 5:
                read += len(consumer.consume(5 - read, timeout=PATIENCE_S))
            consumer.commit(asynchronous=False)
            cluster.produce("orders", [("key 5", '{"n": 5}')], partition=0)
            cluster.produce("orders", [("key 6", '{"n": 6}')], partition=1)
            yield cluster


def test_kaskade_shows_cluster_and_creates_topic(cluster: Cluster, tmp_path: Path) -> None:
    python = python_with("kaskade-5.1.0", "kaskade==5.1.0")
    environment = {"HOME": str(tmp_path), "TERM": "xterm-256color"}
    with Program([python, str(SESSION), cluster.bootstrap_servers, "7"], tmp_path, environment) as program:
        tables = json.loads(program.wait_for_line(r"^\{.*\}$")[0])
        assert program.wait() == 0
    assert [row[:1] + row[-3:] for row in tables["topics"] if row[0] == "orders"] == [["orders", "1", "≈7", "≈2"]]
    records = {partition: cluster.records("orders", partition) for partition in (0, 1)}
    assert [(int(row[0]), int(row[3])) for row in tables["partitions"]] == [(0, len(records[0])), (1, len(records[1]))]
    assert dict(tables["configurations"])["max.message.bytes"] == "1048588"
    assert tables["group-offsets"] == [["billing", str(n), str(len(records[n]) - 1), str(len(records[n])), "1"] for n in records]
    assert [row[0] for row in tables["group-members"]] == ["billing"]
    assert sorted(row[0] for row in tables["records"]) == [f"key {n}" for n in range(7)]
    assert "made-by-kaskade" in [topic.name for topic in cluster.topics()]
