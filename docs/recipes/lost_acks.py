"""A record is stored, but its acknowledgement is lost, so that the producer sends the record again.

Without idempotence the record would be stored twice. With it, the broker recognizes the sequence number of the record and acknowledges it
without storing it again. The test proves that the producer of this shop is idempotent.
"""

from confluent_kafka import Producer


def shop_producer(bootstrap_servers):
    return Producer({"bootstrap.servers": bootstrap_servers, "enable.idempotence": True, "log_level": 0})


def test_order_with_lost_acknowledgement_is_stored_once(kafka_cluster, kafka_topic, kafka_faults):
    acknowledged = []
    with shop_producer(kafka_cluster.bootstrap_servers) as producer:
        lost = kafka_faults.lost_acks(kafka_topic)
        producer.produce(kafka_topic, b"order 1", on_delivery=lambda error, order: acknowledged.append((error, order.offset())))
        assert producer.flush(30) == 0
        lost.wait(hits=1)
    assert acknowledged == [(None, 0)]
    assert [record.value for record in kafka_cluster.records(kafka_topic)] == [b"order 1"]
