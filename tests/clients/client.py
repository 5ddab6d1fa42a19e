"""The interface of clients in the scenarios. To add a client, add a module next to this one and its name below.

This module must also run on Python 3.10, because an old librdkafka runs in a child process of that version.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, Protocol

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
# The module and class of each client. Each also reads the records of the client before it.
CLIENTS = {
    "librdkafka": "tests.clients.librdkafka:Librdkafka",
    "kafka-python": "tests.clients.kafka_python:KafkaPython",
    "java": "tests.clients.java:Java",
    "aiokafka": "tests.clients.aiokafka_client:AioKafka",
    "librdkafka-1.9.2": "tests.clients.old_librdkafka:OldLibrdkafka",
    "kcat": "tests.clients.kcat:Kcat",
}
# The time limit of every operation. It is generous, because it must also suffice on a loaded machine.
PATIENCE_S = 120.0
# How long a producer waits for a response before it sends the request again.
REQUEST_TIMEOUT_MS = 30_000
# The interval of heartbeats, whose responses announce rebalances; the default of most clients is 3 s.
HEARTBEAT_INTERVAL_MS = 200
# The interval in which clients refresh their metadata; with the default of 5 minutes most of them would not find a restarted node.
METADATA_MAX_AGE_MS = 100


class Unavailable(Exception):
    """Raised when this machine lacks a requirement of the client, which the message names."""


@dataclass(frozen=True)
class Record:
    """A record as it is written and read. If `timestamp_ms` is None, the writer uses its own clock."""

    partition: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    timestamp_ms: int | None = None

    @property
    def keywords(self) -> dict[str, Any]:
        """The arguments of `send` in kafka-python and aiokafka."""
        return {**vars(self), "headers": list(self.headers)}


class Producer(Protocol):
    """A producer with acks=all."""

    def send(self, records: list[Record]) -> None:
        """Starts to send without waiting for acknowledgements."""

    def flush(self) -> None:
        """Waits until all records are acknowledged. Raises an exception if one is not."""

    def close(self) -> None: ...


class Member(Protocol):
    """A consumer in a group. It starts at the earliest offset if there is no committed one, and commits only in `commit`."""

    def poll(self, timeout_s: float) -> list[Record]:
        """Returns new records; waits for the first of them up to the timeout."""

    def assignment(self) -> list[int]:
        """Returns the assigned partitions in ascending order."""

    def commit(self) -> None:
        """Commits the offsets of all records that `poll` has returned."""

    def close(self) -> None:
        """Leaves the group."""


class Client(Protocol):
    """One client library. `close` releases its resources, such as a child process."""

    def nodes(self, bootstrap_servers: str) -> dict[int, str]:
        """Returns `host:port` of each node by its id."""

    def create_topic(self, bootstrap_servers: str, topic: str) -> None:
        """Creates a topic with two partitions and two replicas."""

    def producer(
        self, bootstrap_servers: str, topic: str, codec: str, idempotent: bool, request_timeout_ms: int = REQUEST_TIMEOUT_MS
    ) -> Producer: ...

    def member(self, bootstrap_servers: str, topic: str, group: str) -> Member: ...

    def close(self) -> None: ...

    def written(self, record: Record) -> Record:
        """Returns the record that is written if the client cannot write all of its fields."""

    def read(self, record: Record) -> Record:
        """Returns the record that is read if the client does not show all of its fields."""


class FaithfulClient:
    """The base of clients that write and read all fields of records."""

    def written(self, record: Record) -> Record:
        return record

    def read(self, record: Record) -> Record:
        return record


def sample(seed: str, count: int) -> list[Record]:
    """Returns records for both partitions in turn, with null, empty, binary and repeated fields among them."""
    chance = random.Random(seed)
    headers: list[tuple[tuple[str, bytes | None], ...]] = [
        (),
        (("trace", bytes(range(1, 256))),),
        (("", b""), ("null", None), ("twice", b"1"), ("twice", b"2")),
        (("schlüssel", "wert ✓".encode()),),
    ]
    keys = [None, b"", b"\xff\xfe\xfd", "ключ".encode()]
    first_ms = 1_700_000_000_000
    return [
        Record(
            partition=i % 2,
            key=keys[i // 2 % 5] if i // 2 % 5 < 4 else b"key-%d" % i,
            value=None if i % 50 == 7 else b"" if i % 50 == 8 else b"%d " % i + chance.randbytes(8) * chance.randrange(40),
            headers=headers[i // 4 % 4],
            timestamp_ms=first_ms + i * 10 - chance.randrange(100),
        )
        for i in range(count)
    ]
