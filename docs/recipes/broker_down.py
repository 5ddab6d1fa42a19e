"""The leader of a partition crashes before its follower has copied an order.

With `acks=1` the order would be acknowledged and then lost with its leader. The
test proves that this producer waits for all replicas and sends the order to the
next leader again.
"""

import asyncio

from aiokafka import AIOKafkaProducer


def shop_producer(servers):
    durable = {"acks": "all", "enable_idempotence": True}
    return AIOKafkaProducer(bootstrap_servers=servers, **durable)


def test_order_survives_the_crash_of_its_leader(make_kafka_cluster):
    replicated = {"partitions": 1, "replication_factor": 2}
    cluster = make_kafka_cluster(nodes=2, topics={"orders": replicated})

    def partition():
        topics = {topic.name: topic for topic in cluster.topics()}
        return topics["orders"].partitions[0]

    def second_order_is_stored():
        return partition().end_offset == 2

    async def crash_while_sending():
        async with shop_producer(cluster.bootstrap_servers) as producer:
            await producer.send_and_wait("orders", b"order 1")
            leader = partition().leader
            (follower,) = {1, 2} - {leader}
            cluster.lag("orders", 0, follower)
            sending = await producer.send("orders", b"order 2")
            await asyncio.to_thread(cluster.wait_until, second_order_is_stored)
            cluster.stop_node(leader, graceful=False)
            cluster.clock.advance("9s")  # broker.session.timeout.ms: a new leader
            await asyncio.wait_for(sending, timeout=30)

    asyncio.run(crash_while_sending())
    orders = [record.value for record in cluster.records("orders")]
    assert orders == [b"order 1", b"order 2"]
