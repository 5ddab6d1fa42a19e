"""Clients of the time of older releases, by name, and what the message formats that they use cannot carry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from tests.clients.client import Client, Record
from tests.clients.java import Java
from tests.clients.kcat import Kcat
from tests.clients.librdkafka import Librdkafka
from tests.clients.old_librdkafka import OldLibrdkafka
from tests.clients.older_kafka_python import OlderKafkaPython

BATCHES = 2


class OlderClient(NamedTuple):
    """A client, the message format that it uses, and the newest release of Kafka that it works with, by Kafka's promise (KIP-896).

    A client that takes the broker for one before 0.10.1 does not create topics.
    """

    start: Callable[[], Client]
    message_format: int = BATCHES
    until: str = "4.3"
    creates_topics: bool = True

    def carried(self, record: Record) -> Record:
        """Returns the record without what the message format cannot carry: headers and, in format 0, its timestamp, which is then 0."""
        if self.message_format == BATCHES:
            return record
        return replace(record, headers=(), timestamp_ms=record.timestamp_ms if self.message_format else 0)


def _fallback(version: str) -> dict[str, object]:
    """Returns the settings by which librdkafka talks to brokers without ApiVersions, or that hide it."""
    return {"api.version.request": False, "broker.version.fallback": version}


OLDER_CLIENTS = {
    "java-2.1.1": OlderClient(lambda: Java("2.1.1")),
    "java-2.8.2": OlderClient(lambda: Java("2.8.2")),
    "java-3.9.1": OlderClient(lambda: Java("3.9.1")),
    "librdkafka-1.9.2": OlderClient(OldLibrdkafka),
    "librdkafka-as-0.11.0": OlderClient(lambda: Librdkafka(_fallback("0.11.0.0")), BATCHES, "3.9"),
    "librdkafka-as-0.10.0": OlderClient(lambda: Librdkafka(_fallback("0.10.0.0")), 1, "3.9", creates_topics=False),
    "librdkafka-as-0.9.0": OlderClient(lambda: Librdkafka(_fallback("0.9.0.0")), 0, "3.9", creates_topics=False),
    "kafka-python-1.4.7": OlderClient(lambda: OlderKafkaPython("1.4.7"), BATCHES, "3.9"),
    "kafka-python-2.0.2": OlderClient(lambda: OlderKafkaPython("2.0.2"), BATCHES, "3.9"),
    "kcat-as-0.10.2": OlderClient(lambda: Kcat(["api.version.request=false", "broker.version.fallback=0.10.2.2"]), 1, "3.9"),
}
