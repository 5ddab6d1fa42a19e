"""The actions of Python clients on a secured listener: they write and read a record, and write a transaction that outlives sessions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import aiokafka
import kafka
from confluent_kafka import Consumer, KafkaError, Producer

from tests.clients.secured import PATIENCE_S, SESSION_MS

SESSIONS = 1.5
"""The number of sessions that a transaction lasts."""


def until_sessions_have_ended() -> Iterator[int]:
    """Yields numbers for as long as SESSIONS sessions last."""
    end_s = time.monotonic() + SESSIONS * SESSION_MS / 1000
    for number in count():
        if time.monotonic() > end_s:
            return
        yield number


# librdkafka


def librdkafka(config: dict[str, Any], value: bytes) -> bytes:
    """Writes a record and returns what a new consumer reads."""
    producer = Producer(config)
    producer.produce("t", value, partition=0)
    assert producer.flush(PATIENCE_S) == 0
    consumer = Consumer({**config, "group.id": value.decode(), "auto.offset.reset": "earliest"})
    try:
        consumer.subscribe(["t"])
        while True:
            message = consumer.poll(PATIENCE_S)
            assert message is not None and message.error() is None
            if message.value() == value:
                return value
    finally:
        consumer.close()


def librdkafka_transaction(config: dict[str, Any]) -> bool:
    """Returns whether all records of the transaction were delivered."""
    producer = Producer(config | {"transactional.id": "librdkafka"})
    producer.init_transactions(PATIENCE_S)
    producer.begin_transaction()
    delivered: list[KafkaError | None] = []
    for _ in until_sessions_have_ended():
        producer.produce("t", b"v", on_delivery=lambda error, message: delivered.append(error))
        producer.flush(PATIENCE_S)
    producer.commit_transaction(PATIENCE_S)
    return set(delivered) == {None}


# kafka-python


def kafka_python(config: dict[str, Any], value: bytes) -> bytes:
    producer = kafka.KafkaProducer(**config)
    producer.send("t", value, partition=0).get(PATIENCE_S)
    producer.close()
    options = {"group_id": value.decode(), "auto_offset_reset": "earliest", "consumer_timeout_ms": PATIENCE_S * 1000}
    consumer = kafka.KafkaConsumer("t", **config, **options)
    try:
        return next(bytes(record.value) for record in consumer if record.value == value)
    finally:
        consumer.close()


def kafka_python_transaction(config: dict[str, Any]) -> bool:
    producer = kafka.KafkaProducer(**config, transactional_id="kafka-python")
    producer.init_transactions()
    producer.begin_transaction()
    for _ in until_sessions_have_ended():
        producer.send("t", b"v").get(PATIENCE_S)
    producer.commit_transaction()
    producer.close()
    return True


# aiokafka


def aiokafka_client(config: dict[str, Any], value: bytes) -> bytes:
    async def exchange() -> bytes:
        async with aiokafka.AIOKafkaProducer(**config) as producer:
            await producer.send_and_wait("t", value, partition=0)
        async with aiokafka.AIOKafkaConsumer("t", **config, group_id=value.decode(), auto_offset_reset="earliest") as consumer:
            async for record in consumer:
                if record.value == value:
                    return bytes(record.value)
        raise AssertionError("the consumer has ended")

    return asyncio.run(asyncio.wait_for(exchange(), PATIENCE_S))


def aiokafka_transaction(config: dict[str, Any]) -> bool:
    async def transaction() -> None:
        async with aiokafka.AIOKafkaProducer(**config, transactional_id="aiokafka") as producer, producer.transaction():
            for _ in until_sessions_have_ended():
                await producer.send_and_wait("t", b"v")

    asyncio.run(asyncio.wait_for(transaction(), PATIENCE_S))
    return True


Exchange = Callable[[dict[str, Any], bytes], bytes]
EXCHANGES: dict[str, Exchange] = {"librdkafka": librdkafka, "kafka-python": kafka_python, "aiokafka": aiokafka_client}
TRANSACTIONS = {"librdkafka": librdkafka_transaction, "kafka-python": kafka_python_transaction, "aiokafka": aiokafka_transaction}
