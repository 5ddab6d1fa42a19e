"""A member of a share group accepts a job before it has done it. Its twin accepts it afterwards, and releases it if it fails."""

import time
from contextlib import suppress

from confluent_kafka import AcknowledgeType, KafkaException, Producer, ShareConsumer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType


def does(servers, topic, job):
    outcomes = []
    producer = Producer({"bootstrap.servers": servers, "log_level": 0, "retries": 0, "acks": 1})
    producer.produce(topic, job, on_delivery=lambda error, _: outcomes.append(error))
    producer.flush(10)
    return len(outcomes) == 1 and outcomes[0] is None


def work(servers, topic, is_done):
    group = {"group.id": "jobs", "share.acknowledgement.mode": "explicit", "log_level": 0}
    consumer = ShareConsumer({"bootstrap.servers": servers, **group})
    consumer.subscribe([topic])
    try:
        while not is_done():
            for message in consumer.poll(0.2):
                if message.error():
                    continue
                success = does(servers, f"{topic}.done", message.value())
                consumer.acknowledge(message, AcknowledgeType.ACCEPT if success else AcknowledgeType.RELEASE)
            with suppress(KafkaException):  # the jobs come again
                consumer.commit_sync(5)
    finally:
        consumer.close()


def begin_at_the_first_job(servers):
    admin = AdminClient({"bootstrap.servers": servers, "log_level": 0})
    start = ConfigEntry("share.auto.offset.reset", "earliest", incremental_operation=AlterConfigOpType.SET)
    group = ConfigResource(ResourceType.GROUP, "jobs", incremental_configs=[start])
    for _ in range(5):
        try:
            return admin.incremental_alter_configs([group])[group].result(10)
        except KafkaException:
            continue


def test_every_job_is_done(kafka_cluster, kafka_topic):
    kafka_cluster.create_topic(f"{kafka_topic}.done")
    kafka_cluster.produce(kafka_topic, ["job 1", "job 2"])
    begin_at_the_first_job(kafka_cluster.bootstrap_servers)
    end = time.monotonic() + 15

    def done():
        return {record.value for record in kafka_cluster.records(f"{kafka_topic}.done")}

    work(kafka_cluster.bootstrap_servers, kafka_topic, lambda: len(done()) == 2 or time.monotonic() > end)
    assert done() == {b"job 1", b"job 2"}
