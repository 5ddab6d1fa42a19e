"""A sensor sends measurements and ignores what became of them. Its twin sends those again that were not acknowledged."""

from contextlib import closing
from threading import Event

from kafka import KafkaProducer
from kafka.errors import KafkaError

PAUSE = Event()


def send(producer, topic, value, attempts=5):
    for _ in range(attempts):
        try:
            return producer.send(topic, value).get(timeout=10)
        except KafkaError:
            PAUSE.wait(0.3)
    raise RuntimeError(f"{value} cannot be sent")


def test_measurements_arrive(kafka_cluster, kafka_topic):
    settings = {"acks": 1, "retries": 0, "enable_idempotence": False}
    with closing(KafkaProducer(bootstrap_servers=kafka_cluster.bootstrap_servers, **settings)) as producer:
        for value in (b"20", b"21"):
            send(producer, kafka_topic, value)
        producer.flush(10)
    assert {record.value for record in kafka_cluster.records(kafka_topic)} == {b"20", b"21"}
