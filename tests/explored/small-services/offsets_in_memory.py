"""A worker keeps its offsets in memory although it has lost its partitions. Its twin forgets them with the partitions."""

import time
from contextlib import closing

from confluent_kafka import Consumer, KafkaException

BATCH = 2


def work(servers, topic, store, expected, on_idle):
    read = {}
    pending = []

    def forget(_consumer, partitions):
        for partition in partitions:
            read.pop(partition.partition, None)
        pending.clear()

    group = {"group.id": "store", "auto.offset.reset": "earliest", "enable.auto.commit": False, "heartbeat.interval.ms": 100}
    with closing(Consumer({"bootstrap.servers": servers, "log_level": 0, **group})) as consumer:
        consumer.subscribe([topic], on_lost=forget, on_revoke=forget)
        end = time.monotonic() + 12
        while len(store) < expected and time.monotonic() < end:
            message = consumer.poll(0.1)
            if message is None:
                on_idle()
                continue
            if message.error() or message.offset() < read.get(message.partition(), 0):
                continue
            read[message.partition()] = message.offset() + 1
            pending.append(message)
            if len(pending) == BATCH:
                store.update(each.value() for each in pending)
                pending.clear()
                try:
                    consumer.commit(message, asynchronous=False)
                except KafkaException:
                    continue  # they come again


def test_every_record_is_stored(kafka_cluster, kafka_topic):
    kafka_cluster.produce(kafka_topic, ["1", "2", "3"])
    store, pauses = set(), []

    def end_long_pause():
        if store:
            pauses.append(1)
        if len(pauses) == 20:
            kafka_cluster.produce(kafka_topic, ["4"])

    work(kafka_cluster.bootstrap_servers, kafka_topic, store, 4, end_long_pause)
    assert store == {b"1", b"2", b"3", b"4"}
