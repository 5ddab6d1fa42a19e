"""A worker turns orders into invoices. It freezes, and another worker takes over.

The first worker has already written an invoice. Without transactions, the other one
would write it again. The test proves that readers of committed records find it
once, and that the first worker cannot complete its transaction when it goes on.
"""

import asyncio
from contextlib import asynccontextmanager

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import ProducerFenced


@asynccontextmanager
async def next_invoice(client_id, servers, orders, invoices):
    """Yields a producer that has invoiced the next order, but not committed."""
    client = {"bootstrap_servers": servers, "client_id": client_id}
    group = {"group_id": orders, "auto_offset_reset": "earliest"}
    worker = AIOKafkaProducer(transactional_id=orders, **client)
    reader = AIOKafkaConsumer(orders, **client, **group, enable_auto_commit=False)
    async with worker as producer, reader as consumer:
        order = await asyncio.wait_for(consumer.getone(), timeout=10)
        done = {TopicPartition(orders, order.partition): order.offset + 1}
        await producer.begin_transaction()
        await producer.send_and_wait(invoices, b"invoice of " + order.value)
        await producer.send_offsets_to_transaction(done, orders)
        yield producer


def test_invoice_of_a_frozen_worker_is_written_once(
    kafka_cluster, kafka_topic, kafka_faults, kafka_clock
):
    async def two_workers(*place):
        async with next_invoice("first", *place) as first:
            with kafka_faults.add(client_id="first", hang=True):
                kafka_clock.advance("10s")  # session_timeout_ms
                async with next_invoice("second", *place) as second:
                    await second.commit_transaction()
            with pytest.raises(ProducerFenced):
                await first.commit_transaction()

    invoices = f"{kafka_topic}-invoices"
    kafka_cluster.produce(kafka_topic, ["order 1"])
    asyncio.run(two_workers(kafka_cluster.bootstrap_servers, kafka_topic, invoices))
    written = [record.transaction for record in kafka_cluster.records(invoices)]
    assert written == ["aborted", "committed"]
