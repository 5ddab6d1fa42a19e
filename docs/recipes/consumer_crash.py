"""A consumer crashes while it charges an order.

The group gives the order to another consumer when the session of the crashed one
has expired, but only if the order was not committed before. The test proves that
this application commits an order after it is charged, so that no order is lost.
"""

from contextlib import closing

import pytest
from confluent_kafka import Consumer


def charge_next_order(consumer, charge):
    order = consumer.poll(timeout=10)
    charge(order.value())
    consumer.commit(order, asynchronous=False)


def start_consumer(servers, topic, client_id):
    client = {"bootstrap.servers": servers, "client.id": client_id, "log_level": 0}
    group = {"group.id": topic, "auto.offset.reset": "earliest"}
    consumer = Consumer({**client, **group, "enable.auto.commit": False})
    consumer.subscribe([topic])
    return closing(consumer)


def test_order_of_a_crashed_consumer_is_delivered_again(
    kafka_cluster, kafka_topic, kafka_faults, kafka_clock
):
    def crash(order):
        raise SystemExit(f"crashed with {order}")

    charged, place = [], (kafka_cluster.bootstrap_servers, kafka_topic)
    kafka_cluster.produce(kafka_topic, ["order 1", "order 2", "order 3"])
    with start_consumer(*place, "first") as first:
        charge_next_order(first, charged.append)
        with pytest.raises(SystemExit):
            charge_next_order(first, crash)
        # The cluster hears no more of the first consumer.
        kafka_faults.add(client_id="first", drop=True, close="rst")
        kafka_clock.advance("45s")  # session.timeout.ms
        with start_consumer(*place, "second") as second:
            charge_next_order(second, charged.append)
    assert charged == [b"order 1", b"order 2"]
