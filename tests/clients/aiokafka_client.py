"""aiokafka, on an event loop in a separate thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine
from concurrent.futures import Future
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from tests.clients.client import HEARTBEAT_INTERVAL_MS, METADATA_MAX_AGE_MS, PATIENCE_S, REQUEST_TIMEOUT_MS, FaithfulClient, Record

T = TypeVar("T")


class Loop:
    """Runs coroutines on an event loop in a separate thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="aiokafka")
        self._thread.start()

    def begin(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self.begin(coroutine).result(PATIENCE_S)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class AioKafka(FaithfulClient):
    def __init__(self) -> None:
        self._loop = Loop()

    def nodes(self, bootstrap_servers: str) -> dict[int, str]:
        async def describe() -> dict[int, str]:
            async with _admin(bootstrap_servers) as admin:
                brokers = (await admin.describe_cluster())["brokers"]
            return {broker["node_id"]: f"{broker['host']}:{broker['port']}" for broker in brokers}

        return self._loop.run(describe())

    def create_topic(self, bootstrap_servers: str, topic: str) -> None:
        async def create() -> None:
            async with _admin(bootstrap_servers) as admin:
                await admin.create_topics([NewTopic(topic, num_partitions=2, replication_factor=2)])

        self._loop.run(create())

    def producer(
        self, bootstrap_servers: str, topic: str, codec: str, idempotent: bool, request_timeout_ms: int = REQUEST_TIMEOUT_MS
    ) -> AioProducer:
        return AioProducer(self._loop, bootstrap_servers, topic, codec, idempotent, request_timeout_ms)

    def member(self, bootstrap_servers: str, topic: str, group: str) -> AioMember:
        return AioMember(self._loop, bootstrap_servers, topic, group)

    def close(self) -> None:
        self._loop.close()


class AioProducer:
    def __init__(self, loop: Loop, bootstrap_servers: str, topic: str, codec: str, idempotent: bool, request_timeout_ms: int) -> None:
        self._loop, self._topic = loop, topic
        self._sending: list[Future[None]] = []
        self._producer = loop.run(self._start(bootstrap_servers, codec, idempotent, request_timeout_ms))

    async def _start(self, bootstrap_servers: str, codec: str, idempotent: bool, request_timeout_ms: int) -> AIOKafkaProducer:
        producer = AIOKafkaProducer(
            bootstrap_servers=bootstrap_servers,
            acks="all",
            compression_type=None if codec == "none" else codec,
            enable_idempotence=idempotent,
            request_timeout_ms=request_timeout_ms,
            linger_ms=5,
            metadata_max_age_ms=METADATA_MAX_AGE_MS,
        )
        await producer.start()
        return producer

    def send(self, records: list[Record]) -> None:
        self._sending.append(self._loop.begin(self._send(records)))

    async def _send(self, records: list[Record]) -> None:
        sent = [
            await self._producer.send(
                self._topic,
                **record.keywords,
            )
            for record in records
        ]
        await asyncio.gather(*sent)

    def flush(self) -> None:
        for sending in self._sending:
            sending.result(PATIENCE_S)
        self._sending = []

    def close(self) -> None:
        self._loop.run(self._producer.stop())


class AioMember:
    def __init__(self, loop: Loop, bootstrap_servers: str, topic: str, group: str) -> None:
        self._loop = loop
        self._consumer = loop.run(self._start(bootstrap_servers, topic, group))

    async def _start(self, bootstrap_servers: str, topic: str, group: str) -> AIOKafkaConsumer:
        consumer = AIOKafkaConsumer(
            topic,
            bootstrap_servers=bootstrap_servers,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            heartbeat_interval_ms=HEARTBEAT_INTERVAL_MS,
            metadata_max_age_ms=METADATA_MAX_AGE_MS,
        )
        await consumer.start()
        return consumer

    def poll(self, timeout_s: float) -> list[Record]:
        got = self._loop.run(self._consumer.getmany(timeout_ms=int(timeout_s * 1000)))
        return [
            Record(record.partition, record.key, record.value, tuple(record.headers), record.timestamp)
            for records in got.values()
            for record in records
        ]

    def assignment(self) -> list[int]:
        return sorted(partition.partition for partition in self._consumer.assignment())

    def commit(self) -> None:
        self._loop.run(self._consumer.commit())

    def close(self) -> None:
        self._loop.run(self._consumer.stop())


@asynccontextmanager
async def _admin(bootstrap_servers: str) -> AsyncIterator[AIOKafkaAdminClient]:
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap_servers)
    await admin.start()
    try:
        yield admin
    finally:
        await admin.close()
