"""A group of confluent-kafka consumers that are polled in turns, with short time limits."""

from __future__ import annotations

import confluent_kafka

from odradek.broker import Cluster
from tests.clients.client import HEARTBEAT_INTERVAL_MS, PATIENCE_S

PARTITIONS = 8
# Short timeouts, because the tests wait for them.
SETTINGS = {
    "group.consumer.heartbeat.interval.ms": HEARTBEAT_INTERVAL_MS,
    "group.consumer.min.heartbeat.interval.ms": HEARTBEAT_INTERVAL_MS,
    "group.consumer.min.session.timeout.ms": 2_000,
    "group.consumer.session.timeout.ms": 2_000,
    "group.consumer.assignment.interval.ms": 100,
    "group.min.session.timeout.ms": 2_000,
}


def produce(cluster: Cluster, numbers: range) -> None:
    producer = confluent_kafka.Producer({"bootstrap.servers": cluster.bootstrap_servers, "linger.ms": 5, "log_level": 0})
    for number in numbers:
        producer.produce("t", str(number), partition=number % PARTITIONS)
        producer.poll(0)
    assert producer.flush(PATIENCE_S) == 0
