"""A second worker joins while the first one is in the middle of a batch, which it has processed and not yet committed.

The group gives one partition to the second worker, which would process its orders again if they were not committed by then. The test proves
that each order is processed once, because the first worker commits before it loses a partition.
"""

from contextlib import closing

import pytest
from confluent_kafka import Consumer


def start_worker(bootstrap_servers, topic):
    def commit_finished(consumer, partitions):
        if finished := [partition for partition in consumer.position(partitions) if partition.offset >= 0]:
            consumer.commit(offsets=finished, asynchronous=False)

    settings = {"bootstrap.servers": bootstrap_servers, "group.id": topic, "auto.offset.reset": "earliest", "log_level": 0}
    worker = Consumer({**settings, "enable.auto.commit": False, "heartbeat.interval.ms": 100})
    worker.subscribe([topic], on_revoke=commit_finished)
    return closing(worker)


def work(*workers, until, processed, turns=1000):
    while not until() and (turns := turns - 1):
        processed += [order.value() for worker in workers if (order := worker.poll(0.05))]


@pytest.mark.kafka(settings={"num.partitions": 2})
def test_order_of_a_revoked_partition_is_processed_once(kafka_cluster, kafka_topic):
    processed, place, group = [], (kafka_cluster.bootstrap_servers, kafka_topic), kafka_cluster.group(kafka_topic)
    kafka_cluster.produce(kafka_topic, ["order 1", "order 2", "order 3", "order 4"])
    with start_worker(*place) as first:
        work(first, until=lambda: len(processed) == 4, processed=processed)
        with start_worker(*place) as second:
            work(first, second, until=lambda: len(group.members) == 2 and group.state == "Stable", processed=processed)
            kafka_cluster.produce(kafka_topic, ["order 5", "order 6"])
            work(first, second, until=lambda: len(processed) >= 6, processed=processed)
    assert sorted(processed) == [b"order %d" % number for number in range(1, 7)]
