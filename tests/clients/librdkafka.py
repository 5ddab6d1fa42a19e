"""librdkafka, in the version of the installed confluent-kafka."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import confluent_kafka
from confluent_kafka import KafkaError, KafkaException, Message
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.clients.client import HEARTBEAT_INTERVAL_MS, METADATA_MAX_AGE_MS, PATIENCE_S, REQUEST_TIMEOUT_MS, FaithfulClient, Record

# Nodes stop and start on purpose, so librdkafka must not log lost connections.
NO_SETTINGS: Mapping[str, Any] = {}
COMMON = {"topic.metadata.refresh.interval.ms": METADATA_MAX_AGE_MS, "log_level": 0}


class Librdkafka(FaithfulClient):
    def __init__(self, settings: Mapping[str, Any] = NO_SETTINGS) -> None:
        self._settings = {**COMMON, **settings}

    def _admin(self, bootstrap_servers: str) -> AdminClient:
        return AdminClient({"bootstrap.servers": bootstrap_servers, **self._settings})

    def nodes(self, bootstrap_servers: str) -> dict[int, str]:
        brokers = self._admin(bootstrap_servers).list_topics(timeout=PATIENCE_S).brokers
        return {broker.id: f"{broker.host}:{broker.port}" for broker in brokers.values()}

    def create_topic(self, bootstrap_servers: str, topic: str) -> None:
        new = NewTopic(topic, num_partitions=2, replication_factor=2)
        admin = self._admin(bootstrap_servers)  # futures of the client fail when it is garbage collected
        admin.create_topics([new])[topic].result(PATIENCE_S)

    def producer(
        self, bootstrap_servers: str, topic: str, codec: str, idempotent: bool, request_timeout_ms: int = REQUEST_TIMEOUT_MS
    ) -> LibrdkafkaProducer:
        return LibrdkafkaProducer(bootstrap_servers, topic, codec, idempotent, request_timeout_ms, self._settings)

    def member(self, bootstrap_servers: str, topic: str, group: str) -> LibrdkafkaMember:
        return LibrdkafkaMember(bootstrap_servers, topic, group, self._settings)

    def close(self) -> None:
        pass


class LibrdkafkaProducer:
    def __init__(
        self, bootstrap_servers: str, topic: str, codec: str, idempotent: bool, request_timeout_ms: int, settings: Mapping[str, Any]
    ) -> None:
        self._topic = topic
        self._failed: list[KafkaError] = []
        self._producer = confluent_kafka.Producer(
            {
                "bootstrap.servers": bootstrap_servers,
                "acks": "all",
                "compression.type": codec,
                "enable.idempotence": idempotent,
                "socket.timeout.ms": request_timeout_ms,
                **settings,
            }
        )

    def send(self, records: list[Record]) -> None:
        for record in records:
            self._producer.produce(
                self._topic,
                partition=record.partition,
                key=record.key,
                value=record.value,
                headers=list(record.headers),
                timestamp=record.timestamp_ms or 0,
                on_delivery=self._delivered,
            )

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._failed.append(error)

    def flush(self) -> None:
        left = self._producer.flush(PATIENCE_S)
        if left or self._failed:
            raise AssertionError(f"{left} records were not acknowledged; failed: {self._failed[:3]}")

    def close(self) -> None:
        del self._producer


class LibrdkafkaMember:
    def __init__(self, bootstrap_servers: str, topic: str, group: str, settings: Mapping[str, Any]) -> None:
        self._consumer = confluent_kafka.Consumer(
            {
                "bootstrap.servers": bootstrap_servers,
                "group.id": group,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "check.crcs": True,
                "heartbeat.interval.ms": HEARTBEAT_INTERVAL_MS,
                **settings,
            }
        )
        self._consumer.subscribe([topic])

    def poll(self, timeout_s: float) -> list[Record]:
        first = self._consumer.poll(timeout_s)
        messages = [] if first is None else [first, *self._consumer.consume(1000, 0)]
        return [_record(message) for message in messages if not _is_event(message)]

    def assignment(self) -> list[int]:
        return sorted(partition.partition for partition in self._consumer.assignment())

    def commit(self) -> None:
        self._consumer.commit(asynchronous=False)

    def close(self) -> None:
        self._consumer.close()


def _is_event(message: Message) -> bool:
    """Returns whether a message reports a lost connection, which librdkafka restores, instead of a record."""
    error = message.error()
    if error is not None and not error.retriable() and error.code() not in (KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN):
        raise KafkaException(error)
    return error is not None


def _record(message: Message) -> Record:
    headers: Any = message.headers() or []
    partition: Any = message.partition()
    return Record(partition, message.key(), message.value(), tuple(headers), message.timestamp()[1])
