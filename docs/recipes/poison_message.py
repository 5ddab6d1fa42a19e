"""A message that cannot be parsed blocks its partition.

The service fails, starts again, and gets the same message. The test proves that
such a message goes to a dead letter topic with its offset, and that the next one is
handled. A message which the dead letter topic refuses would be lost if it were
committed. The test proves that it is not: the restarted service gets it again.
"""

import json
from contextlib import closing
from itertools import islice

import pytest
from kafka import KafkaConsumer, KafkaProducer
from kafka.errors import PolicyViolationError


def serve(servers, topic, handle, messages):
    group = {"group_id": topic, "auto_offset_reset": "earliest"}
    reading = {"enable_auto_commit": False, "consumer_timeout_ms": 10_000}
    consumer = KafkaConsumer(topic, bootstrap_servers=servers, **group, **reading)
    producer = KafkaProducer(bootstrap_servers=servers)
    with closing(consumer), closing(producer):
        for message in islice(consumer, messages):
            try:
                handle(json.loads(message.value))
            except ValueError:
                offset = ("offset", str(message.offset).encode())
                sent = producer.send(
                    f"{topic}.dead", message.value, headers=[offset]
                )
                sent.get(timeout=10)  # raises the error of a refused dead letter
            consumer.commit()


def test_poison_message_becomes_a_dead_letter(
    kafka_cluster, kafka_topic, kafka_faults
):
    handled = []
    service = kafka_cluster.bootstrap_servers, kafka_topic, handled.append
    kafka_cluster.produce(kafka_topic, ["poison", '{"order": 1}'])
    refusal = kafka_faults.add(api="Produce", error="POLICY_VIOLATION")
    with refusal, pytest.raises(PolicyViolationError):
        serve(*service, messages=2)
    serve(*service, messages=2)
    assert handled == [{"order": 1}]
    (dead,) = kafka_cluster.records(f"{kafka_topic}.dead")
    assert (dead.value, dead.headers) == (b"poison", (("offset", b"0"),))
