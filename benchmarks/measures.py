"""The measures of the broker benchmark: each function takes a running broker and returns its figures by row."""

from __future__ import annotations

import itertools
import mmap
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from statistics import quantiles
from typing import NamedTuple

from confluent_kafka import Consumer
from confluent_kafka.admin import AdminClient
from kafka import KafkaConsumer

from .brokers import KAFKA, MOCK, ODRADEK, Broker
from .fairness import quiet_p99_s
from .formation import formation_s
from .librdkafka import BEGINNING, BulkProducer, KafkaFailure, Reader, SingleProducer
from .metadata import metadata_s
from .pipeline import Pipeline, batch
from .state import durations_ms

Figures = dict[str, float]
TIMEOUT_S = 10
_topics = itertools.count()


class Target(NamedTuple):
    """A limit for odradek's figure: a number, or a multiple of a peer's figure."""

    limit: float
    peer: str | None = None
    at_least: bool = False


class Row(NamedTuple):
    """A line of the table."""

    name: str
    unit: str
    targets: tuple[Target, ...] = ()


class Measure(NamedTuple):
    """A function, and the rows for which it returns figures."""

    rows: tuple[Row, ...]
    run: Callable[[Broker], Figures]


@contextmanager
def new_topic(broker: Broker) -> Iterator[str]:
    """Yields the name of a topic of one partition, which the broker creates when its metadata is first requested."""
    name = f"bench-{os.getpid()}-{next(_topics)}"
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    deadline = time.monotonic() + TIMEOUT_S
    while admin.list_topics(name, timeout=TIMEOUT_S).topics[name].error:
        if time.monotonic() > deadline:
            raise KafkaFailure("the topic was not created")
        time.sleep(0.05)
    try:
        yield name
    finally:
        if broker.name != MOCK:  # the mock does not support DeleteTopics, and keeps only 5 MB
            admin.delete_topics([name])[name].result(TIMEOUT_S)


def claim_memory(size: int) -> None:
    """Touches and frees `size` bytes.

    The host of a virtual machine reclaims idle memory. Touching it again takes three times as long, which would be counted as the broker's.
    """
    with mmap.mmap(-1, size) as memory:
        for position in range(0, size, mmap.PAGESIZE):
            memory[position] = 1


def bulk(size: int, count: int, broker: Broker) -> Figures:
    """Produces and consumes `count` messages with librdkafka's defaults."""
    megabytes = size * count / 1e6
    claim_memory(3 * size * count // 2)
    with new_topic(broker) as topic:
        with BulkProducer(broker.bootstrap_servers, topic, size) as producer:
            cpu_s = broker.cpu_s()
            seconds = producer.send(count)
            figures = {
                f"produce {_text(size)}": megabytes / seconds,
                f"produce {_text(size)}: CPU": (broker.cpu_s() - cpu_s) / megabytes * 1e6,
            }
            if producer.end_offset() != count + 1:
                raise KafkaFailure(f"{producer.end_offset()} of {count + 1} messages arrived")
        if broker.name != MOCK:
            with Reader(broker.bootstrap_servers, topic, BEGINNING) as reader:
                reader.one()  # librdkafka waits for half a second before its first fetch
                cpu_s = broker.cpu_s()
                figures[f"consume {_text(size)}"] = megabytes / reader.many(count)
                figures[f"consume {_text(size)}: CPU"] = (broker.cpu_s() - cpu_s) / megabytes * 1e6
    return figures


def acknowledgement(broker: Broker) -> Figures:
    """Measures the latency of a message until its acknowledgement, with one message in flight and acks=1."""
    with new_topic(broker) as topic, broker.on_one_cpu(), SingleProducer(broker.bootstrap_servers, topic, 100) as producer:

        def once() -> None:
            producer.send()
            producer.wait()

        return _percentiles("acknowledgement", once, 3000)


def delivery(broker: Broker) -> Figures:
    """Measures the latency of a message until a waiting consumer has received it, one message at a time."""
    with new_topic(broker) as topic, broker.on_one_cpu(), SingleProducer(broker.bootstrap_servers, topic, 100) as producer:
        producer.send()
        producer.wait()
        with Reader(broker.bootstrap_servers, topic, BEGINNING) as reader:
            reader.one()

            def once() -> None:
                producer.send()
                reader.one()
                producer.wait()

            return _percentiles(
                "to a waiting consumer", once, 10 if broker.name == MOCK else 2000
            )  # the mock does not answer waiting fetches early


def _percentiles(name: str, once: Callable[[], None], count: int) -> Figures:
    """Returns percentiles of `count` calls in microseconds; a tenth as many calls before them warm up."""
    times = []
    for i in range(count + count // 10):
        began = time.perf_counter()
        once()
        if i >= count // 10:
            times.append((time.perf_counter() - began) * 1e6)
    percentiles = quantiles(times, n=100)
    return {f"{name}, p50": percentiles[49], f"{name}, p99": percentiles[98]}


def new_group_confluent(broker: Broker) -> Figures:
    """Measures the seconds from the creation of a consumer with default settings to its first message."""
    with _one_message(broker) as topic:
        began = time.perf_counter()
        settings = {"bootstrap.servers": broker.bootstrap_servers, "group.id": topic, "auto.offset.reset": "earliest"}
        consumer = Consumer(settings)
        try:
            consumer.subscribe([topic])
            message = consumer.poll(TIMEOUT_S)
            if message is None or message.error():
                raise KafkaFailure(f"no message after {TIMEOUT_S} s" if message is None else str(message.error()))
            return {"new group, confluent-kafka": time.perf_counter() - began}
        finally:
            consumer.close()


def new_group_kafka_python(broker: Broker) -> Figures:
    """Measures the seconds from the creation of a kafka-python consumer to its first message."""
    with _one_message(broker) as topic:
        began = time.perf_counter()
        consumer = KafkaConsumer(topic, bootstrap_servers=broker.bootstrap_servers, group_id=topic, auto_offset_reset="earliest")
        try:
            if not consumer.poll(TIMEOUT_S * 1000, max_records=1):
                raise KafkaFailure(f"no message after {TIMEOUT_S} s")
            return {"new group, kafka-python": time.perf_counter() - began}
        finally:
            consumer.close(autocommit=False)


def group_formation(broker: Broker) -> Figures:
    """Measures how long a group of 100 members takes to form, after one such group has formed already."""
    if broker.name == MOCK:  # it returns null for an assignment, which the protocol does not allow
        return {}
    formation_s(broker.address)
    return {"group of 100 members forms": formation_s(broker.address) * 1e3}


def large_metadata(broker: Broker) -> Figures:
    """Measures requests for the metadata of one topic. The mock does not create topics with several partitions."""
    if broker.name == MOCK:
        return {}
    name = f"bench-{os.getpid()}-{next(_topics)}"
    return {
        f"metadata of {partitions} partitions": metadata_s(broker.bootstrap_servers, f"{name}-{partitions}", partitions) * 1e3
        for partitions in (1_000, 10_000)
    }


@contextmanager
def _one_message(broker: Broker) -> Iterator[str]:
    with new_topic(broker) as topic, SingleProducer(broker.bootstrap_servers, topic, 100) as producer:
        producer.send()
        producer.wait()
        yield topic


def small_requests(broker: Broker) -> Figures:
    """Measures the rate and the broker's CPU time of Produce requests of one record, with 5 in flight on each of 16 connections."""
    with new_topic(broker) as topic, Pipeline(broker.address, topic, batch(1, 100)) as pipeline:
        pipeline.run(4000)
        cpu_s, began = broker.cpu_s(), time.perf_counter()
        count = pipeline.run(40_000)
        return {
            "small requests": count / (time.perf_counter() - began),
            "small requests: CPU": (broker.cpu_s() - cpu_s) / count * 1e6,
        }


def start(broker: Broker) -> Figures:
    """Measures the start-up time and memory of a new process."""
    if broker.name == MOCK:  # users run it in their own process
        return {}
    with broker.start() as fresh:
        return {"start": fresh.start_s * 1e3, "memory at start": fresh.resident_bytes() / 2**20}


def memory(row: str, records: bytes, count: int, broker: Broker) -> Figures:
    """Measures resident bytes per byte of record batches, in a new process."""
    if broker.name != ODRADEK:  # the others discard records or write them to disk
        return {}
    with broker.start() as fresh, new_topic(fresh) as topic, Pipeline(fresh.address, topic, records) as pipeline:
        before = fresh.resident_bytes()
        stored = pipeline.run(count) * len(records)
        return {row: (fresh.resident_bytes() - before) / stored}


def state(broker: Broker) -> Figures:
    """Measures snapshots and resets, which the others do not have."""
    return durations_ms() if broker.name == ODRADEK else {}


def fairness(broker: Broker) -> Figures:
    """Measures the latency of quiet clients, alone and beside one client that floods the broker."""
    alone_s, flooded_s = quiet_p99_s(broker.address)
    return {
        "20 quiet clients, p99": alone_s * 1e6,
        "20 quiet clients, p99 in a flood": flooded_s * 1e6,
        "20 quiet clients, flooded / alone": flooded_s / alone_s,
    }


def _text(size: int) -> str:
    return f"{size} B" if size < 1024 else f"{size // 1024} KiB"


def _bulk(size: int, count: int, of_mock: float, consume: tuple[Target, ...] = ()) -> Measure:
    name = _text(size)
    rows = (
        Row(f"produce {name}", "MB/s", (Target(of_mock, MOCK, at_least=True), Target(2, KAFKA, at_least=True))),
        Row(f"produce {name}: CPU", "us/MB"),
        Row(f"consume {name}", "MB/s", consume),
        Row(f"consume {name}: CPU", "us/MB"),
    )
    return Measure(rows, partial(bulk, size, count))


def _per_stored_byte(name: str, records: bytes, count: int) -> Measure:
    row = f"memory per stored byte, {name}"
    return Measure((Row(row, "", (Target(1.1),)),), partial(memory, row, records, count))


MEASURES = (
    _bulk(100, 2_000_000, 0.8),
    _bulk(1024, 300_000, 0.55, (Target(2, KAFKA, at_least=True),)),
    _bulk(10 * 1024, 40_000, 0.45),
    Measure((Row("acknowledgement, p50", "us"), Row("acknowledgement, p99", "us", (Target(1.2, MOCK),))), acknowledgement),
    Measure((Row("to a waiting consumer, p50", "us", (Target(300),)), Row("to a waiting consumer, p99", "us")), delivery),
    Measure((Row("small requests", "1/s"), Row("small requests: CPU", "us")), small_requests),
    Measure(
        (
            Row("20 quiet clients, p99", "us"),
            Row("20 quiet clients, p99 in a flood", "us"),
            Row("20 quiet clients, flooded / alone", "", (Target(5),)),
        ),
        fairness,
    ),
    Measure((Row("new group, confluent-kafka", "s", (Target(0.2),)),), new_group_confluent),
    Measure((Row("new group, kafka-python", "s", (Target(0.2),)),), new_group_kafka_python),
    Measure((Row("group of 100 members forms", "ms", (Target(10),)),), group_formation),
    Measure((Row("metadata of 1000 partitions", "ms"), Row("metadata of 10000 partitions", "ms", (Target(25),))), large_metadata),
    Measure((Row("start", "ms", (Target(80),)), Row("memory at start", "MiB", (Target(28),))), start),
    Measure(
        (Row("reset", "ms", (Target(5),)), Row("snapshot of 1 GB", "ms", (Target(20),)), Row("restore of 1 GB", "ms", (Target(20),))), state
    ),
    _per_stored_byte("small batches", batch(1, 100), 300_000),
    _per_stored_byte("large batches", batch(200, 1024), 400),
)
