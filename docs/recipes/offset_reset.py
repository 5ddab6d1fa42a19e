"""A service was switched off until the committed offsets of its group expired.

Then `auto_offset_reset` decides where it goes on: `earliest` repeats all orders,
`latest` loses those that it has missed, and `none` stops the service, so that a
person can decide. The test proves which of these happens, and that none of it
happens after six days.
"""

from contextlib import closing

import pytest
from kafka import KafkaConsumer, TopicPartition
from kafka.errors import NoOffsetForPartitionError


def start_service(servers, partition, policy):
    group = {"group_id": f"service-{partition.topic}", "auto_offset_reset": policy}
    reading = {"enable_auto_commit": False, "consumer_timeout_ms": 10_000}
    consumer = KafkaConsumer(bootstrap_servers=servers, **group, **reading)
    consumer.assign([partition])
    return closing(consumer)


@pytest.mark.kafka(settings={"log.retention.ms": -1})
@pytest.mark.parametrize(
    ("days", "policy", "expected"),
    [
        (6, "none", b"missed"),
        (8, "earliest", b"processed"),
        (8, "latest", b"new"),
        (8, "none", None),
    ],
)
def test_service_goes_on_where_its_policy_says(
    kafka_cluster, kafka_topic, kafka_clock, days, policy, expected
):
    place = kafka_cluster.bootstrap_servers, TopicPartition(kafka_topic, 0)
    kafka_cluster.produce(kafka_topic, ["processed", "missed"])
    with start_service(*place, "earliest") as service:
        assert next(service).value == b"processed"
        service.commit()
    kafka_clock.advance(days=days)  # offsets.retention.minutes is seven days
    with start_service(*place, policy) as service:
        if expected is None:
            with pytest.raises(NoOffsetForPartitionError):
                service.position(place[1])
        else:
            service.position(place[1])
            kafka_cluster.produce(kafka_topic, ["new"])
            assert next(service).value == expected
