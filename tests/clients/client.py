"""What the scenarios ask of a client. One file beside this one per client; adding a client is adding a file and its name below.

Runs on Python 3.10 too: an old librdkafka lives in a child process of that version.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Protocol

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
# The module and class of each, in the order of the ring in which they read one another's records.
CLIENTS = {
    "librdkafka": "tests.clients.librdkafka:Librdkafka",
    "kafka-python": "tests.clients.kafka_python:KafkaPython",
    "java": "tests.clients.java:Java",
    "aiokafka": "tests.clients.aio:AioKafka",
    "librdkafka-1.9.2": "tests.clients.old_librdkafka:OldLibrdkafka",
    "kcat": "tests.clients.kcat:Kcat",
}
# How long a client may take for anything before the scenario fails.
PATIENCE_S = 30.0
# Members ask this often whether their group rebalances; the default of most is 3 s.
HEARTBEAT_INTERVAL_MS = 200
# Clients ask this often which nodes there are; the default is 5 minutes, and until then most of them never hear of one that came back.
METADATA_MAX_AGE_MS = 100


class Unavailable(Exception):
    """This machine lacks what the client needs; the text says what."""


@dataclass(frozen=True)
class Record:
    """A record as its writer gives it and its reader gets it. `timestamp_ms` None: the writer's own clock."""

    partition: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    timestamp_ms: int | None = None


class Producer(Protocol):
    """Waits for all in-sync replicas."""

    def send(self, records: list[Record]) -> None:
        """Begins to send; does not wait for acknowledgements."""

    def flush(self) -> None:
        """Waits until all is acknowledged. Raises if something was not."""

    def close(self) -> None: ...


class Member(Protocol):
    """A consumer in a group, from the earliest offset where nothing is committed; it commits when told to."""

    def poll(self, timeout_s: float) -> list[Record]:
        """What has come, waiting at most so long for the first of it."""

    def assignment(self) -> list[int]:
        """The partitions it has, ascending."""

    def commit(self) -> None:
        """Commits all that `poll` returned."""

    def close(self) -> None:
        """Leaves the group."""


class Client(Protocol):
    """One client library. `close` ends what it keeps for itself, a child process perhaps."""

    def nodes(self, bootstrap_servers: str) -> dict[int, str]:
        """The cluster's nodes: `host:port` by id."""

    def create_topic(self, bootstrap_servers: str, topic: str) -> None:
        """Two partitions, two replicas."""

    def producer(self, bootstrap_servers: str, topic: str, codec: str, idempotent: bool) -> Producer: ...

    def member(self, bootstrap_servers: str, topic: str, group: str) -> Member: ...

    def close(self) -> None: ...

    def written(self, record: Record) -> Record:
        """What becomes of a record where the client cannot write all of it."""

    def read(self, record: Record) -> Record:
        """What is left of a record where the client does not show all of it."""


class Whole:
    """For clients that write and read records as they are."""

    def written(self, record: Record) -> Record:
        return record

    def read(self, record: Record) -> Record:
        return record


def sample(seed: str, count: int) -> list[Record]:
    """Records for both partitions in turn; among them all that a field can be: null, empty, binary, repeated."""
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
