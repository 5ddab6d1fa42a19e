"""Fills topics for the Spark benchmark with plain Produce requests, which is much faster than with a producer."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from odradek.protocol.batches.compression import Compression
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record
from odradek.storage.directories import names
from odradek.storage.directories.index_files import offset_index_bytes, time_index_bytes
from odradek.storage.directories.segment_files import BATCHES, Entry, IndexBuilder
from odradek.storage.directories.text_files import MetaProperties, meta_properties_text
from odradek.storage.segments import max_timestamp_of

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


def write_directory(directory: Path, topic: str, partitions: Iterable[int], shape: Shape, count: int) -> int:
    """Writes a log directory with about `count` records in each partition, as a broker leaves it; returns the total number."""
    records = _records(shape, BATCH_BYTES // (shape.smallest + shape.largest + 40 * shape.headers) * 2)
    (directory / names.META_PROPERTIES).write_text(meta_properties_text(MetaProperties(1, "benchmark")))
    (directory / names.CLEAN_SHUTDOWN).touch()
    batches = max(count // len(records), 1)
    for partition in partitions:
        folder = directory / f"{topic}-{partition}"
        folder.mkdir()
        _write_segment(folder, bytearray(_batch(shape, records)), len(records), batches)
    return len(list(directory.glob(f"{topic}-*"))) * batches * len(records)


def _write_segment(folder: Path, batch: bytearray, records: int, batches: int) -> None:
    """Writes the same batch many times. Its CRC does not cover the base offset."""
    index = IndexBuilder()
    max_timestamp = max_timestamp_of(batch)
    with (folder / names.offset_name(0, names.LOG)).open("wb") as file:
        for base_offset in range(0, batches * records, records):
            batch[:8] = base_offset.to_bytes(8, "big")
            file.write(batch)
            index.add(Entry(index.size, len(batch), BATCHES, base_offset, base_offset + records - 1, 0, max_timestamp))
    index.finish()
    (folder / names.offset_name(0, names.INDEX)).write_bytes(offset_index_bytes(index.offsets, 0))
    (folder / names.offset_name(0, names.TIME_INDEX)).write_bytes(time_index_bytes(index.times, 0))


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
