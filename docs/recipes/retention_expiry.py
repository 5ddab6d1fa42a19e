"""A consumer returns after a week, when some unread orders have expired.

Kafka does not report that: the consumer silently continues with the first order
that is left. The test proves that this application finds out how many orders it has
lost, and that it goes on with the first remaining one.
"""

import asyncio

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition


async def start_and_read(servers, topic):
    """Returns the number of expired orders, and the next order; commits it."""
    group = {"group_id": topic, "auto_offset_reset": "earliest"}
    group["enable_auto_commit"] = False
    async with AIOKafkaConsumer(bootstrap_servers=servers, **group) as consumer:
        partition = TopicPartition(topic, 0)
        consumer.assign([partition])
        committed = await consumer.committed(partition) or 0
        order = await asyncio.wait_for(consumer.getone(), timeout=10)
        expired = order.offset - committed  # the group has not read them
        await consumer.commit()
        return expired, order.value


RETENTION = {
    "log.retention.hours": 7 * 24,
    "offsets.retention.minutes": 30 * 24 * 60,
}


@pytest.mark.kafka(settings=RETENTION)
def test_expired_orders_are_counted_a_week_later(
    kafka_cluster, kafka_topic, kafka_clock
):
    place = kafka_cluster.bootstrap_servers, kafka_topic
    kafka_cluster.produce(kafka_topic, ["order 1", "order 2", "order 3"])
    assert asyncio.run(start_and_read(*place)) == (0, b"order 1")
    kafka_clock.advance(days=8)
    kafka_cluster.produce(kafka_topic, ["order 4"])
    assert asyncio.run(start_and_read(*place)) == (2, b"order 4")
