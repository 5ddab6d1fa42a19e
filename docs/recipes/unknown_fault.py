"""A shop must store each order once, whatever happens to its cluster.

Nobody knows all faults that can break it. Exploration therefore runs the test once
for each fault that can happen at a request of the shop: lost responses, crashes,
leaders that move. The test proves that this producer loses and repeats no order.
"""

import asyncio

import pytest
from aiokafka import AIOKafkaProducer

ORDERS = [b"order 1", b"order 2"]


async def sell(servers, topic):
    safe = {"acks": "all", "enable_idempotence": True}
    async with AIOKafkaProducer(bootstrap_servers=servers, **safe) as producer:
        for order in ORDERS:
            await producer.send_and_wait(topic, order)


@pytest.mark.kafka_explore(budget="30s")
def test_each_order_is_stored_once(kafka_cluster, kafka_topic):
    asyncio.run(sell(kafka_cluster.bootstrap_servers, kafka_topic))
    stored = [order.value for order in kafka_cluster.records(kafka_topic)]
    assert stored == ORDERS
