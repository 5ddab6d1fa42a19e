"""The clients of a soak: each load is a thread with its own client, which records acknowledgements or the records that it reads."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from random import Random
from typing import Any

import confluent_kafka
import kafka
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener

from tests.clients.rebalance_listener import listener_of

from .history import Label, Place, Reading, Writing

PARTITIONS = 3
PATIENCE_S = 120.0
BURST = 10
PAUSE_S = 0.2
DRAIN_S = 120.0
"""The time in which readers must read the remaining records after all writers have ended."""
CLOSE_S = 60.0
METADATA_MAX_AGE_MS = 1000
SESSION_TIMEOUT_MS, HEARTBEAT_INTERVAL_MS = 10_000, 500
CONSUMER_OPTIONS: dict[str, Any] = {
    "auto_offset_reset": "earliest",
    "auto_commit_interval_ms": 500,
    "metadata_max_age_ms": METADATA_MAX_AGE_MS,
    "session_timeout_ms": SESSION_TIMEOUT_MS,
    "heartbeat_interval_ms": HEARTBEAT_INTERVAL_MS,
}
"""Options of the consumers of kafka-python and aiokafka."""
ISOLATION = {True: "read_committed", False: "read_uncommitted"}


class Load(threading.Thread):
    """Works until `stop` is set. An exception is stored in `error` and counts as a violation."""

    def __init__(self, name: str, bootstrap_servers: str, stop: threading.Event) -> None:
        super().__init__(name=name, daemon=True)
        self.bootstrap_servers, self.stop = bootstrap_servers, stop
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.work()
        except BaseException as error:  # reported at the end
            self.error = error

    def work(self) -> None:
        raise NotImplementedError


class Writer(Load):
    """Sends bursts of records to one topic."""

    idempotent = True

    def __init__(self, name: str, bootstrap_servers: str, stop: threading.Event, topic: str, seed: int) -> None:
        super().__init__(name, bootstrap_servers, stop)
        self.topic, self.random = topic, Random(f"{seed} {name}")
        self.writing = Writing(name, self.idempotent)
        self._number = 0

    def burst(self) -> list[tuple[int, int, bytes]]:
        """Returns (number, partition, value) of new records."""
        first, self._number = self._number, self._number + BURST
        return [(number, self.random.randrange(PARTITIONS), Label(self.name, number).value()) for number in range(first, self._number)]

    def acknowledged(self, number: int, partition: int, offset: int) -> None:
        self.writing.acknowledged[number] = Place(self.topic, partition, offset)


class ConfluentWriter(Writer):
    """confluent-kafka's idempotent producer."""

    def settings(self) -> dict[str, Any]:
        return {"enable.idempotence": True, "linger.ms": 5}

    def work(self) -> None:
        common = {"bootstrap.servers": self.bootstrap_servers, "topic.metadata.refresh.interval.ms": METADATA_MAX_AGE_MS, "log_level": 0}
        producer = confluent_kafka.Producer(common | self.settings() | {"error_cb": lambda error: None})
        self.write_with(producer)
        assert producer.flush(PATIENCE_S) == 0, "some records were not acknowledged"

    def write_with(self, producer: confluent_kafka.Producer) -> None:
        while not self.stop.wait(PAUSE_S):
            self.produce(producer)
            producer.poll(0)

    def produce(self, producer: confluent_kafka.Producer) -> list[int]:
        """Sends one burst and returns the numbers of its records."""
        burst = self.burst()
        for number, partition, value in burst:
            producer.produce(self.topic, value, partition=partition, on_delivery=self._delivered(number))
        return [number for number, _, _ in burst]

    def _delivered(self, number: int) -> Callable[[Any, Any], None]:
        def delivered(error: Any, message: Any) -> None:
            if error is None:
                self.acknowledged(number, message.partition(), message.offset())

        return delivered


class PlainConfluentWriter(ConfluentWriter):
    """confluent-kafka's producer without idempotence: a record may be written twice."""

    idempotent = False

    def settings(self) -> dict[str, Any]:
        return {"acks": "all", "linger.ms": 5}


class TransactionalWriter(ConfluentWriter):
    """Sends bursts in transactions, of which one in four is aborted."""

    def settings(self) -> dict[str, Any]:
        return {"transactional.id": self.name, "transaction.timeout.ms": int(PATIENCE_S * 1000)}

    def write_with(self, producer: confluent_kafka.Producer) -> None:
        producer.init_transactions(PATIENCE_S)
        transaction = 0
        while not self.stop.wait(PAUSE_S):
            producer.begin_transaction()
            self.writing.committed[transaction] = None
            for number in self.produce(producer):
                self.writing.transaction_of[number] = transaction
            commit = self.random.random() < 0.75
            self._end(producer, commit)
            self.writing.committed[transaction] = commit
            transaction += 1

    def _end(self, producer: confluent_kafka.Producer, commit: bool) -> None:
        """Ends a transaction, and retries while the client reports a retriable error."""
        assert producer.flush(PATIENCE_S) == 0, "some records were not acknowledged"
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                return producer.commit_transaction(PATIENCE_S) if commit else producer.abort_transaction(PATIENCE_S)
            except confluent_kafka.KafkaException as error:
                if not error.args[0].retriable() or time.monotonic() > deadline:
                    raise


class KafkaPythonWriter(Writer):
    """kafka-python's idempotent producer."""

    def work(self) -> None:
        producer = kafka.KafkaProducer(
            bootstrap_servers=self.bootstrap_servers.split(","),
            enable_idempotence=self.idempotent,
            acks="all",
            metadata_max_age_ms=METADATA_MAX_AGE_MS,
        )
        futures = []
        while not self.stop.wait(PAUSE_S):
            for number, partition, value in self.burst():
                futures.append((number, producer.send(self.topic, value, partition=partition)))
            futures = [(number, future) for number, future in futures if not self._done(number, future)]
        producer.flush(PATIENCE_S)
        assert all(self._done(number, future) for number, future in futures), "some records were not acknowledged"
        producer.close(PATIENCE_S)

    def _done(self, number: int, future: Any) -> bool:
        if future.is_done:
            metadata = future.get(0)
            self.acknowledged(number, metadata.partition, metadata.offset)
        return bool(future.is_done)


class AioKafkaWriter(Writer):
    """aiokafka's idempotent producer."""

    def work(self) -> None:
        asyncio.run(self._work())

    async def _work(self) -> None:
        async with AIOKafkaProducer(
            bootstrap_servers=self.bootstrap_servers,
            enable_idempotence=self.idempotent,
            acks="all",
            metadata_max_age_ms=METADATA_MAX_AGE_MS,
        ) as producer:
            while not self.stop.is_set():
                await asyncio.gather(*(self._send(producer, *record) for record in self.burst()))
                await asyncio.to_thread(self.stop.wait, PAUSE_S)

    async def _send(self, producer: AIOKafkaProducer, number: int, partition: int, value: bytes) -> None:
        metadata = await producer.send_and_wait(self.topic, value, partition=partition)
        self.acknowledged(number, metadata.partition, metadata.offset)


_rows: dict[tuple[Place, Label], tuple[Place, Label]] = {}
"""All records that readers have read, so that a record that several of them have read is stored once."""


class Reader(Load):
    """Reads until `stop` is set."""

    def __init__(self, name: str, bootstrap_servers: str, stop: threading.Event, topics: list[str], group: str | None = None) -> None:
        super().__init__(name, bootstrap_servers, stop)
        self.topics, self.group = topics, group
        self.reading = Reading(name)

    def read(self, topic: str, partition: int, offset: int, value: bytes) -> None:
        row = (Place(topic, partition, offset), Label.of(value))
        self.reading.rows.append(_rows.setdefault(row, row))

    def partitions_reassigned(self) -> None:
        self.reading.rows.append(None)


class ConfluentReader(Reader):
    """confluent-kafka's consumer. It reads all partitions from the beginning, or the partitions that its group assigns."""

    def __init__(self, name: str, bootstrap_servers: str, stop: threading.Event, topics: list[str], **settings: Any) -> None:
        super().__init__(name, bootstrap_servers, stop, topics)
        self._settings = settings
        self.reading.only_committed = settings.get("isolation.level") == ISOLATION[True]

    def work(self) -> None:
        common: dict[str, Any] = {
            "bootstrap.servers": self.bootstrap_servers,
            "topic.metadata.refresh.interval.ms": METADATA_MAX_AGE_MS,
            "fetch.wait.max.ms": 100,
            "auto.offset.reset": "earliest" if "group.id" in self._settings else "error",
            "log_level": 0,
            "error_cb": lambda error: None,
            "isolation.level": ISOLATION[False],
            "group.id": self.name,
        }
        consumer = confluent_kafka.Consumer(common | self._settings)
        if "group.id" in self._settings:
            changed: Any = lambda *_: self.partitions_reassigned()  # noqa: E731
            consumer.subscribe(self.topics, on_assign=changed, on_revoke=changed, on_lost=changed)
        else:
            consumer.assign([confluent_kafka.TopicPartition(topic, index, 0) for topic in self.topics for index in range(PARTITIONS)])
        while not self.stop.is_set():
            for message in consumer.consume(100, 0.2):
                self._take(message)
        consumer.close()

    def _take(self, message: Any) -> None:
        if message.error():
            assert message.error().code() != confluent_kafka.KafkaError._AUTO_OFFSET_RESET, message.error()
        else:
            self.read(message.topic(), message.partition(), message.offset(), message.value())


class KafkaPythonReader(Reader):
    """kafka-python's consumer in a group."""

    def work(self) -> None:
        consumer = kafka.KafkaConsumer(
            bootstrap_servers=self.bootstrap_servers.split(","),
            group_id=self.group,
            **CONSUMER_OPTIONS,
        )
        consumer.subscribe(self.topics, listener=listener_of(kafka.ConsumerRebalanceListener, self.partitions_reassigned))
        while not self.stop.is_set():
            for rows in consumer.poll(200).values():
                for row in rows:
                    self.read(row.topic, row.partition, row.offset, row.value)
        consumer.close()


class AioKafkaReader(Reader):
    """aiokafka's consumer in a group."""

    def work(self) -> None:
        asyncio.run(self._work())

    async def _work(self) -> None:
        """Reads until `stop` is set.

        A consumer that does not close within CLOSE_S is cancelled, because it would disturb all later tests of the process: aiokafka 0.14
        sometimes waits for its own coordination task, while the broker answers its heartbeats. Its records are compared all the same.
        """
        reading = asyncio.ensure_future(self._read())
        await asyncio.to_thread(self.stop.wait)
        await asyncio.wait([reading], timeout=CLOSE_S)
        if reading.done():
            reading.result()
        else:
            reading.cancel()

    async def _read(self) -> None:
        consumer = AIOKafkaConsumer(
            bootstrap_servers=self.bootstrap_servers,
            group_id=self.group,
            **CONSUMER_OPTIONS,
        )
        consumer.subscribe(self.topics, listener=listener_of(ConsumerRebalanceListener, self.partitions_reassigned))
        async with consumer:
            while not self.stop.is_set():
                for rows in (await consumer.getmany(timeout_ms=200)).values():
                    for row in rows:
                        self.read(row.topic, row.partition, row.offset, row.value)
