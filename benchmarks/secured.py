"""The measures of TLS and SASL: odradek and Apache Kafka with the same settings, certificates and users."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from tests import apache_kafka
from tests.clients import secured

from .brokers import KAFKA, ODRADEK, Broker, free_port, kafka, odradek, start_process
from .bulk import claim_memory
from .latency import percentiles
from .librdkafka import BEGINNING, BulkProducer, KafkaFailure, Reader, SingleProducer
from .rows import Figures, Measure, Row, Target
from .scram import connect
from .topics import new_topic

SIZE, COUNT, WARM_UP = 1024, 100_000, 100_000
CONNECTIONS = 1000


class Secured(NamedTuple):
    """A broker with a plaintext listener, the address of its SASL_PLAINTEXT listener, and librdkafka's settings for TLS."""

    broker: Broker
    sasl_address: tuple[str, int]
    tls: Mapping[str, str]


@contextmanager
def secured_broker(name: str) -> Iterator[Secured]:
    """Starts odradek or Apache Kafka with secured listeners."""
    with ExitStack() as stack:
        tls = stack.enter_context(secured.generated_tls())
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        given = {**secured.settings(tls, directory), "auto.create.topics.enable": "true"}
        if name == KAFKA:
            listeners, broker = stack.enter_context(_kafka(given))
        else:
            listeners, broker = stack.enter_context(_odradek(given))
        secured.create_users_and_topic(broker.bootstrap_servers)
        config = secured.Secured(name, listeners, tls).config("librdkafka", "SSL", "")
        host, port = listeners["SASL_PLAINTEXT"].split(":")
        yield Secured(broker, (host, int(port)), config)


@contextmanager
def _kafka(settings: Mapping[str, str]) -> Iterator[tuple[Mapping[str, str], Broker]]:
    given = {**settings, "super.users": "User:ANONYMOUS", "log.segment.delete.delay.ms": "1000"}
    with apache_kafka.ApacheKafka(settings=given, listeners=secured.LISTENERS, jvm=apache_kafka.STOCK_JVM) as cluster:
        addresses = {name: cluster.addresses(name) for name in secured.LISTENERS}
        yield addresses, Broker(KAFKA, cluster.bootstrap_servers, cluster.nodes[0].pid, 0, kafka)


@contextmanager
def _odradek(settings: Mapping[str, str]) -> Iterator[tuple[Mapping[str, str], Broker]]:
    protocols = {"CLIENT": "PLAINTEXT", **secured.LISTENERS}
    addresses = {name: f"127.0.0.1:{free_port()}" for name in protocols}
    given = {**settings, "listener.security.protocol.map": ",".join(f"{name}:{protocol}" for name, protocol in protocols.items())}
    command = [str(Path(sys.executable).with_name("odradek")), "serve", "--nodes", "1"]
    command += [f"--listener={name}://{address}" for name, address in addresses.items()]
    command += [f"--set={name}={value}" for name, value in given.items()]
    with start_process(ODRADEK, command, odradek) as broker:
        yield addresses, broker


def secure_transfers(broker: Broker) -> Figures:
    """Measures bulk transfers and acknowledgements over TLS, and connections that authenticate by SCRAM, after a warm-up."""
    claim_memory(3 * SIZE * COUNT // 2)
    with secured_broker(broker.name) as target:
        return {**_bulk(target), **_acknowledgement(target), **_connections(target)}


def _bulk(target: Secured) -> Figures:
    megabytes = SIZE * COUNT / 1e6
    with new_topic(target.broker) as topic:
        with BulkProducer(target.tls["bootstrap.servers"], topic, SIZE, target.tls) as producer:
            producer.send(WARM_UP)
            cpu_s = target.broker.cpu_s()
            figures = {"produce 1 KiB, TLS": megabytes / producer.send(COUNT)}
            figures["produce 1 KiB, TLS: CPU"] = (target.broker.cpu_s() - cpu_s) / megabytes * 1e6
            if producer.end_offset() != WARM_UP + COUNT + 1:
                raise KafkaFailure(f"{producer.end_offset()} of {WARM_UP + COUNT + 1} messages arrived")
        with Reader(target.tls["bootstrap.servers"], topic, BEGINNING, target.tls) as reader:
            reader.many(WARM_UP)
            cpu_s = target.broker.cpu_s()
            figures["consume 1 KiB, TLS"] = megabytes / reader.many(COUNT)
            figures["consume 1 KiB, TLS: CPU"] = (target.broker.cpu_s() - cpu_s) / megabytes * 1e6
    return figures


def _acknowledgement(target: Secured) -> Figures:
    with new_topic(target.broker) as topic, SingleProducer(target.tls["bootstrap.servers"], topic, 100, target.tls) as producer:

        def once() -> None:
            producer.send()
            producer.wait()

        return percentiles("acknowledgement, TLS", once, 2000)


def _connections(target: Secured) -> Figures:
    for count in (CONNECTIONS // 2, CONNECTIONS):  # the first ones warm up
        began, cpu_s = time.perf_counter(), target.broker.cpu_s()
        for _ in range(count):
            connect(target.sasl_address, secured.USER, secured.PASSWORD)
    seconds, cpu_s = time.perf_counter() - began, target.broker.cpu_s() - cpu_s
    return {"connections with SCRAM": count / seconds, "connections with SCRAM: CPU": cpu_s / count * 1e6}


MEASURES = (
    Measure(
        (
            Row("produce 1 KiB, TLS", "MB/s", (Target(1.5, KAFKA, at_least=True),)),
            Row("produce 1 KiB, TLS: CPU", "us/MB"),
            Row("consume 1 KiB, TLS", "MB/s", (Target(1.5, KAFKA, at_least=True),)),
            Row("consume 1 KiB, TLS: CPU", "us/MB"),
            Row("acknowledgement, TLS, p50", "us"),
            Row("acknowledgement, TLS, p99", "us"),
            Row("connections with SCRAM", "1/s"),
            Row("connections with SCRAM: CPU", "us"),
        ),
        secure_transfers,
        (ODRADEK, KAFKA),
    ),
)
