"""A worker goes on with the next record after its work has failed. Its twin seeks back to the record."""

import time
from contextlib import closing

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import KafkaError


def work(servers, topic, is_done):
    reading = {"group_id": "mailing", "auto_offset_reset": "earliest", "enable_auto_commit": False, "metadata_max_age_ms": 1000}
    sending = {"retries": 0, "acks": 1, "enable_idempotence": False}
    consumer = KafkaConsumer(topic, bootstrap_servers=servers, **reading)
    producer = KafkaProducer(bootstrap_servers=servers, **sending)
    with closing(consumer), closing(producer):
        while not is_done():
            for records in consumer.poll(3000, max_records=1).values():
                (record,) = records
                try:
                    producer.send(f"{topic}.mails", record.value).get(timeout=10)
                    consumer.commit()
                except KafkaError:
                    consumer.seek(TopicPartition(record.topic, record.partition), record.offset)


def test_every_mail_is_sent(kafka_cluster, kafka_topic):
    kafka_cluster.create_topic(f"{kafka_topic}.mails")
    kafka_cluster.produce(kafka_topic, ["mail 1", "mail 2"])
    end = time.monotonic() + 12

    def sent():
        return {record.value for record in kafka_cluster.records(f"{kafka_topic}.mails")}

    work(kafka_cluster.bootstrap_servers, kafka_topic, lambda: len(sent()) == 2 or time.monotonic() > end)
    assert sent() == {b"mail 1", b"mail 2"}
