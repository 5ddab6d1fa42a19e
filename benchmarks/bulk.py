"""The measures of bulk transfers: many messages, with the default settings of librdkafka."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from .brokers import FLOOR, KAFKA, KFAKE, MOCK, ODRADEK, Broker
from .librdkafka import BEGINNING, BulkProducer, KafkaFailure, Reader
from .rows import Figures, Measure, Row, Target
from .topics import new_topic

REUSED = "produce 1 KiB in reused memory"


@contextmanager
def _without_kept_memory(broker: Broker) -> Iterator[Broker]:
    """Yields a new process of odradek, because one that has just deleted a topic would use its memory again; any other as it is."""
    if broker.name != ODRADEK:
        yield broker
        return
    with broker.start() as fresh:
        yield fresh


def claim_memory(size: int) -> None:
    """Touches and frees `size` bytes.

    The host of a virtual machine reclaims idle memory. Touching it again takes three times as long, which would be counted as the broker's.
    """
    with mmap.mmap(-1, size) as memory:
        for position in range(0, size, mmap.PAGESIZE):
            memory[position] = 1


def produce_and_consume(size: int, count: int, broker: Broker) -> Figures:
    """Measures rates and the broker's CPU time while `count` messages are produced and consumed."""
    megabytes, name = size * count / 1e6, text_of_size(size)
    claim_memory(3 * size * count // 2)
    with _without_kept_memory(broker) as broker, new_topic(broker) as topic:
        with BulkProducer(broker.bootstrap_servers, topic, size) as producer:
            cpu_s = broker.cpu_s()
            seconds = producer.send(count)
            figures = {f"produce {name}: CPU": (broker.cpu_s() - cpu_s) / megabytes * 1e6}
            if broker.name == FLOOR:
                return figures
            figures[f"produce {name}"] = megabytes / seconds
            if producer.end_offset() != count + 1:
                raise KafkaFailure(f"{producer.end_offset()} of {count + 1} messages arrived")
        if broker.name != MOCK:
            with Reader(broker.bootstrap_servers, topic, BEGINNING) as reader:
                reader.one()  # librdkafka waits for half a second before its first fetch
                cpu_s = broker.cpu_s()
                figures[f"consume {name}"] = megabytes / reader.many(count)
                figures[f"consume {name}: CPU"] = (broker.cpu_s() - cpu_s) / megabytes * 1e6
    return figures


def produce_again(count: int, broker: Broker) -> Figures:
    """Measures the CPU time and the page faults of `count` messages of 1 KiB, after as many have been produced and deleted."""
    megabytes = 1024 * count / 1e6
    with _without_kept_memory(broker) as broker:
        for _ in range(2):
            with new_topic(broker) as topic, BulkProducer(broker.bootstrap_servers, topic, 1024) as producer:
                cpu_s, faults = broker.cpu_s(), broker.page_faults()
                producer.send(count)
                figures = {
                    f"{REUSED}: CPU": (broker.cpu_s() - cpu_s) / megabytes * 1e6,
                    f"{REUSED}: page faults": (broker.page_faults() - faults) / megabytes,
                }
    return figures


def text_of_size(size: int) -> str:
    return f"{size} B" if size < 1024 else f"{size // 1024} KiB"


def _rows(size: int, of_mock: float, consume: tuple[Target, ...] = ()) -> tuple[Row, ...]:
    name = text_of_size(size)
    return (
        Row(f"produce {name}", "MB/s", (Target(of_mock, MOCK, at_least=True), Target(2, KAFKA, at_least=True))),
        Row(f"produce {name}: CPU", "us/MB", (Target(1.15, FLOOR),)),
        Row(f"consume {name}", "MB/s", consume),
        Row(f"consume {name}: CPU", "us/MB"),
    )


def _measure(size: int, count: int, rows: tuple[Row, ...]) -> Measure:
    return Measure(rows, partial(produce_and_consume, size, count), (ODRADEK, FLOOR, MOCK, KAFKA, KFAKE))


MEASURES = (
    _measure(100, 2_000_000, _rows(100, 0.8)),
    _measure(1024, 300_000, _rows(1024, 0.55, (Target(2, KAFKA, at_least=True),))),
    _measure(10 * 1024, 40_000, _rows(10 * 1024, 0.45)),
    Measure(
        (Row(f"{REUSED}: CPU", "us/MB"), Row(f"{REUSED}: page faults", "1/MB", (Target(30),))),
        partial(produce_again, 50_000),
        (ODRADEK, KAFKA, KFAKE),
    ),
)
