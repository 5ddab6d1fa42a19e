"""The commands print the same of Apache Kafka and of odradek, when each has served the same commands."""

from __future__ import annotations

import re
from typing import Any

import pytest

from odradek import Cluster
from tests import apache_kafka
from tests.broker.commands.console import Console, Result

pytestmark = [pytest.mark.sockets, pytest.mark.clients, pytest.mark.apache_kafka]

SETTINGS = {**apache_kafka.QUICK, "auto.create.topics.enable": "false", "group.consumer.assignment.interval.ms": "0"}
JSON_LINES = b'{"topic": "payments", "partitions": 1, "configs": {"retention.ms": "-1"}}\n' + b"".join(
    b'{"topic": "payments", "key": "k%d", "value": %s, "timestamp": %d, "headers": {"n": "%d"}}\n' % (n, value, 1_000 * n, n)
    for n, value in enumerate((b'"text"', b"null", b'{"base64": "/w=="}', b'{"id": 1}'), 1)
)
SCRIPT: list[tuple[bytes, list[str]]] = [
    (b"", ["topics", "create", "orders", "--partitions", "3", "--config", "cleanup.policy=compact", "--output", "json"]),
    (b"", ["topics", "create", "orders"]),
    (b"", ["topics", "create", "many", "--replication-factor", "9"]),
    (b"", ["topics", "create", "lines", "--if-not-exists", "--output", "json"]),
    (b"a:1\nb:2\nc:3\nd:4\n" * 50, ["produce", "orders", "--key-separator", ":", "--compression", "zstd"]),
    (b"no key\n", ["produce", "orders"]),
    (JSON_LINES, ["produce", "--format", "jsonl", "--output", "json"]),
    (b"x\n", ["produce", "missing"]),
    (b"x" * 2_000_000, ["produce", "lines"]),
    (b"", ["topics", "--output", "json"]),
    (b"", ["topics", "describe", "orders", "payments", "--output", "json"]),
    (b"", ["consume", "payments", "--output", "json"]),
    (b"", ["consume", "payments", "--from", "1970-01-01T00:00:03Z", "--format", r"%o %k %T\n"]),
    (b"", ["consume", "payments", "--from", "-2", "--format", r"%o\n"]),
    (b"", ["consume", "orders", "--partition", "1", "--count", "7", "--format", r"%p %o %k %v\n"]),
    (b"", ["consume", "payments", "--group", "billing", "--count", "3", "--format", r"%o\n"]),
    (b"", ["groups", "--output", "json"]),
    (b"", ["groups", "describe", "billing", "--output", "json"]),
    (b"", ["groups", "reset-offsets", "billing", "--to", "1", "--output", "json"]),
    (b"", ["consume", "payments", "--group", "billing", "--format", r"%o\n"]),
    (b"", ["groups", "reset-offsets", "audit", "--topic", "orders", "--to", "latest", "--output", "json"]),
    (b"", ["groups", "delete", "billing", "audit"]),
    (b"", ["groups", "describe", "billing"]),
    (b"", ["groups", "delete", "billing"]),
    (b"", ["topics", "delete", "orders", "payments"]),
    (b"", ["topics", "delete", "orders"]),
    (b"", ["consume", "orders"]),
]


def play(console: Console, cluster: Any) -> list[Result]:
    console.use(cluster)
    return [_without_reason(console.run(*argv, given=given)) for given, argv in SCRIPT]


def _without_reason(result: Result) -> Result:
    """Returns a result whose errors end with Kafka's error code, because the text after it is the broker's."""
    return result._replace(errors=re.sub(r"(: [A-Z_]+): .*", r"\1", result.errors))


def test_apache_kafka_and_odradek_print_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    if missing := apache_kafka.missing():
        pytest.skip(f"{missing} is missing, which Apache Kafka needs")
    console = Console(monkeypatch)
    with Cluster(nodes=1, settings=SETTINGS) as ours:
        printed = play(console, ours)
    with apache_kafka.ApacheKafka(nodes=1, settings=SETTINGS) as theirs:
        expected = play(console, theirs)
    assert [result.code for result in printed].count(0) == len(SCRIPT) - 9
    played = [" ".join(argv) for _, argv in SCRIPT]
    assert list(zip(played, printed, strict=True)) == list(zip(played, expected, strict=True))
