"""`odradek dump` and `odradek serve --data`: what is written is read back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from odradek import Cluster
from odradek.broker.cli import main
from odradek.broker.commands import dump
from tests.broker.commands.console import Console

pytestmark = [pytest.mark.sockets, pytest.mark.clients]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    topics: Any = {"orders": {"partitions": 2, "configs": {"retention.ms": 9_000_000_000}}, "empty": 1}
    with Cluster(nodes=1, topics=topics, control="127.0.0.1:0") as cluster:
        headers = [("h", "1"), ("h", None)]
        records: list[Any] = [
            ("k", "text"),
            {"key": b"\xff", "value": None, "headers": headers},
            '{"id": 1}',
            "a,\n",
            "",
            '{"base64": "x"}',
        ]
        cluster.produce("orders", records, partition=0)
        for commits in (True, False):
            producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": "tx"})
            producer.init_transactions(30)
            producer.begin_transaction()
            producer.produce("orders", f"committed {commits}", partition=1)
            producer.flush(30)
            producer.commit_transaction(30) if commits else producer.abort_transaction(30)
        yield cluster


def stored(cluster: Cluster) -> list[tuple[Any, ...]]:
    return [
        (each.partition, each.offset, each.timestamp, each.key, each.value, each.headers, each.transaction)
        for each in cluster.records("orders")
    ]


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_dump_is_read_back_as_seed_data(cluster: Cluster, tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dump, "PAGE_RECORDS", 2)
    assert main(["dump", "--control", str(cluster.control), "--directory", str(tmp_path), "--format", form]) == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == [f"empty.{form}", f"orders.{form}"]
    with Cluster(nodes=1, data=tmp_path, settings={"num.partitions": 2}) as copy:
        assert stored(copy) == stored(cluster)
        if form == "jsonl":
            assert {topic.name: topic.configs for topic in copy.topics()}["orders"] == {"retention.ms": "9000000000"}


def test_dump_of_one_topic_is_printed(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dump", "empty", "--control", str(cluster.control)]) == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [{"topic": "empty", "partitions": 1, "configs": {}}]


def test_dump_of_an_unknown_topic_fails(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dump", "order", "--control", str(cluster.control)]) == 1
    assert "there is no topic 'order'; the topics are empty, orders" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "code", "message"),
    [
        ([], 1, "no control listener answers at 127.0.0.1:2"),
        (["--control", "nowhere"], 2, "invalid address 'nowhere'"),
        (["--control", "127.0.0.1:1"], 1, "no control listener answers at 127.0.0.1:1"),
        (["--control", "127.0.0.1:1", "--format", "csv"], 2, "CSV has no column for the topic on standard output"),
    ],
)
def test_dump_that_cannot_begin_says_why(
    argv: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ODRADEK_CONTROL", raising=False)
    monkeypatch.setattr("odradek.broker.commands.options.DEFAULT_CONTROL", "127.0.0.1:2")
    assert main(["dump", *argv]) == code
    assert message in capsys.readouterr().err


def test_dump_shows_a_bar_on_a_terminal(cluster: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("odradek.broker.process.terminal.FIRST_S", 0)
    monkeypatch.setattr("odradek.broker.process.terminal.PAUSE_S", 0)
    command = ["dump", "orders", "--control", str(cluster.control), "--directory", str(tmp_path)]
    assert " 90% [##################--] 9 of 10 records" in Console(monkeypatch).run(*command, shows_errors=True).errors
