"""A client connects with TLS and a password to write one topic.

Wrong settings are often noticed in production only. The test proves that the
settings of the shop let it in, and that it refuses a cluster whose certificate it
does not trust. It also shows the errors of a wrong password and of a topic of
somebody else.
"""

import pytest
from confluent_kafka import Producer


def place_order(settings, topic, order):
    """Returns "stored", or the first error that the producer reports."""
    outcomes = []

    def add_outcome(error, _):
        outcomes.append(error or "stored")

    producer = Producer({**settings, "error_cb": outcomes.append, "log_level": 0})
    producer.produce(topic, order, on_delivery=add_outcome)
    while not outcomes:
        producer.poll(1)
    producer.purge()
    producer.flush()
    return str(outcomes[0])


@pytest.mark.parametrize(
    ("mistake", "topic", "expected"),
    [
        ({}, "orders", "stored"),
        ({}, "salaries", "Topic authorization failed"),
        ({"sasl.password": "wrong"}, "orders", "SASL authentication error"),
        ({"ssl.ca.location": "probe"}, "orders", "certificate verify failed"),
    ],
)
def test_order_of_the_shop_needs_trust_and_rights(
    make_kafka_cluster, mistake, topic, expected
):
    acls = ["User:shop:allow:write:topic:orders"]
    security = {"tls": True, "users": {"shop": "secret"}, "acls": acls}
    cluster = make_kafka_cluster(1, topics={"orders": 1, "salaries": 1}, **security)
    settings = {**cluster.client_config("librdkafka"), **mistake}
    assert expected in place_order(settings, topic, b"order 1")
    stored = [record.value for record in cluster.records("orders")]
    assert stored == ([b"order 1"] if expected == "stored" else [])
