"""The leader of a partition crashes while an order is sent to it, before its follower has copied the order.

With `acks=1` the order would be acknowledged and then lost with its leader. The test proves that this producer waits for all replicas and
sends the order to the next leader again.
"""

import asyncio

from aiokafka import AIOKafkaProducer


def shop_producer(bootstrap_servers):
    return AIOKafkaProducer(bootstrap_servers=bootstrap_servers, acks="all", enable_idempotence=True)


def test_order_survives_the_crash_of_its_leader(make_kafka_cluster):
    cluster = make_kafka_cluster(nodes=2, topics={"orders": {"partitions": 1, "replication_factor": 2}})

    def partition():
        return next(topic.partitions[0] for topic in cluster.topics() if topic.name == "orders")

    async def crash_while_sending():
        async with shop_producer(cluster.bootstrap_servers) as producer:
            await producer.send_and_wait("orders", b"order 1")
            leader = partition().leader
            (follower,) = {1, 2} - {leader}
            cluster.lag("orders", 0, follower)
            sending = await producer.send("orders", b"order 2")
            await asyncio.to_thread(cluster.wait_until, lambda: partition().end_offset == 2)
            cluster.stop_node(leader, graceful=False)
            cluster.clock.advance("9s")  # broker.session.timeout.ms: the follower becomes leader
            await asyncio.wait_for(sending, timeout=30)

    asyncio.run(crash_while_sending())
    assert [record.value for record in cluster.records("orders")] == [b"order 1", b"order 2"]
