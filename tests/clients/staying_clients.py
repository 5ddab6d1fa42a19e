"""Clients in this process that stay connected while the state of their cluster is restored."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Coroutine
from typing import Any, Protocol

import aiokafka
import confluent_kafka
import kafka

TIMEOUT_S = 30
POLL_S = 0.1
STARTS = 4
START_MS = 5000
READING = {"auto_offset_reset": "earliest", "heartbeat_interval_ms": 200, "enable_auto_commit": False}


class Consumer(Protocol):
    """Reads all partitions of a topic: as a member of a group, or without one by `assign`."""

    def __init__(self, servers: str, topic: str, partitions: int, group: str | None) -> None: ...

    def poll(self) -> list[bytes]: ...

    def close(self) -> None: ...


class Producer(Protocol):
    """Writes single values; with a transactional id each in a transaction of its own, otherwise as an idempotent producer."""

    def __init__(self, servers: str, transactional_id: str | None) -> None: ...

    def send(self, topic: str, value: bytes) -> None: ...

    def close(self) -> None: ...


class LibrdkafkaConsumer:
    def __init__(self, servers: str, topic: str, partitions: int, group: str | None) -> None:
        settings = {"bootstrap.servers": servers, "group.id": group or "none", "auto.offset.reset": "earliest"}
        self._consumer = confluent_kafka.Consumer(settings | {"heartbeat.interval.ms": 200, "enable.auto.commit": False})
        if group is None:
            self._consumer.assign([confluent_kafka.TopicPartition(topic, index, 0) for index in range(partitions)])
        else:
            self._consumer.subscribe([topic])

    def poll(self) -> list[bytes]:
        return [message.value() or b"" for message in self._consumer.consume(100, POLL_S) if message.error() is None]

    def close(self) -> None:
        self._consumer.close()


class KafkaPythonConsumer:
    """A consumer that has its positions.

    A leader that joins before it has metadata assigns nothing and joins again. After that second join, about one of ten consumers of
    kafka-python 3.0.12 on a busy machine sends neither a heartbeat nor a fetch again, whatever the broker does; it is replaced.
    """

    def __init__(self, servers: str, topic: str, partitions: int, group: str | None) -> None:
        wanted = [kafka.TopicPartition(topic, index) for index in range(partitions)]
        for _ in range(STARTS):
            self._consumer = kafka.KafkaConsumer(bootstrap_servers=servers, group_id=group, **READING)
            if group is None:
                self._consumer.assign(wanted)
            else:
                self._consumer.subscribe([topic])
            if self._has_positions(wanted):
                return
            self._consumer.close()
        raise AssertionError(f"none of {STARTS} consumers had positions within {START_MS} ms")

    def _has_positions(self, wanted: list[kafka.TopicPartition]) -> bool:
        deadline = time.monotonic() + START_MS / 1000
        while not self._consumer.assignment():
            if time.monotonic() > deadline:
                return False
            assert not self._consumer.poll(int(POLL_S * 1000)), "the topic is empty"
        return all(self._consumer.position(each, timeout_ms=START_MS) is not None for each in wanted)

    def poll(self) -> list[bytes]:
        return [record.value for records in self._consumer.poll(int(POLL_S * 1000)).values() for record in records]

    def close(self) -> None:
        self._consumer.close()


class _Loop:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(TIMEOUT_S)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class AiokafkaConsumer:
    def __init__(self, servers: str, topic: str, partitions: int, group: str | None) -> None:
        self._loop = _Loop()
        self._consumer = self._loop.run(self._start(servers, topic, group))

    async def _start(self, servers: str, topic: str, group: str | None) -> aiokafka.AIOKafkaConsumer:
        consumer = aiokafka.AIOKafkaConsumer(topic, bootstrap_servers=servers, group_id=group, **READING)
        await consumer.start()
        return consumer

    def poll(self) -> list[bytes]:
        found = self._loop.run(self._consumer.getmany(timeout_ms=int(POLL_S * 1000)))
        return [record.value for records in found.values() for record in records]

    def close(self) -> None:
        self._loop.run(self._consumer.stop())
        self._loop.close()


class LibrdkafkaProducer:
    def __init__(self, servers: str, transactional_id: str | None) -> None:
        settings: dict[str, Any] = {"bootstrap.servers": servers, "enable.idempotence": True, "linger.ms": 0}
        self._transactional = transactional_id is not None
        if transactional_id is not None:
            settings["transactional.id"] = transactional_id
        self._producer = confluent_kafka.Producer(settings)
        if self._transactional:
            self._producer.init_transactions(TIMEOUT_S)

    def send(self, topic: str, value: bytes) -> None:
        errors: list[Any] = []
        if self._transactional:
            self._producer.begin_transaction()
        self._producer.produce(topic, value, on_delivery=lambda error, message: errors.append(error))
        self._producer.flush(TIMEOUT_S)
        if self._transactional:
            self._producer.commit_transaction(TIMEOUT_S)
        assert errors == [None]

    def close(self) -> None:
        self._producer.flush(TIMEOUT_S)


class KafkaPythonProducer:
    def __init__(self, servers: str, transactional_id: str | None) -> None:
        self._transactional = transactional_id is not None
        transactional = {} if transactional_id is None else {"transactional_id": transactional_id}
        self._producer = kafka.KafkaProducer(bootstrap_servers=servers, enable_idempotence=True, **transactional)
        if self._transactional:
            self._producer.init_transactions()

    def send(self, topic: str, value: bytes) -> None:
        if self._transactional:
            self._producer.begin_transaction()
        self._producer.send(topic, value).get(TIMEOUT_S)
        if self._transactional:
            self._producer.commit_transaction()

    def close(self) -> None:
        self._producer.close()


class AiokafkaProducer:
    def __init__(self, servers: str, transactional_id: str | None) -> None:
        self._transactional, self._loop = transactional_id is not None, _Loop()
        self._producer = self._loop.run(self._start(servers, transactional_id))

    async def _start(self, servers: str, transactional_id: str | None) -> aiokafka.AIOKafkaProducer:
        producer = aiokafka.AIOKafkaProducer(bootstrap_servers=servers, enable_idempotence=True, transactional_id=transactional_id)
        await producer.start()
        return producer

    async def _send(self, topic: str, value: bytes) -> None:
        if self._transactional:
            async with self._producer.transaction():
                await self._producer.send_and_wait(topic, value)
        else:
            await self._producer.send_and_wait(topic, value)

    def send(self, topic: str, value: bytes) -> None:
        self._loop.run(self._send(topic, value))

    def close(self) -> None:
        self._loop.run(self._producer.stop())
        self._loop.close()
