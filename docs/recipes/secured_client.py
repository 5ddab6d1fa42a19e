"""A client connects with TLS and a password to a cluster on which it may write one topic.

Wrong settings are often noticed in production only. The test proves that the client is let in and that its order is stored. It also proves
that the client refuses a cluster with an unknown certificate, and shows the errors of a wrong password and of a foreign topic.
"""

import pytest
from confluent_kafka import KafkaError, Producer


def place_order(settings, topic, order):
    """Returns the first error that the producer reports, or None when the order is stored."""
    outcomes = []
    producer = Producer({**settings, "error_cb": outcomes.append, "log_level": 0})
    producer.produce(topic, order, on_delivery=lambda error, _: outcomes.append(error))
    while not outcomes:
        producer.poll(1)
    producer.purge()
    producer.flush()
    return outcomes[0] and outcomes[0].code()


@pytest.mark.parametrize(
    ("mistake", "topic", "expected"),
    [
        ({}, "orders", None),
        ({}, "salaries", KafkaError.TOPIC_AUTHORIZATION_FAILED),
        ({"sasl.password": "wrong"}, "orders", KafkaError._AUTHENTICATION),
        ({"ssl.ca.location": "probe"}, "orders", KafkaError._SSL),
    ],
)
def test_order_of_the_shop_needs_certificate_and_rights(make_kafka_cluster, mistake, topic, expected):
    acls = ["User:shop:allow:write:topic:orders"]
    cluster = make_kafka_cluster(1, topics={"orders": 1, "salaries": 1}, tls=True, users={"shop": "secret"}, acls=acls)
    assert place_order({**cluster.client_config("librdkafka"), **mistake}, topic, b"order 1") == expected
    assert [record.value for record in cluster.records("orders")] == ([b"order 1"] if expected is None else [])
