"""A shop sends orders without idempotence. Its twin has it."""

import asyncio

from aiokafka import AIOKafkaProducer


async def sell(servers, topic, orders):
    async with AIOKafkaProducer(bootstrap_servers=servers, enable_idempotence=True) as producer:
        for order in orders:
            await producer.send_and_wait(topic, order)


def test_orders_are_stored_once(kafka_cluster, kafka_topic):
    asyncio.run(sell(kafka_cluster.bootstrap_servers, kafka_topic, [b"order 1", b"order 2"]))
    assert [record.value for record in kafka_cluster.records(kafka_topic)] == [b"order 1", b"order 2"]
