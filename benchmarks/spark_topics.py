"""Topics full of records for Spark to read, written through plain Produce requests: much faster than by a producer."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable
from typing import NamedTuple

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from odradek.protocol.compression import Compression
from odradek.protocol.record_builder import build_batch
from odradek.protocol.records import Record

from .brokers import Broker
from .pipeline import Pipeline

BATCH_BYTES = 16_384
"""As large as producers make them by default."""
PATIENCE_S = 10
_WORDS = ["order", "customer", "amount", "currency", "EUR", "USD", "status", "shipped", "pending", "address", "country", "quantity"]


class Shape(NamedTuple):
    """What the records are like: values from `smallest` to `largest` bytes."""

    smallest: int
    largest: int
    key: bool = False
    headers: int = 0
    compression: Compression = Compression.NONE


def create_topic(broker: Broker, name: str, partitions: int) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    admin.create_topics([NewTopic(name, partitions)])[name].result(PATIENCE_S)


def delete_topic(broker: Broker, name: str) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    admin.delete_topics([name])[name].result(PATIENCE_S)


def fill(broker: Broker, topic: str, partitions: Iterable[int], shape: Shape, count: int) -> int:
    """At least `count` records in each partition; how many in all."""
    records = _records(shape, BATCH_BYTES // (shape.smallest + shape.largest + 40 * shape.headers) * 2)
    batch = _batch(shape, records)
    written = 0
    for partition in partitions:
        with Pipeline(broker.address, topic, batch, partition) as pipeline:
            written += (1 + pipeline.run(max(count // len(records), 1))) * len(records)
    return written


def fill_exactly(broker: Broker, topic: str, partitions: Iterable[int], shape: Shape, records: int, batches: int) -> None:
    """So many batches of so many records in each partition."""
    batch = _batch(shape, _records(shape, records))
    for partition in partitions:
        with Pipeline(broker.address, topic, batch, partition) as pipeline:
            for _ in range(batches - 1):
                pipeline.one()


def _batch(shape: Shape, records: Iterable[Record]) -> bytes:
    return bytes(build_batch(records, compression=shape.compression))


def _records(shape: Shape, count: int) -> list[Record]:
    draw, now_ms = random.Random(1), time.time_ns() // 10**6  # older records would be deleted soon
    return [
        Record(
            offset,
            now_ms,
            b"key-%08d" % draw.randrange(10**8) if shape.key else None,
            _text(draw, draw.randint(shape.smallest, shape.largest)),
            [(f"header-{number}", _text(draw, 10)) for number in range(shape.headers)],
        )
        for offset in range(count)
    ]


def _text(draw: random.Random, size: int) -> bytes:
    """Text that compresses about as JSON does."""
    words: list[str] = []
    while sum(map(len, words)) < size:
        words.append(f'"{draw.choice(_WORDS)}":{draw.randrange(10**6)},')
    return "".join(words).encode()[:size]
