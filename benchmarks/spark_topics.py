"""Fills topics for the Spark benchmark with plain Produce requests, which is much faster than with a producer."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable
from typing import NamedTuple

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from odradek.protocol.batches.compression import Compression
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record

from .brokers import Broker
from .pipeline import Pipeline

BATCH_BYTES = 16_384
"""The default batch.size of Kafka's producer."""
TIMEOUT_S = 10
_WORDS = ["order", "customer", "amount", "currency", "EUR", "USD", "status", "shipped", "pending", "address", "country", "quantity"]


class Shape(NamedTuple):
    """The records of a topic: values from `smallest` to `largest` bytes, with or without key and headers."""

    smallest: int
    largest: int
    key: bool = False
    headers: int = 0
    compression: Compression = Compression.NONE


def create_topic(broker: Broker, name: str, partitions: int) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    admin.create_topics([NewTopic(name, partitions)])[name].result(TIMEOUT_S)


def delete_topic(broker: Broker, name: str) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    admin.delete_topics([name])[name].result(TIMEOUT_S)


def fill(broker: Broker, topic: str, partitions: Iterable[int], shape: Shape, count: int) -> int:
    """Writes at least `count` records to each partition; returns the total number."""
    records = _records(shape, BATCH_BYTES // (shape.smallest + shape.largest + 40 * shape.headers) * 2)
    batch = _batch(shape, records)
    written = 0
    for partition in partitions:
        with Pipeline(broker.address, topic, batch, partition=partition) as pipeline:
            written += (1 + pipeline.run(max(count // len(records), 1))) * len(records)
    return written


def fill_exactly(broker: Broker, topic: str, partitions: Iterable[int], shape: Shape, records: int, batches: int) -> None:
    """Writes `batches` batches of `records` records to each partition."""
    batch = _batch(shape, _records(shape, records))
    for partition in partitions:
        with Pipeline(broker.address, topic, batch, partition=partition) as pipeline:
            for _ in range(batches - 1):
                pipeline.append_once()


def _batch(shape: Shape, records: Iterable[Record]) -> bytes:
    return bytes(build_batch(records, compression=shape.compression))


def _records(shape: Shape, count: int) -> list[Record]:
    generator, now_ms = random.Random(1), time.time_ns() // 10**6  # retention would delete old records
    return [
        Record(
            offset,
            now_ms,
            b"key-%08d" % generator.randrange(10**8) if shape.key else None,
            _text(generator, generator.randint(shape.smallest, shape.largest)),
            [(f"header-{number}", _text(generator, 10)) for number in range(shape.headers)],
        )
        for offset in range(count)
    ]


def _text(generator: random.Random, size: int) -> bytes:
    """Returns text that compresses about as well as JSON."""
    words: list[str] = []
    while sum(map(len, words)) < size:
        words.append(f'"{generator.choice(_WORDS)}":{generator.randrange(10**6)},')
    return "".join(words).encode()[:size]
