"""A scenario with transactional producers, and the three Python clients that run it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any, Protocol, TypeVar

import confluent_kafka
import kafka
import kafka.errors
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.errors import ProducerFenced
from aiokafka.structs import TopicPartition

T = TypeVar("T")
PATIENCE_S = 120.0
LAST = b"last"


class Fenced(Exception):
    """Raised when another producer has taken over the transactional id."""


class Producer(Protocol):
    """A transactional producer; any method may raise Fenced."""

    def begin(self) -> None: ...

    def send(self, topic: str, value: bytes) -> None: ...

    def send_offset(self, topic: str, offset: int) -> None:
        """Commits an offset of partition 0 for the group of the client within the transaction."""

    def flush(self) -> None:
        """Waits until all records are written, so that aborted records exist."""

    def commit(self) -> None: ...

    def abort(self) -> None: ...


class Client(Protocol):
    """One client library with one group."""

    def producer(self, transactional_id: str) -> Producer:
        """Returns an initialized producer; an older producer with the same id is fenced."""

    def read(self, topic: str, group: str, *, committed: bool) -> list[bytes]:
        """Returns all values of partition 0 before LAST, without committing offsets."""

    def close(self) -> None: ...


def transform(client: Client, source: str, target: str, group: str) -> int:
    """Copies each value and its offset in a separate transaction, and returns the number of repeated transactions.

    Every third transaction is aborted and repeated. In the middle, the producer stops within a transaction and another takes over.
    """
    values = client.read(source, group, committed=True)
    producer, hung, numbers, repeated = client.producer(f"{target}-transform"), False, count(), 0
    for offset, value in enumerate(values):
        while True:
            producer.begin()
            producer.send(target, value)
            producer.send_offset(source, offset + 1)
            producer.flush()
            if offset == len(values) // 2 and not hung:
                hung, successor = True, client.producer(f"{target}-transform")
                assert_fenced(producer)
                producer = successor
            elif next(numbers) % 3 == 2:
                producer.abort()
            else:
                producer.commit()
                break
            repeated += 1
    producer.begin()
    producer.send(target, LAST)
    producer.commit()
    return repeated


def assert_fenced(producer: Producer) -> None:
    try:
        producer.commit()
    except Fenced:
        return
    raise AssertionError("the first producer was not fenced")


class Librdkafka:
    """confluent-kafka."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._settings: dict[str, Any] = {"bootstrap.servers": bootstrap_servers, "log_level": 0, "error_cb": lambda error: None}
        self._consumer: confluent_kafka.Consumer | None = None
        self._producers: list[LibrdkafkaProducer] = []

    def producer(self, transactional_id: str) -> LibrdkafkaProducer:
        producer = confluent_kafka.Producer({**self._settings, "transactional.id": transactional_id})
        producer.init_transactions(PATIENCE_S)
        self._producers.append(LibrdkafkaProducer(producer, self._consumer))
        return self._producers[-1]

    def read(self, topic: str, group: str, *, committed: bool) -> list[bytes]:
        level = "read_committed" if committed else "read_uncommitted"
        settings = {"group.id": group, "auto.offset.reset": "earliest", "enable.auto.commit": False, "isolation.level": level}
        self._close_consumer()
        self._consumer = confluent_kafka.Consumer({**self._settings, **settings})
        self._consumer.subscribe([topic])
        values: list[bytes] = []
        while LAST not in values:
            message = self._consumer.poll(PATIENCE_S)
            assert message is not None and not message.error(), message and message.error()
            values.append(message.value() or b"")
        return values[:-1]

    def _close_consumer(self) -> None:
        if self._consumer is not None:
            self._consumer.close()

    def close(self) -> None:
        self._close_consumer()


class LibrdkafkaProducer:
    def __init__(self, producer: confluent_kafka.Producer, consumer: confluent_kafka.Consumer | None) -> None:
        self._producer, self._consumer = producer, consumer

    def begin(self) -> None:
        self._producer.begin_transaction()

    def send(self, topic: str, value: bytes) -> None:
        self._producer.produce(topic, value, partition=0)

    def send_offset(self, topic: str, offset: int) -> None:
        assert self._consumer is not None
        offsets = [confluent_kafka.TopicPartition(topic, 0, offset)]
        self._producer.send_offsets_to_transaction(offsets, self._consumer.consumer_group_metadata(), PATIENCE_S)

    def flush(self) -> None:
        assert self._producer.flush(PATIENCE_S) == 0

    def commit(self) -> None:
        try:
            self._producer.commit_transaction(PATIENCE_S)
        except confluent_kafka.KafkaException as error:
            if error.args[0].code() == confluent_kafka.KafkaError._FENCED:
                raise Fenced from error
            raise

    def abort(self) -> None:
        self._producer.abort_transaction(PATIENCE_S)


class KafkaPython:
    """kafka-python."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._bootstrap_servers = bootstrap_servers
        self._consumer: kafka.KafkaConsumer | None = None
        self._producers: list[KafkaPythonProducer] = []

    def producer(self, transactional_id: str) -> KafkaPythonProducer:
        producer = kafka.KafkaProducer(bootstrap_servers=self._bootstrap_servers, transactional_id=transactional_id)
        producer.init_transactions()
        self._producers.append(KafkaPythonProducer(producer, self._consumer))
        return self._producers[-1]

    def read(self, topic: str, group: str, *, committed: bool) -> list[bytes]:
        self._close_consumer()
        self._consumer = kafka.KafkaConsumer(
            topic,
            bootstrap_servers=self._bootstrap_servers,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            isolation_level="read_committed" if committed else "read_uncommitted",
            consumer_timeout_ms=int(PATIENCE_S * 1000),
        )
        values: list[bytes] = []
        for message in self._consumer:
            if message.value == LAST:
                return values
            values.append(message.value)
        raise AssertionError(f"LAST was not received after {len(values)} values")

    def _close_consumer(self) -> None:
        if self._consumer is not None:
            self._consumer.close()

    def close(self) -> None:
        self._close_consumer()
        for each in self._producers:
            each.producer.close(1)


@contextmanager
def fenced(*errors: type[Exception]) -> Iterator[None]:
    """Converts errors of a client to Fenced."""
    try:
        yield
    except errors as error:
        raise Fenced from error


class KafkaPythonProducer:
    def __init__(self, producer: kafka.KafkaProducer, consumer: kafka.KafkaConsumer | None) -> None:
        self.producer, self._consumer = producer, consumer

    def begin(self) -> None:
        self.producer.begin_transaction()

    def send(self, topic: str, value: bytes) -> None:
        self.producer.send(topic, value, partition=0)

    def send_offset(self, topic: str, offset: int) -> None:
        assert self._consumer is not None
        offsets = {kafka.TopicPartition(topic, 0): kafka.OffsetAndMetadata(offset, "", -1)}
        self.producer.send_offsets_to_transaction(offsets, self._consumer.group_metadata())

    def flush(self) -> None:
        self.producer.flush(PATIENCE_S)

    def commit(self) -> None:
        with fenced(kafka.errors.ProducerFencedError, kafka.errors.InvalidProducerEpochError):
            self.producer.commit_transaction()

    def abort(self) -> None:
        self.producer.abort_transaction()


class AioKafka:
    """aiokafka, on an event loop that runs only during calls."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._bootstrap_servers, self._group = bootstrap_servers, ""
        self._loop = asyncio.new_event_loop()
        self._producers: list[AioKafkaProducer] = []
        self._consumer: AIOKafkaConsumer | None = None

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(asyncio.wait_for(coroutine, PATIENCE_S))

    def producer(self, transactional_id: str) -> AioKafkaProducer:
        async def start() -> AIOKafkaProducer:
            producer = AIOKafkaProducer(bootstrap_servers=self._bootstrap_servers, transactional_id=transactional_id)
            await producer.start()
            return producer

        self._producers.append(AioKafkaProducer(self, self.run(start()), self._group))
        return self._producers[-1]

    def read(self, topic: str, group: str, *, committed: bool) -> list[bytes]:
        async def read() -> list[bytes]:
            await self._stop_consumer()
            self._consumer = AIOKafkaConsumer(
                topic,
                bootstrap_servers=self._bootstrap_servers,
                group_id=group,
                auto_offset_reset="earliest",
                enable_auto_commit=False,
                isolation_level="read_committed" if committed else "read_uncommitted",
            )
            await self._consumer.start()
            values: list[bytes] = []
            async for message in self._consumer:
                if message.value == LAST:
                    break
                values.append(message.value)
            return values

        self._group = group
        return self.run(read())

    async def _stop_consumer(self) -> None:
        if self._consumer is not None:
            await self._consumer.stop()

    def close(self) -> None:
        self.run(self._stop_consumer())
        for each in self._producers:
            self.run(each.producer.stop())
        self._loop.close()


class AioKafkaProducer:
    def __init__(self, client: AioKafka, producer: AIOKafkaProducer, group: str) -> None:
        self._client, self.producer, self._group = client, producer, group

    def begin(self) -> None:
        self._client.run(self.producer.begin_transaction())

    def send(self, topic: str, value: bytes) -> None:
        self._client.run(self.producer.send(topic, value, partition=0))

    def send_offset(self, topic: str, offset: int) -> None:
        self._client.run(self.producer.send_offsets_to_transaction({TopicPartition(topic, 0): offset}, self._group))

    def flush(self) -> None:
        self._client.run(self.producer.flush())

    def commit(self) -> None:
        with fenced(ProducerFenced):
            self._client.run(self.producer.commit_transaction())

    def abort(self) -> None:
        self._client.run(self.producer.abort_transaction())
