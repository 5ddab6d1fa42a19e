"""The clients that stay connected while a cluster is reset and restored: writers that are called, and readers that poll in threads."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

import confluent_kafka
import kafka
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener

from tests.clients.rebalance_listener import listener_of

TOPIC, PARTITIONS = "orders", 3
PATIENCE_S = 60.0
POLL_S = 0.1
METADATA_MAX_AGE_MS = 1000
CONSUMER_OPTIONS: dict[str, Any] = {
    "auto_offset_reset": "earliest",
    "auto_commit_interval_ms": 200,
    "metadata_max_age_ms": METADATA_MAX_AGE_MS,
    "heartbeat_interval_ms": 500,
}
"""Options of the consumers of kafka-python and aiokafka."""
COMMON: dict[str, Any] = {"topic.metadata.refresh.interval.ms": METADATA_MAX_AGE_MS, "log_level": 0, "error_cb": lambda error: None}


class Sent(NamedTuple):
    """An acknowledged record."""

    value: str
    partition: int
    offset: int


class Writer(Protocol):
    """A producer that lives as long as the run."""

    name: str

    def write(self, values: Sequence[str]) -> list[Sent]:
        """Writes records and returns those that were acknowledged and may be read. An error of the client is raised."""

    def close(self) -> None: ...


class ConfluentWriter:
    """confluent-kafka's producer."""

    def __init__(self, name: str, bootstrap_servers: str, **settings: Any) -> None:
        self.name, self._sent = name, list[Sent]()
        self._errors: list[Any] = []
        self.producer = confluent_kafka.Producer({"bootstrap.servers": bootstrap_servers, "linger.ms": 5} | COMMON | settings)

    def write(self, values: Sequence[str]) -> list[Sent]:
        self._sent, self._errors = [], []
        for number, value in enumerate(values):
            self.producer.produce(TOPIC, value, partition=number % PARTITIONS, on_delivery=self._on_delivery)
        left = self.producer.flush(PATIENCE_S)
        assert not left, f"{left} records are not acknowledged after {PATIENCE_S:g} s"
        assert not self._errors, f"{len(self._errors)} records failed, the first one with {self._errors[0]}"
        return self._sent

    def _on_delivery(self, error: Any, message: Any) -> None:
        if error is None:
            self._sent.append(Sent(message.value().decode(), message.partition(), message.offset()))
        else:
            self._errors.append(error)

    def close(self) -> None:
        self.producer.close()


class TransactionalWriter:
    """confluent-kafka's transactional producer, which commits one transaction a call.

    A reset removes its transactional id, so a transaction may fail. As applications do, the writer aborts it and tries again, with a new
    producer if the error is fatal. `restarts` counts those.
    """

    def __init__(self, name: str, bootstrap_servers: str) -> None:
        self.name, self._servers = name, bootstrap_servers
        self.restarts = 0
        self._writer = self._start()

    def _start(self) -> ConfluentWriter:
        writer = ConfluentWriter(self.name, self._servers, **{"transactional.id": self.name})
        writer.producer.init_transactions(PATIENCE_S)
        return writer

    def write(self, values: Sequence[str]) -> list[Sent]:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                return self._commit(values)
            except (confluent_kafka.KafkaException, AssertionError) as error:
                if time.monotonic() > deadline:
                    raise
                self._recover(error)

    def _commit(self, values: Sequence[str]) -> list[Sent]:
        self._writer.producer.begin_transaction()
        sent = self._writer.write(values)
        self._writer.producer.commit_transaction(PATIENCE_S)
        return sent

    def _recover(self, error: Exception) -> None:
        try:
            self._writer.producer.abort_transaction(PATIENCE_S)
        except confluent_kafka.KafkaException as failure:
            if not failure.args[0].retriable():
                self._writer.close()
                self.restarts += 1
                self._writer = self._start()

    def close(self) -> None:
        self._writer.close()


class KafkaPythonWriter:
    """kafka-python's idempotent producer."""

    def __init__(self, name: str, bootstrap_servers: str) -> None:
        self.name = name
        self._producer = kafka.KafkaProducer(
            bootstrap_servers=bootstrap_servers.split(","), enable_idempotence=True, acks="all", metadata_max_age_ms=METADATA_MAX_AGE_MS
        )

    def write(self, values: Sequence[str]) -> list[Sent]:
        futures = [self._producer.send(TOPIC, value.encode(), partition=number % PARTITIONS) for number, value in enumerate(values)]
        placed = [future.get(PATIENCE_S) for future in futures]
        return [Sent(value, each.partition, each.offset) for value, each in zip(values, placed, strict=True)]

    def close(self) -> None:
        self._producer.close(PATIENCE_S)


class AioKafkaWriter:
    """aiokafka's idempotent producer, on an event loop in a thread of its own."""

    def __init__(self, name: str, bootstrap_servers: str) -> None:
        self.name = name
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()
        self._producer = self._run(self._start(bootstrap_servers))

    async def _start(self, bootstrap_servers: str) -> AIOKafkaProducer:
        producer = AIOKafkaProducer(
            bootstrap_servers=bootstrap_servers, enable_idempotence=True, acks="all", metadata_max_age_ms=METADATA_MAX_AGE_MS
        )
        await producer.start()
        return producer

    def write(self, values: Sequence[str]) -> list[Sent]:
        return list(self._run(self._write(values)))

    async def _write(self, values: Sequence[str]) -> list[Sent]:
        writing = [self._producer.send_and_wait(TOPIC, value.encode(), partition=n % PARTITIONS) for n, value in enumerate(values)]
        placed = await asyncio.gather(*writing)
        return [Sent(value, each.partition, each.offset) for value, each in zip(values, placed, strict=True)]

    def _run(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(PATIENCE_S)

    def close(self) -> None:
        self._run(self._producer.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE_S)
        self._loop.close()


class Reader(threading.Thread):
    """A consumer that lives as long as the run.

    `rows` contains the values that it read with their positions; None stands for a new assignment, after which a consumer continues at the
    committed offsets and may therefore read records again. `error` is the exception that ended the thread.
    """

    def __init__(self, name: str, group: str, bootstrap_servers: str) -> None:
        super().__init__(name=name, daemon=True)
        self.group, self.servers = group, bootstrap_servers
        self.rows: list[Sent | None] = []
        self.assigned = 0
        self.error: BaseException | None = None
        self.ended = threading.Event()

    def run(self) -> None:
        try:
            self.poll()
        except BaseException as error:  # reported by the run
            self.error = error

    def poll(self) -> None:
        raise NotImplementedError

    def take(self, value: Any, partition: Any, offset: Any) -> None:
        self.rows.append(Sent(value.decode(), partition, offset))

    def on_assignment(self) -> None:
        self.assigned += 1
        self.rows.append(None)


class ConfluentReader(Reader):
    """confluent-kafka's consumer in a group, or of all partitions if `settings` has no protocol of groups."""

    def __init__(self, name: str, group: str, bootstrap_servers: str, **settings: Any) -> None:
        super().__init__(name, group, bootstrap_servers)
        self._settings = settings

    def poll(self) -> None:
        fixed = {"bootstrap.servers": self.servers, "group.id": self.group, "auto.offset.reset": "earliest", "auto.commit.interval.ms": 200}
        consumer = confluent_kafka.Consumer(fixed | COMMON | self._settings)
        if "group.protocol" in self._settings:
            changed: Callable[..., None] = lambda *_: self.on_assignment()  # noqa: E731
            consumer.subscribe([TOPIC], on_assign=changed, on_revoke=changed, on_lost=changed)
        else:
            consumer.assign([confluent_kafka.TopicPartition(TOPIC, index, 0) for index in range(PARTITIONS)])
            self.on_assignment()
        while not self.ended.is_set():
            for message in consumer.consume(100, POLL_S):
                if message.error() is None:
                    self.take(message.value(), message.partition(), message.offset())
        consumer.close()


class ShareReader(Reader):
    """confluent-kafka's consumer of a share group. Records of a lost share session are delivered again, so it may read them twice."""

    def poll(self) -> None:
        consumer = confluent_kafka.ShareConsumer({"bootstrap.servers": self.servers, "group.id": self.group} | COMMON)
        consumer.subscribe([TOPIC])
        self.on_assignment()
        while not self.ended.is_set():
            with suppress(confluent_kafka.KafkaException):  # reported, and repeated by the client, while it is not connected
                for message in consumer.poll(POLL_S):
                    if message.error() is None:
                        self.rows.append(None)
                        self.take(message.value(), message.partition(), message.offset())
        consumer.close()


class KafkaPythonReader(Reader):
    """kafka-python's consumer in a group."""

    def poll(self) -> None:
        consumer = kafka.KafkaConsumer(
            bootstrap_servers=self.servers.split(","),
            group_id=self.group,
            **CONSUMER_OPTIONS,
        )
        consumer.subscribe([TOPIC], listener=listener_of(kafka.ConsumerRebalanceListener, self.on_assignment))
        while not self.ended.is_set():
            for rows in consumer.poll(int(POLL_S * 1000)).values():
                for row in rows:
                    self.take(row.value, row.partition, row.offset)
        consumer.close()


class AioKafkaReader(Reader):
    """aiokafka's consumer in a group."""

    def poll(self) -> None:
        asyncio.run(self._poll())

    async def _poll(self) -> None:
        consumer = AIOKafkaConsumer(
            bootstrap_servers=self.servers,
            group_id=self.group,
            **CONSUMER_OPTIONS,
        )
        consumer.subscribe([TOPIC], listener=listener_of(ConsumerRebalanceListener, self.on_assignment))
        await consumer.start()
        while not self.ended.is_set():
            for rows in (await consumer.getmany(timeout_ms=int(POLL_S * 1000))).values():
                for row in rows:
                    self.take(row.value, row.partition, row.offset)
        await asyncio.wait_for(consumer.stop(), PATIENCE_S)


def writers(bootstrap_servers: str) -> list[Writer]:
    """Returns a producer of each kind."""
    return [
        ConfluentWriter("confluent", bootstrap_servers, acks="all"),
        ConfluentWriter("confluent-idempotent", bootstrap_servers, **{"enable.idempotence": True}),
        TransactionalWriter("confluent-transactional", bootstrap_servers),
        KafkaPythonWriter("kafka-python-idempotent", bootstrap_servers),
        AioKafkaWriter("aiokafka-idempotent", bootstrap_servers),
    ]


def readers(bootstrap_servers: str) -> list[Reader]:
    """Returns consumers of each kind: two members of two groups, one of the others, and one consumer of all partitions."""
    classic = {"group.protocol": "classic", "session.timeout.ms": 10_000, "heartbeat.interval.ms": 500}
    return [
        *(ConfluentReader(f"classic-{number}", "classic", bootstrap_servers, **classic) for number in (1, 2)),
        *(ConfluentReader(f"consumer-{number}", "consumer", bootstrap_servers, **{"group.protocol": "consumer"}) for number in (1, 2)),
        ConfluentReader("assigned", "assigned", bootstrap_servers, **{"enable.auto.commit": False}),
        ShareReader("share", "share", bootstrap_servers),
        KafkaPythonReader("kafka-python", "kafka-python", bootstrap_servers),
        AioKafkaReader("aiokafka", "aiokafka", bootstrap_servers),
    ]
