"""A worker commits an order before it has written the bill, and restarts after an error. Its twin commits afterwards."""

import time
from contextlib import closing

from confluent_kafka import Consumer, KafkaException, Producer


class RefusedBillError(Exception):
    pass


def write_bill(servers, topic, order):
    failed = []
    settings = {"bootstrap.servers": servers, "log_level": 0, "retries": 0, "acks": 1}
    producer = Producer(settings)
    producer.produce(topic, b"bill of " + order, on_delivery=lambda error, _: failed.append(error))
    producer.flush(10)
    if not failed or failed[0] is not None:
        raise RefusedBillError(failed)


def work(servers, topic, end):
    group = {"group.id": "billing", "auto.offset.reset": "earliest", "enable.auto.commit": False}
    client = {"bootstrap.servers": servers, "log_level": 0, "session.timeout.ms": 6000}
    with closing(Consumer(client | group)) as consumer:
        consumer.subscribe([topic])
        while time.monotonic() < end:
            order = consumer.poll(0.1)
            if order is None or order.error():
                continue
            write_bill(servers, f"{topic}.bills", order.value())
            consumer.commit(order, asynchronous=False)
            if order.offset() == 1:
                return


def work_with_restarts(servers, topic):
    end = time.monotonic() + 15
    while time.monotonic() < end:
        try:
            return work(servers, topic, end)
        except (KafkaException, RefusedBillError):
            continue


def test_every_order_gets_a_bill(kafka_cluster, kafka_topic):
    kafka_cluster.create_topic(f"{kafka_topic}.bills")
    kafka_cluster.produce(kafka_topic, ["order 1", "order 2"])
    work_with_restarts(kafka_cluster.bootstrap_servers, kafka_topic)
    bills = {record.value for record in kafka_cluster.records(f"{kafka_topic}.bills")}
    assert bills == {b"bill of order 1", b"bill of order 2"}
