"""Fills topics through a real client, and says what it wrote."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

from confluent_kafka import Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from odradek.broker import Cluster
from odradek.spark_sink.client import ClientConfig
from tests.spark.decoding import Row

KEEP = {"log.retention.ms": -1}
"""The broker's settings: the records of these tests are years old."""
_numbers = itertools.count()
Body = tuple[bytes | None, bytes | None, list[tuple[str, bytes | None]]]


def config_of(cluster: Cluster) -> ClientConfig:
    """Of a client that soon gives up."""
    servers = [server.split(":") for server in cluster.bootstrap_servers.split(",")]
    return ClientConfig(tuple((host, int(port)) for host, port in servers), settling_ms=0, poll_timeout_ms=10_000)


def new_topic(cluster: Cluster, partitions: int = 1, **config: str) -> str:
    name = f"topic-{next(_numbers)}"
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    settings = {setting.replace("_", "."): value for setting, value in config.items()}
    admin.create_topics([NewTopic(name, partitions, config=settings)])[name].result(10)
    return name


def bodies(count: int) -> list[Body]:
    """Records of all shapes: null and empty keys and values, headers of all kinds."""
    keys = [b"key", None, b""]
    values = [b"value %d", b"", None, b"x" * 300]
    headers: list[list[tuple[str, bytes | None]]] = [[], [("a", b"1")], [("a", None), ("", b""), ("a", b"2")], []]
    return [(keys[n % 3], (v := values[n % 4]) and v.replace(b"%d", b"%d" % n), headers[n // 2 % 4]) for n in range(count)]


def produce(cluster: Cluster, topic: str, records: Iterable[Body], partition: int = 0, **settings: Any) -> list[Row]:
    """The rows that stand in the log afterwards, in order."""
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "linger.ms": 20, "enable.idempotence": True} | settings)
    rows: list[Row] = []

    def written(body: Body, timestamp: int) -> Callable[[Any, Message], None]:
        def on_delivery(error: Any, message: Message) -> None:
            assert error is None, error
            rows.append(Row(*body[:2], topic, partition, message.offset(), timestamp * 1000, 0, body[2] or None))

        return on_delivery

    for number, body in enumerate(records):
        timestamp = 1_700_000_000_000 + number * 37
        key, value, headers = body
        producer.produce(topic, value, key, partition, written(body, timestamp), timestamp=timestamp, headers=headers)
        producer.poll(0)
    assert producer.flush(20) == 0
    return sorted(rows, key=lambda row: row.offset)


def delete_before(cluster: Cluster, topic: str, offset: int) -> None:
    """What retention does, at once: the log of partition 0 begins at `offset`."""
    server = cluster._cluster._server

    async def delete() -> None:
        server.cluster.topics[topic].partition(0).log.delete_before(offset)

    cluster._call(delete())
