"""A second worker joins while the first one is in the middle of a batch.

The batch is processed, but not yet committed. The group gives one partition to the
second worker, which would process its orders again. The test proves that each order
is processed once, because the first worker commits before it loses a partition.
"""

from contextlib import closing

import pytest
from confluent_kafka import Consumer


def commit_finished(consumer, partitions):
    finished = [each for each in consumer.position(partitions) if each.offset >= 0]
    if finished:
        consumer.commit(offsets=finished, asynchronous=False)


def start_worker(servers, topic):
    client = {"bootstrap.servers": servers, "log_level": 0}
    group = {"group.id": topic, "heartbeat.interval.ms": 100}
    reading = {"auto.offset.reset": "earliest", "enable.auto.commit": False}
    worker = Consumer({**client, **group, **reading})
    worker.subscribe([topic], on_revoke=commit_finished)
    return closing(worker)


def work(workers, processed, until, turns=1000):
    while not until() and (turns := turns - 1):
        orders = [worker.poll(0.05) for worker in workers]
        processed += [order.value() for order in orders if order]


@pytest.mark.kafka(settings={"num.partitions": 2})
def test_order_of_a_revoked_partition_is_processed_once(kafka_cluster, kafka_topic):
    processed, group = [], kafka_cluster.group(kafka_topic)
    place = kafka_cluster.bootstrap_servers, kafka_topic
    kafka_cluster.produce(kafka_topic, ["order 1", "order 2", "order 3", "order 4"])

    def joined():
        return len(group.members) == 2 and group.state == "Stable"

    with start_worker(*place) as first:
        work([first], processed, lambda: len(processed) == 4)
        with start_worker(*place) as second:
            work([first, second], processed, joined)
            kafka_cluster.produce(kafka_topic, ["order 5", "order 6"])
            work([first, second], processed, lambda: len(processed) >= 6)
    assert sorted(processed) == [b"order %d" % number for number in range(1, 7)]
