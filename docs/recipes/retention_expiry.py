"""A consumer returns after a week, when some of the orders that it has not read have expired.

Kafka does not report that: the consumer silently continues with the first order that is left. The test proves that this application finds
out how many orders it has lost, and that it goes on with the first remaining one.
"""

import asyncio

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition


async def expired_orders(consumer, partition):
    """Returns the number of orders that expired before the group had read them."""
    first_offsets = await consumer.beginning_offsets([partition])
    committed = await consumer.committed(partition) or 0
    return max(0, first_offsets[partition] - committed)


async def start_and_read(bootstrap_servers, topic):
    """Returns the number of expired orders, and the next order, which is committed."""
    settings = {"group_id": topic, "enable_auto_commit": False, "auto_offset_reset": "earliest"}
    async with AIOKafkaConsumer(bootstrap_servers=bootstrap_servers, **settings) as consumer:
        partition = TopicPartition(topic, 0)
        consumer.assign([partition])
        expired = await expired_orders(consumer, partition)
        order = await asyncio.wait_for(consumer.getone(), timeout=10)
        await consumer.commit()
        return expired, order.value


@pytest.mark.kafka(settings={"log.retention.hours": 7 * 24, "offsets.retention.minutes": 30 * 24 * 60})
def test_expired_orders_are_counted_a_week_later(kafka_cluster, kafka_topic, kafka_clock):
    kafka_cluster.produce(kafka_topic, ["order 1", "order 2", "order 3"])
    assert asyncio.run(start_and_read(kafka_cluster.bootstrap_servers, kafka_topic)) == (0, b"order 1")
    kafka_clock.advance(days=8)
    kafka_cluster.produce(kafka_topic, ["order 4"])
    assert asyncio.run(start_and_read(kafka_cluster.bootstrap_servers, kafka_topic)) == (2, b"order 4")
