"""A loader keeps its offsets in its own database, one step before the rows. Its twin writes both in one step."""

import asyncio

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import KafkaError


class Database:
    def __init__(self):
        self.rows = {}
        self.next_offset = 0

    def write(self, record, receipt):
        self.rows[record.offset] = (record.value, receipt)
        self.next_offset = record.offset + 1


async def load(servers, topic, database, count):
    sending = {"enable_idempotence": True, "request_timeout_ms": 2000}
    consumer = AIOKafkaConsumer(bootstrap_servers=servers, auto_offset_reset="none")
    async with consumer, AIOKafkaProducer(bootstrap_servers=servers, **sending) as producer:
        partition = TopicPartition(topic, 0)
        consumer.assign([partition])
        consumer.seek(partition, database.next_offset)
        while len(database.rows) < count:
            record = await asyncio.wait_for(consumer.getone(), 5)
            receipt = await producer.send_and_wait(f"{topic}.receipts", record.value)
            database.write(record, receipt.offset)


@pytest.mark.kafka_explore(also=["refused"])
def test_every_row_is_loaded(kafka_cluster, kafka_topic):
    kafka_cluster.create_topic(f"{kafka_topic}.receipts")
    kafka_cluster.produce(kafka_topic, ["row 1", "row 2"])
    database = Database()
    for _ in range(4):
        try:
            asyncio.run(load(kafka_cluster.bootstrap_servers, kafka_topic, database, 2))
            break
        except (KafkaError, TimeoutError):
            continue
    assert [value for value, _ in database.rows.values()] == [b"row 1", b"row 2"]
