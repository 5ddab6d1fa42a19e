"""A worker skips a message that it cannot send to the dead letters. Its twin commits only what is handled or a dead letter."""

import time
from contextlib import closing

from kafka import KafkaConsumer, KafkaProducer
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata


def work(servers, topic, handled, done):
    reading = {"group_id": "parsing", "auto_offset_reset": "earliest", "enable_auto_commit": False, "metadata_max_age_ms": 1000}
    sending = {"retries": 0, "acks": 1, "enable_idempotence": False}
    consumer = KafkaConsumer(topic, bootstrap_servers=servers, **reading)
    producer = KafkaProducer(bootstrap_servers=servers, **sending)
    with closing(consumer), closing(producer):
        end = time.monotonic() + 12
        while not done() and time.monotonic() < end:
            for partition, records in consumer.poll(3000, max_records=1).items():
                try:
                    for record in records:
                        handle(record, producer, topic, handled)
                    consumer.commit({partition: OffsetAndMetadata(records[-1].offset + 1, "", -1)})
                except KafkaError:
                    consumer.seek(partition, records[0].offset)


def handle(record, producer, topic, handled):
    try:
        handled.add(int(record.value))
    except ValueError:
        producer.send(f"{topic}.dead", record.value).get(timeout=10)


def test_poison_becomes_a_dead_letter(kafka_cluster, kafka_topic):
    kafka_cluster.create_topic(f"{kafka_topic}.dead")
    kafka_cluster.produce(kafka_topic, ["poison", "7"])
    handled = set()
    work(kafka_cluster.bootstrap_servers, kafka_topic, handled, lambda: handled == {7})
    assert {record.value for record in kafka_cluster.records(f"{kafka_topic}.dead")} == {b"poison"}
    assert handled == {7}
