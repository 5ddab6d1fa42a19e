"""A worker adds amounts, and adds one again when it gets it again. Its twin recognises repetitions by their offsets."""

import time
from contextlib import closing

from kafka import KafkaConsumer
from kafka.errors import KafkaError


class Ledger:
    def __init__(self):
        self.sum = 0
        self.booked = set()

    def book(self, record):
        if record.offset not in self.booked:
            self.booked.add(record.offset)
            self.sum += int(record.value)


def work(servers, topic, ledger, records):
    reading = {"group_id": "ledger", "auto_offset_reset": "earliest", "enable_auto_commit": False, "metadata_max_age_ms": 1000}
    with closing(KafkaConsumer(topic, bootstrap_servers=servers, **reading)) as consumer:
        end = time.monotonic() + 12
        committed = 0
        while committed < records and time.monotonic() < end:
            for batch in consumer.poll(3000, max_records=1).values():
                for record in batch:
                    ledger.book(record)
                    try:
                        consumer.commit()
                        committed = record.offset + 1
                    except KafkaError:
                        pass  # it comes again


def test_amounts_are_added_once(kafka_cluster, kafka_topic):
    kafka_cluster.produce(kafka_topic, ["10", "20"])
    ledger = Ledger()
    work(kafka_cluster.bootstrap_servers, kafka_topic, ledger, 2)
    assert ledger.sum == 30
