"""A worker ends at the first error of a commit, such as a coordinator that has moved. Its twin goes on."""

import asyncio
import time

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import KafkaError


async def work(servers, topic, seen, expected):
    reading = {"group_id": "watching", "auto_offset_reset": "earliest", "enable_auto_commit": False}
    async with AIOKafkaConsumer(topic, bootstrap_servers=servers, **reading) as consumer:
        end = time.monotonic() + 12
        while len(seen) < expected and time.monotonic() < end:
            for records in (await consumer.getmany(timeout_ms=100, max_records=1)).values():
                seen.update(record.value for record in records)
                try:
                    await consumer.commit()
                except KafkaError:
                    continue


def test_all_records_are_seen(kafka_cluster, kafka_topic):
    kafka_cluster.produce(kafka_topic, ["1", "2", "3"])
    seen = set()
    asyncio.run(work(kafka_cluster.bootstrap_servers, kafka_topic, seen, 3))
    assert seen == {b"1", b"2", b"3"}
