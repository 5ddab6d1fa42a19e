"""A worker's client stores offsets by itself, also that of a record whose work fails. Its twin stores an offset after the work."""

import time
from contextlib import closing

from confluent_kafka import Consumer, KafkaException, Producer


class FailedWorkError(Exception):
    pass


def work_on(servers, topic, value):
    outcomes = []
    producer = Producer({"bootstrap.servers": servers, "log_level": 0, "retries": 0, "acks": 1})
    producer.produce(topic, value, on_delivery=lambda error, _: outcomes.append(error))
    producer.flush(10)
    if len(outcomes) != 1 or outcomes[0] is not None:
        raise FailedWorkError(outcomes)


def work(servers, topic, is_done):
    group = {"group.id": "printing", "auto.offset.reset": "earliest", "enable.auto.offset.store": False}
    client = {"bootstrap.servers": servers, "log_level": 0, "session.timeout.ms": 6000}
    with closing(Consumer(client | group)) as consumer:
        consumer.subscribe([topic])
        while not is_done():
            message = consumer.poll(0.1)
            if message is None or message.error():
                continue
            work_on(servers, f"{topic}.printed", message.value())
            if not group["enable.auto.offset.store"]:
                consumer.store_offsets(message)


def test_every_page_is_printed(kafka_cluster, kafka_topic):
    kafka_cluster.create_topic(f"{kafka_topic}.printed")
    kafka_cluster.produce(kafka_topic, ["page 1", "page 2"])
    end = time.monotonic() + 15

    def printed():
        return {record.value for record in kafka_cluster.records(f"{kafka_topic}.printed")}

    while len(printed()) < 2 and time.monotonic() < end:
        try:
            work(kafka_cluster.bootstrap_servers, kafka_topic, lambda: len(printed()) == 2 or time.monotonic() > end)
        except (KafkaException, FailedWorkError):
            continue
    assert printed() == {b"page 1", b"page 2"}
