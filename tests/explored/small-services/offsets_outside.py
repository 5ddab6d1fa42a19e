"""A converter commits its offsets beside its transactions. Its twin makes them part of the transactions."""

import time
from contextlib import closing

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition


def convert(servers, topic, is_done):
    reading = {"group.id": "converting", "auto.offset.reset": "earliest", "enable.auto.commit": False}
    producer = Producer({"bootstrap.servers": servers, "log_level": 0, "transactional.id": "converting"})
    producer.init_transactions(10)
    client = {"bootstrap.servers": servers, "log_level": 0, "session.timeout.ms": 6000}
    with closing(Consumer(client | reading)) as consumer:
        consumer.subscribe([topic])
        while not is_done():
            message = consumer.poll(0.1)
            if message is None or message.error():
                continue
            following = [TopicPartition(topic, message.partition(), message.offset() + 1)]
            producer.begin_transaction()
            producer.produce(f"{topic}.euros", message.value() + b" EUR")
            producer.send_offsets_to_transaction(following, consumer.consumer_group_metadata(), 10)
            producer.commit_transaction(10)


def test_amounts_are_converted_once(kafka_cluster, kafka_topic):
    euros = f"{kafka_topic}.euros"
    kafka_cluster.create_topic(euros)
    kafka_cluster.produce(kafka_topic, ["1", "2"])
    end = time.monotonic() + 20

    def converted():
        return [record.value for record in kafka_cluster.records(euros) if record.transaction == "committed"]

    def is_done():
        return b"2 EUR" in converted() or time.monotonic() > end

    while not is_done():
        try:
            convert(kafka_cluster.bootstrap_servers, kafka_topic, is_done)
        except KafkaException:
            continue
    assert converted() == [b"1 EUR", b"2 EUR"]
