"""Clients that stay connected over `restore` and `reset`: consumers read what is there now, and producers write on.

Two values mark the end of what a consumer has to read, one in each partition.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
)

from odradek import Cluster
from tests import apache_kafka
from tests.clients.child import Child
from tests.clients.staying_clients import (
    AiokafkaConsumer,
    AiokafkaProducer,
    Consumer,
    KafkaPythonConsumer,
    KafkaPythonProducer,
    LibrdkafkaConsumer,
    LibrdkafkaProducer,
    Producer,
)

pytestmark = [
    pytest.mark.sockets,
    pytest.mark.clients,
    # kafka-python leaves sockets that were reset to the garbage collector.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
JAVA_SOURCE = Path(__file__).with_name("StayingClient.java")
TIMEOUT_S = 60
PARTITIONS = 2
GROUP = ConfigResource.Type.GROUP
TOPIC = "orders"
EARLIEST = {"auto.offset.reset": "earliest", "auto.commit.interval.ms": 200}


@pytest.fixture(params=[1, pytest.param(2, marks=pytest.mark.slow)], ids=["one-node", "two-nodes"])
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    topics = {TOPIC: PARTITIONS, "idempotent": 1, "transactional": 1}
    # Members of the new protocols notice a reset with their next heartbeat.
    settings = {"group.consumer.heartbeat.interval.ms": "1000", "group.consumer.min.heartbeat.interval.ms": "1000"}
    settings |= {"group.share.heartbeat.interval.ms": "1000", "group.share.min.heartbeat.interval.ms": "1000"}
    with Cluster(nodes=request.param, topics=topics, settings=settings) as running:
        yield running


def fill(cluster: Cluster, name: str, count: int) -> list[bytes]:
    """Writes values in turn to both partitions, and returns them."""
    values = [f"{name} {number}" for number in range(count)]
    for number, value in enumerate(values):
        cluster.produce(TOPIC, [value], partition=number % PARTITIONS)
    return [value.encode() for value in values]


def read(poll: Callable[[], list[bytes]], last: list[bytes]) -> list[bytes]:
    """Returns the values that a consumer reads until it has read the `last` ones."""
    values: list[bytes] = []
    deadline = time.monotonic() + TIMEOUT_S
    while not set(last) <= set(values):
        assert time.monotonic() < deadline, f"{last} are missing after {values}"
        values += poll()
    return values


@pytest.mark.parametrize("group", ["g", None], ids=["group", "assigned"])
@pytest.mark.parametrize("make", [LibrdkafkaConsumer, KafkaPythonConsumer])
def test_consumer_reads_each_new_record_once_after_a_restore(cluster: Cluster, make: type[Consumer], group: str | None) -> None:
    """The records that were written since the snapshot are gone; others have their offsets."""
    with closing(make(cluster.bootstrap_servers, TOPIC, PARTITIONS, group)) as consumer:
        kept = fill(cluster, "kept", 20)
        assert sorted(read(consumer.poll, kept)) == sorted(kept)
        snapshot = cluster.snapshot()
        for count in (4, 10, 16):
            new = fill(cluster, f"new {count}", count)
            assert sorted(read(consumer.poll, new)) == sorted(new)
            cluster.restore(snapshot)
        last = fill(cluster, "last", 6)
        assert sorted(read(consumer.poll, last)) == sorted(last)


@pytest.mark.parametrize("make", [LibrdkafkaConsumer, KafkaPythonConsumer])
def test_assigned_consumer_reads_each_record_once_after_a_reset(cluster: Cluster, make: type[Consumer]) -> None:
    with closing(make(cluster.bootstrap_servers, TOPIC, PARTITIONS, None)) as consumer:
        read(consumer.poll, fill(cluster, "first", 10))
        for count in (10, 6, 20):
            cluster.reset()
            new = fill(cluster, f"new {count}", count)
            assert sorted(read(consumer.poll, new)) == sorted(new)


@pytest.mark.parametrize("make", [LibrdkafkaConsumer, KafkaPythonConsumer, AiokafkaConsumer])
def test_group_member_reads_all_records_after_a_reset(cluster: Cluster, make: type[Consumer]) -> None:
    """The member joins again. It may read records again that it read before, because nothing is committed."""
    with closing(make(cluster.bootstrap_servers, TOPIC, PARTITIONS, "g")) as consumer:
        read(consumer.poll, fill(cluster, "first", 10))
        for count in (10, 6, 20):
            cluster.reset()
            read(consumer.poll, fill(cluster, f"new {count}", count))


@pytest.mark.parametrize("transactional_id", [None, "id"], ids=["idempotent", "transactional"])
@pytest.mark.parametrize("make", [LibrdkafkaProducer, KafkaPythonProducer, AiokafkaProducer])
@pytest.mark.parametrize("resets", [False, True], ids=["restore", "reset"])
def test_producer_writes_on(cluster: Cluster, make: type[Producer], resets: bool, transactional_id: str | None) -> None:
    with closing(make(cluster.bootstrap_servers, transactional_id)) as producer:
        producer.send("idempotent", b"a")
        snapshot = cluster.snapshot()
        for count in (3, 1, 5):
            for _ in range(count):
                producer.send("idempotent", b"b")
            cluster.reset() if resets else cluster.restore(snapshot)
        producer.send("idempotent", b"c")
        values = [record.value for record in cluster.records("idempotent") if record.value is not None]
        assert values == ([b"c"] if resets else [b"a", b"c"])


# Java


class Java:
    """The clients of StayingClient.java, by name."""

    def __init__(self) -> None:
        self._child = Child(apache_kafka.command(str(JAVA_SOURCE)))
        self._made = 0

    def call(self, name: str, *arguments: Any) -> Any:
        return self._child.call(0, name, *arguments)

    def start(self, kind: str, settings: dict[str, Any], *topic: str) -> str:
        self._made += 1
        self.call(kind, name := f"{kind} {self._made}", settings, *topic)
        return name

    def reader(self, name: str) -> Callable[[], list[bytes]]:
        def poll() -> list[bytes]:
            value = self.call("next", name, 200)
            assert value is None or not value.startswith("ended by"), value
            return [] if value is None else [value.encode()]

        return poll

    def close(self) -> None:
        self._child.close()


@pytest.fixture(scope="module")
def java() -> Iterator[Java]:
    if missing := apache_kafka.missing():
        pytest.skip(f"{missing} is not installed")
    with closing(Java()) as made:
        yield made


READERS: dict[str, tuple[str, dict[str, Any]]] = {
    "classic": ("consumer", {"group.id": "c", "heartbeat.interval.ms": 500, **EARLIEST}),
    "consumer": ("consumer", {"group.id": "n", "group.protocol": "consumer", **EARLIEST}),
    "share": ("share", {"group.id": "s"}),
}


def read_from_the_start(cluster: Cluster) -> None:
    """Sets the start of the share group, which is part of the state."""
    start = ConfigEntry("share.auto.offset.reset", "earliest", incremental_operation=AlterConfigOpType.SET)
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    resource = ConfigResource(GROUP, "s", incremental_configs=[start])
    (changed,) = admin.incremental_alter_configs([resource]).values()
    changed.result(TIMEOUT_S)


@pytest.mark.slow
@pytest.mark.parametrize("resets", [False, True], ids=["restore", "reset"])
def test_java_consumers_go_on(cluster: Cluster, java: Java, resets: bool) -> None:
    """None of them ends. Members of a group that a reset has removed may read again what they read before they joined again."""
    servers = {"bootstrap.servers": cluster.bootstrap_servers}
    read_from_the_start(cluster)
    polls = {kind: java.reader(java.start(name, servers | settings, TOPIC)) for kind, (name, settings) in READERS.items()}
    first = fill(cluster, "first", 10)
    for poll in polls.values():
        read(poll, first)
    snapshot = cluster.snapshot()
    for count in (4, 10, 16):
        new = fill(cluster, f"new {count}", count)
        for kind, poll in polls.items():
            values = read(poll, new)
            # A share group delivers again what was not acknowledged at the time of the snapshot.
            assert resets or kind == "share" or sorted(values) == sorted(new), kind
        cluster.reset() if resets else cluster.restore(snapshot)
        read_from_the_start(cluster)


@pytest.mark.slow
@pytest.mark.parametrize("resets", [False, True], ids=["restore", "reset"])
def test_java_producers_write_on(cluster: Cluster, java: Java, resets: bool) -> None:
    servers = {"bootstrap.servers": cluster.bootstrap_servers, "linger.ms": 0}
    producers = {
        "idempotent": (java.start("producer", servers), "send"),
        "transactional": (java.start("producer", servers | {"transactional.id": "id"}), "transaction"),
    }
    for topic, (name, send) in producers.items():
        java.call(send, name, topic, "a")
    snapshot = cluster.snapshot()
    for _ in range(3):
        for topic, (name, send) in producers.items():
            for value in ("b", "c", "d"):
                java.call(send, name, topic, value)
            values = [record.value for record in cluster.records(topic) if record.value is not None]
            assert values in ([b"a", b"b", b"c", b"d"], [b"b", b"c", b"d"])
        cluster.reset() if resets else cluster.restore(snapshot)
