"""A reader begins at the end of a partition that was added, and misses what was written meanwhile. Its twin begins at the start."""

import asyncio
import time
from threading import Event

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions
from aiokafka.errors import KafkaError

PAUSE = Event()


async def read(servers, topic, seen, written):
    reading = {"group_id": "reading", "auto_offset_reset": "earliest", "enable_auto_commit": False}
    async with AIOKafkaConsumer(topic, bootstrap_servers=servers, metadata_max_age_ms=200, **reading) as consumer:
        end = time.monotonic() + 15
        while not (b"new" in seen and written.is_set()) and time.monotonic() < end:
            try:
                for records in (await consumer.getmany(timeout_ms=100)).values():
                    seen.update(record.value for record in records)
            except KafkaError:
                continue


async def grow_and_write(cluster, topic, written):
    def asked():
        return len({each.sequence for each in cluster.requests(api="ListOffsets")})

    def partitions():
        return next(len(each.partitions) for each in cluster.topics() if each.name == topic)

    await asyncio.to_thread(cluster.wait_until, lambda: asked() >= 1)
    await asyncio.to_thread(PAUSE.wait, 0.3)
    before = asked()
    while partitions() < 2:
        admin = AIOKafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers)
        await admin.start()
        try:
            await admin.create_partitions({topic: NewPartitions(total_count=2)})
        except KafkaError:
            await asyncio.to_thread(PAUSE.wait, 0.2)
        finally:
            await admin.close()
    async with AIOKafkaProducer(bootstrap_servers=cluster.bootstrap_servers, enable_idempotence=True) as producer:
        await asyncio.to_thread(cluster.wait_until, lambda: asked() > before)
        await producer.send_and_wait(topic, b"new", partition=1)
    written.set()


def test_reader_sees_the_first_record_of_a_new_partition(kafka_cluster, kafka_topic):
    seen = set()

    async def both():
        written = asyncio.Event()
        reading = read(kafka_cluster.bootstrap_servers, kafka_topic, seen, written)
        await asyncio.gather(reading, grow_and_write(kafka_cluster, kafka_topic, written))

    asyncio.run(both())
    assert seen == {b"new"}
