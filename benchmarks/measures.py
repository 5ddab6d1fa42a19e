"""The measures of the broker benchmark: each function takes a running broker and returns its figures by row."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial

from confluent_kafka import Consumer
from kafka import KafkaConsumer

from . import bulk, commands, data_directory, many_topics, schema_registry, secured, share_consumption
from .brokers import KFAKE, MOCK, ODRADEK, Broker, Start, with_fault, without_fault, without_record
from .fairness import quiet_p99_s
from .formation import formation_s
from .latency import percentiles
from .librdkafka import BEGINNING, KafkaFailure, Reader, SingleProducer
from .metadata import metadata_s
from .pipeline import Pipeline, batch, varied_batches
from .rows import Figures, Measure, Row, Target
from .share_members import MEMBERS, ROUNDS, ShareMembers
from .state import advance_ms, durations_ms
from .topics import TIMEOUT_S, new_name, new_topic


def acknowledgement(broker: Broker) -> Figures:
    """Measures the latency of a message until its acknowledgement, with one message in flight and acks=1."""
    with new_topic(broker) as topic, broker.on_one_cpu(), SingleProducer(broker.bootstrap_servers, topic, 100) as producer:

        def once() -> None:
            producer.send()
            producer.wait()

        cpu_s, count = broker.cpu_s(), 3000
        figures = percentiles("acknowledgement", once, count)
        return figures | {"acknowledgement: CPU": (broker.cpu_s() - cpu_s) / (count + count // 10) * 1e6}


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

            return percentiles(
                "to a waiting consumer", once, 10 if broker.name == MOCK else 2000
            )  # the mock does not answer waiting fetches early


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


def share_members(broker: Broker) -> Figures:
    """Measures a share group of 100 members, after one such group has formed already. The mock and kfake have no share groups."""
    if broker.name in (MOCK, KFAKE):
        return {}
    with (
        new_topic(broker) as topic,
        closing(ShareMembers(broker.address, topic)) as first,
        closing(ShareMembers(broker.address, topic)) as members,
    ):
        first.form()
        formed_s = members.form()
        cpu_s = broker.cpu_s()
        for _ in range(ROUNDS):
            members.beat()
        beat_s = (broker.cpu_s() - cpu_s) / (ROUNDS * MEMBERS)
        return {"100 share members: group forms": formed_s * 1e3, "100 share members: heartbeat, CPU": beat_s * 1e6}


def large_metadata(broker: Broker) -> Figures:
    """Measures requests for the metadata of one topic. The mock does not create topics with several partitions."""
    if broker.name == MOCK:
        return {}
    name = new_name()
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


def small_requests(row: str, batches: Sequence[bytes], broker: Broker) -> Figures:
    """Measures the rate and the broker's CPU time of Produce requests of one record, with 5 in flight on each of 16 connections."""
    with new_topic(broker) as topic, Pipeline(broker.address, topic, *batches) as pipeline:
        pipeline.run(8000)
        cpu_s, began = broker.cpu_s(), time.perf_counter()
        count = pipeline.run(40_000)
        return {row: count / (time.perf_counter() - began), f"{row}: CPU": (broker.cpu_s() - cpu_s) / count * 1e6}


def fault_cost(broker: Broker) -> Figures:
    """Measures the broker's CPU time of small requests while a fault exists that hits none of them, relative to that without a fault."""
    return {"fault that does not match, CPU ratio": _cpu_ratio(with_fault, without_fault)} if broker.name == ODRADEK else {}


def record_cost(broker: Broker) -> Figures:
    """Measures the broker's CPU time of small requests while exchanges are recorded, relative to that without the record."""
    return {"record of exchanges, CPU ratio": _cpu_ratio(without_fault, without_record)} if broker.name == ODRADEK else {}


def _cpu_ratio(one: Start, other: Start) -> float:
    """Returns the CPU time of small requests to one broker relative to another one. Both are measured in turns."""
    spent: list[list[float]] = [[], []]
    with ExitStack() as stack:
        pairs = []
        for start in (one, other):
            broker = stack.enter_context(start())
            pairs.append((broker, stack.enter_context(Pipeline(broker.address, stack.enter_context(new_topic(broker)), batch(1, 100)))))
        for _ in range(11):
            for figures, (broker, pipeline) in zip(spent, pairs, strict=True):
                cpu_s = broker.cpu_s()
                pipeline.run(4000)
                figures.append(broker.cpu_s() - cpu_s)
    return min(spent[0]) / min(spent[1])


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


def advance(broker: Broker) -> Figures:
    """Measures an advance of the time, which the others do not have."""
    return {"advance over 7 days, 1,000 groups": advance_ms()} if broker.name == ODRADEK else {}


def fairness(broker: Broker) -> Figures:
    """Measures the latency of quiet clients, alone and beside one client that floods the broker."""
    alone_s, flooded_s = quiet_p99_s(broker.address)
    return {
        "20 quiet clients, p99": alone_s * 1e6,
        "20 quiet clients, p99 in a flood": flooded_s * 1e6,
        "20 quiet clients, flooded / alone": flooded_s / alone_s,
    }


def _small(name: str, batches: Sequence[bytes], of_mock: float) -> Measure:
    rows = (Row(name, "1/s"), Row(f"{name}: CPU", "us", (Target(of_mock, MOCK),)))
    return Measure(rows, partial(small_requests, name, batches))


def _per_stored_byte(name: str, records: bytes, count: int) -> Measure:
    row = f"memory per stored byte, {name}"
    return Measure((Row(row, "", (Target(1.1),)),), partial(memory, row, records, count))


MEASURES = (
    *bulk.MEASURES,
    *secured.MEASURES,
    *data_directory.MEASURES,
    *share_consumption.MEASURES,
    *many_topics.MEASURES,
    *commands.MEASURES,
    *schema_registry.MEASURES,
    Measure(
        (
            Row("acknowledgement, p50", "us", (Target(1.1, MOCK),)),
            Row("acknowledgement, p99", "us", (Target(1.1, MOCK),)),
            Row("acknowledgement: CPU", "us", (Target(2.67, MOCK),)),
        ),
        acknowledgement,
    ),
    Measure((Row("to a waiting consumer, p50", "us", (Target(1.1, KFAKE),)), Row("to a waiting consumer, p99", "us")), delivery),
    _small("small requests", [batch(1, 100)], 1.15),
    _small("small requests, varied", varied_batches(), 1.6),
    Measure((Row("fault that does not match, CPU ratio", "", (Target(1.05),)),), fault_cost),
    Measure((Row("record of exchanges, CPU ratio", "", (Target(1.03),)),), record_cost),
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
    Measure((Row("100 share members: group forms", "ms", (Target(300),)), Row("100 share members: heartbeat, CPU", "us")), share_members),
    Measure((Row("metadata of 1000 partitions", "ms"), Row("metadata of 10000 partitions", "ms", (Target(25),))), large_metadata),
    Measure((Row("start", "ms", (Target(80),)), Row("memory at start", "MiB", (Target(28),))), start),
    Measure(
        (Row("reset", "ms", (Target(5),)), Row("snapshot of 1 GB", "ms", (Target(20),)), Row("restore of 1 GB", "ms", (Target(20),))), state
    ),
    Measure((Row("advance over 7 days, 1,000 groups", "ms", (Target(1000),)),), advance),
    _per_stored_byte("small batches", batch(1, 100), 300_000),
    _per_stored_byte("large batches", batch(200, 1024), 400),
)
