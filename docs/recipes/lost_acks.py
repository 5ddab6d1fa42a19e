"""A record is stored, but its acknowledgement is lost, so that it is sent again.

Without idempotence the record would be stored twice. With it, the broker recognizes
the sequence number of the record and acknowledges it without storing it again. The
test proves that the producer of this shop is idempotent.
"""

from confluent_kafka import Producer


def shop_producer(servers):
    settings = {"enable.idempotence": True, "log_level": 0}
    return Producer({"bootstrap.servers": servers, **settings})


def test_order_with_lost_acknowledgement_is_stored_once(
    kafka_cluster, kafka_topic, kafka_faults
):
    acknowledged = []

    def acknowledge(error, order):
        acknowledged.append((error, order.offset()))

    with shop_producer(kafka_cluster.bootstrap_servers) as producer:
        lost = kafka_faults.lost_acks(kafka_topic)
        producer.produce(kafka_topic, b"order 1", on_delivery=acknowledge)
        assert producer.flush(30) == 0
        lost.wait(hits=1)
    assert acknowledged == [(None, 0)]
    assert [order.value for order in kafka_cluster.records(kafka_topic)] == [
        b"order 1"
    ]
