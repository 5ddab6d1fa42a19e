"""A message that cannot be parsed blocks its partition: the service fails, starts again, and gets the same message.

The test proves that such a message goes to a dead letter topic with its offset, and that the message after it is handled. It also proves
that a message which the dead letter topic refuses is not committed, because it would be lost: the restarted service gets it again.
"""

import json
from contextlib import closing
from itertools import islice

import pytest
from kafka import KafkaConsumer, KafkaProducer
from kafka.errors import PolicyViolationError


def serve(bootstrap_servers, topic, handle, messages):
    settings = {"group_id": topic, "auto_offset_reset": "earliest", "enable_auto_commit": False, "consumer_timeout_ms": 10_000}
    consumer = KafkaConsumer(topic, bootstrap_servers=bootstrap_servers, **settings)
    with closing(consumer), closing(KafkaProducer(bootstrap_servers=bootstrap_servers)) as producer:
        for message in islice(consumer, messages):
            try:
                handle(json.loads(message.value))
            except ValueError:
                sent = producer.send(f"{topic}.dead", message.value, headers=[("offset", b"%d" % message.offset)])
                sent.get(timeout=10)  # raises the error of a dead letter that is not stored
            consumer.commit()


def test_poison_message_becomes_a_dead_letter(kafka_cluster, kafka_topic, kafka_faults):
    handled = []
    service = kafka_cluster.bootstrap_servers, kafka_topic, handled.append
    kafka_cluster.produce(kafka_topic, ["poison", '{"order": 1}'])
    with kafka_faults.add(api="Produce", error="POLICY_VIOLATION"), pytest.raises(PolicyViolationError):
        serve(*service, messages=2)
    serve(*service, messages=2)
    assert handled == [{"order": 1}]
    (dead,) = kafka_cluster.records(f"{kafka_topic}.dead")
    assert (dead.value, dead.headers) == (b"poison", (("offset", b"0"),))
