"""Throttled clients learn their throttle times, and lose nothing."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, ThrottleEvent
from kafka import KafkaProducer

from odradek import Cluster
from tests import apache_kafka

JAVA_SOURCE = Path(__file__).with_name("ThrottledClient.java")
pytestmark = [pytest.mark.sockets, pytest.mark.clients]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=1, topics={"t": 1}) as running:
        running.clock.run(speed=30)  # throttle times pass faster than the clients' own time-outs
        yield running


def limit(cluster: Cluster, key: str, value: float) -> None:
    async def alter() -> None:
        cluster._cluster._server.cluster.alter_quotas((("client-id", "limited"),), {key: value}, validate_only=False)

    cluster._run_in_thread(alter())


def test_librdkafka_reports_the_throttle_time_of_produce(cluster: Cluster) -> None:
    limit(cluster, "producer_byte_rate", 100)
    events: list[ThrottleEvent] = []
    config = {"bootstrap.servers": cluster.bootstrap_servers, "client.id": "limited", "throttle_cb": events.append}
    producer = Producer(config)
    for _ in range(3):
        producer.produce("t", b"x" * 1000)
        producer.flush(0.2)
    assert producer.flush(60) == 0
    assert events
    assert events[0].throttle_time > 0
    assert len(cluster.records("t")) == 3


def test_throttled_consumer_reads_every_record(cluster: Cluster) -> None:
    for _ in range(20):
        cluster.produce("t", [b"x" * 1000])  # one batch each, because a batch above the quota of all windows is never returned, as in Kafka
    limit(cluster, "consumer_byte_rate", 500)
    config = {"bootstrap.servers": cluster.bootstrap_servers, "client.id": "limited", "group.id": "g", "auto.offset.reset": "earliest"}
    consumer = Consumer(config | {"fetch.error.backoff.ms": 1})
    consumer.subscribe(["t"])
    messages = consumer.consume(20, timeout=60)
    consumer.close()
    assert [message.offset() for message in messages] == list(range(20))


def test_kafka_python_produces_within_its_quota(cluster: Cluster) -> None:
    limit(cluster, "producer_byte_rate", 1e9)
    producer = KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, client_id="limited")
    assert producer.send("t", b"x").get(30).offset == 0
    assert producer.send("t", b"y").get(30).offset == 1
    producer.close()


def test_java_client_shows_throttle_times(cluster: Cluster) -> None:
    missing = apache_kafka.missing()
    if missing is not None:
        pytest.skip(f"{missing} is not installed")
    if subprocess.run([str(apache_kafka.java()), "--describe-module", "jdk.compiler"], capture_output=True).returncode:
        pytest.skip("this Java has no compiler")
    limit(cluster, "producer_byte_rate", 500)
    limit(cluster, "consumer_byte_rate", 500)
    program = [*apache_kafka.command(str(JAVA_SOURCE)), cluster.bootstrap_servers, "t", "12"]
    shown = subprocess.run(program, capture_output=True, text=True, timeout=120, check=True).stdout
    found = {name: float(number) for name, number in re.findall(r"^(produce|fetch) (\d+)$", shown, re.MULTILINE)}
    assert found.keys() == {"produce", "fetch"}
    assert all(milliseconds > 0 for milliseconds in found.values()), found
    assert len(cluster.records("t")) == 12
