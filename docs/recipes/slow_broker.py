"""A broker answers after ten minutes, while a customer waits for a confirmation.

The request time-out decides how soon the producer tries again, and the delivery
time-out when it gives up. The test proves that one late answer costs neither ten
minutes nor a second order, and that the shop hears in time when the broker stays
slow. The order may be stored nevertheless, because a time-out says nothing about
that; the shop must not tell the customer that it was refused.
"""

from contextlib import closing

import pytest
from kafka import KafkaProducer
from kafka.errors import RetriableError

PATIENCE_S = 10


def shop_producer(servers):
    limits = {"request_timeout_ms": 500, "delivery_timeout_ms": 3000}
    return KafkaProducer(bootstrap_servers=servers, **limits)


def place_order(producer, topic, order):
    try:
        producer.send(topic, order).get(PATIENCE_S)
    except RetriableError:  # a time-out or a lost connection
        return "unknown"
    return "confirmed"


@pytest.mark.parametrize(
    ("late_answers", "expected"), [(1, "confirmed"), (None, "unknown")]
)
def test_order_has_an_outcome_in_time(
    kafka_cluster, kafka_topic, kafka_faults, late_answers, expected
):
    slow = {"api": "Produce", "topic": kafka_topic, "delay_ms": 600_000}
    with closing(shop_producer(kafka_cluster.bootstrap_servers)) as producer:
        producer.partitions_for(kafka_topic)  # connects
        fault = kafka_faults.add(**slow, times=late_answers)
        assert place_order(producer, kafka_topic, b"order 1") == expected
    fault.wait(hits=late_answers or 2)
    assert [order.value for order in kafka_cluster.records(kafka_topic)] == [
        b"order 1"
    ]
