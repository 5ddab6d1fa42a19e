"""Creates, fills and reads topics with librdkafka, and returns the rows that Spark should read."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any, Protocol, cast

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions, NewTopic

from odradek.spark_sink.client import ClientConfig
from tests.spark.decoder_reference import Row

BROKER_SETTINGS: dict[str, Any] = {"log.retention.ms": -1, "log.cleaner.backoff.ms": 50, "auto.create.topics.enable": "false"}
"""Settings of the brokers: these tests write old timestamps, need compaction without delay, and create their topics explicitly."""
FIRST_TIMESTAMP, TIMESTAMP_STEP = 1_700_000_000_000, 37
"""Timestamps, in milliseconds, of the records of one call of `produce`."""
_numbers = itertools.count()


def time_of(number: int) -> int:
    """Returns the timestamp of a record of `produce`, in ms."""
    return FIRST_TIMESTAMP + number * TIMESTAMP_STEP


Body = tuple[bytes | None, bytes | None, list[tuple[str, bytes | None]]]
Written = tuple[bytes | None, bytes | None, list[tuple[str, bytes | None]]]
"""(key, value, headers)"""


class Broker(Protocol):
    """A running broker: the emulator or Apache Kafka."""

    @property
    def bootstrap_servers(self) -> str: ...


def config_of(cluster: Broker) -> ClientConfig:
    """Returns the config of a client with short time-outs."""
    servers = [server.split(":") for server in cluster.bootstrap_servers.split(",")]
    return ClientConfig(tuple((host, int(port)) for host, port in servers), settling_ms=0, poll_timeout_ms=10_000)


def new_topic(cluster: Broker, partitions: int = 1, name: str | None = None, **config: str) -> str:
    name = name or f"topic-{next(_numbers)}"
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    settings = {setting.replace("_", "."): value for setting, value in config.items()}
    admin.create_topics([NewTopic(name, partitions, config=settings)])[name].result(10)
    return name


def add_partitions(cluster: Broker, topic: str, total: int) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_partitions([NewPartitions(topic, total)])[topic].result(10)


def recreate_topic(cluster: Broker, topic: str) -> None:
    """Deletes a topic and creates it again with one partition."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.delete_topics([topic])[topic].result(10)
    while topic in admin.list_topics(timeout=10).topics:
        pass
    new_topic(cluster, name=topic)


def bodies(count: int) -> list[Body]:
    """Returns records with null, empty and other keys and values, and with all kinds of headers."""
    keys = [b"key", None, b""]
    values = [b"value %d", b"", None, b"x" * 300]
    headers: list[list[tuple[str, bytes | None]]] = [[], [("a", b"1")], [("a", None), ("", b""), ("a", b"2")], []]
    return [(keys[n % 3], (v := values[n % 4]) and v.replace(b"%d", b"%d" % n), headers[n // 2 % 4]) for n in range(count)]


def produce(cluster: Broker, topic: str, records: Iterable[Body], partition: int = 0, **settings: Any) -> list[Row]:
    """Writes records and returns the rows that are in the log afterwards, in order."""
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "linger.ms": 20, "enable.idempotence": True} | settings)
    rows: list[Row] = []

    def written(body: Body, timestamp: int) -> Callable[[Any, Message], None]:
        def on_delivery(error: Any, message: Message) -> None:
            assert error is None, error
            rows.append(Row(*body[:2], topic, partition, cast("int", message.offset()), timestamp * 1000, 0, body[2] or None))

        return on_delivery

    for number, body in enumerate(records):
        timestamp = FIRST_TIMESTAMP + number * TIMESTAMP_STEP
        key, value, headers = body
        producer.produce(topic, value, key, partition, written(body, timestamp), timestamp=timestamp, headers=list(headers))
        producer.poll(0)
    assert producer.flush(20) == 0
    return sorted(rows, key=lambda row: row.offset)


def delete_before(cluster: Broker, topic: str, offset: int, partition: int = 0) -> None:
    """Deletes the records before `offset`, as retention does later."""
    gone = TopicPartition(topic, partition, offset)
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.delete_records([gone])[gone].result(10)


def transactions(cluster: Broker, topic: str, sizes: Iterable[int], *, commit: Callable[[int], bool]) -> None:
    """Writes transactions with `sizes` records to partition 0; `commit` returns by number whether one is committed."""
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": topic})
    producer.init_transactions(20)
    for number, size in enumerate(sizes):
        producer.begin_transaction()
        for record in range(size):
            producer.produce(topic, b"%d-%d" % (number, record), partition=0, timestamp=1_700_000_000_000)
        assert producer.flush(20) == 0
        (producer.commit_transaction if commit(number) else producer.abort_transaction)(20)


def compacted(cluster: Broker) -> str:
    """Returns a topic that has been compacted, so that offsets are missing."""
    topic = new_topic(cluster, cleanup_policy="compact", segment_ms="1", min_cleanable_dirty_ratio="0")
    written = produce(cluster, topic, [(b"%d" % (n % 7 if n % 3 else n), b"%d" % n, []) for n in range(60)], **{"batch.num.messages": 20})
    while len(consume(cluster, topic)) == len(written):
        pass
    return topic


def consume(cluster: Broker, topic: str, partitions: int = 1) -> list[Message]:
    """Reads all messages of some partitions with a plain consumer."""
    settings = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "test", "enable.partition.eof": True}
    consumer = Consumer(settings | {"enable.auto.commit": False, "fetch.wait.max.ms": 20})
    consumer.assign([TopicPartition(topic, partition, 0) for partition in range(partitions)])
    seen: list[Message] = []
    ends = 0
    try:
        while ends < partitions:
            message = consumer.poll(10)
            assert message is not None
            error = message.error()
            if error is None:
                seen.append(message)
            else:
                assert error.code() == KafkaError._PARTITION_EOF, error
                ends += 1
    finally:
        consumer.close()
    return seen


def headers_of(message: Message) -> list[tuple[str, bytes | None]]:
    """Returns the headers of a consumed message, whose values are bytes or None; librdkafka accepts more types when producing."""
    return cast("list[tuple[str, bytes | None]]", message.headers() or [])


def records_by_partition(cluster: Broker, topic: str, partitions: int, count: int) -> list[list[Written]]:
    """Reads all records of each partition. Raises AssertionError when their number is not `count`."""
    settings = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "test", "enable.partition.eof": True}
    consumer = Consumer(settings | {"auto.offset.reset": "earliest", "check.crcs": True})
    consumer.assign([TopicPartition(topic, index, 0) for index in range(partitions)])
    found: list[list[Written]] = [[] for _ in range(partitions)]
    ended = 0
    while ended < partitions:
        message = consumer.poll(10)
        assert message is not None, "no message within 10 s"
        if message.error():
            ended += 1
        else:
            found[cast("int", message.partition())].append((message.key(), message.value(), headers_of(message)))
    consumer.close()
    assert sum(map(len, found)) == count
    return found
