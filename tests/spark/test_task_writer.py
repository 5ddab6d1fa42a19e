"""Writing without Spark, read back by other clients: codecs, restarts, lost answers, and what is refused."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import Consumer, TopicPartition
from kafka import KafkaConsumer
from kafka import TopicPartition as TheirPartition
from pyspark.sql import Row

from odradek.broker import Cluster
from odradek.protocol.compression import Compression
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.messages.init_producer_id import INIT_PRODUCER_ID
from odradek.protocol.messages.produce import PRODUCE
from odradek.spark_sink import producer as producer_module
from odradek.spark_sink.connection import Connection
from odradek.spark_sink.error_conditions import KafkaCondition
from odradek.spark_sink.producer import ProducerConfig
from odradek.spark_sink.task_writer import TYPES, arrow_batches, write
from tests.spark.kafka_topics import KEEP, Broker, bodies, config_of, new_topic

SEED = random.randrange(1 << 32)
Written = tuple[bytes | None, bytes | None, list[tuple[str, bytes | None]]]


def config(cluster: Broker, **settings: Any) -> ProducerConfig:
    return ProducerConfig(config_of(cluster), **settings)


def batch_of(records: Sequence[Written], **columns: Any) -> Any:
    arrays = {
        "key": pa.array([key for key, _, _ in records], TYPES["key"]),
        "value": pa.array([value for _, value, _ in records], TYPES["value"]),
        "headers": pa.array([[{"key": name.encode(), "value": value} for name, value in h] for _, _, h in records], TYPES["headers"]),
    }
    return pa.RecordBatch.from_pydict(arrays | {name: pa.array(values, TYPES[name]) for name, values in columns.items()})


def values_of(texts: Sequence[bytes]) -> Any:
    return batch_of([(None, text, []) for text in texts])


def read_by_confluent(cluster: Broker, topic: str, partitions: int, count: int) -> list[list[Written]]:
    """The records of each partition, in order. Raises AssertionError when others come than `count`."""
    settings = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "nobody", "enable.partition.eof": True}
    consumer = Consumer(settings | {"auto.offset.reset": "earliest", "check.crcs": True})
    consumer.assign([TopicPartition(topic, index, 0) for index in range(partitions)])
    found: list[list[Written]] = [[] for _ in range(partitions)]
    ended = 0
    while ended < partitions:
        message = consumer.poll(10)
        assert message is not None, "nothing comes"
        if message.error():
            ended += 1
        else:
            found[message.partition()].append((message.key(), message.value(), message.headers() or []))
    consumer.close()
    assert sum(map(len, found)) == count
    return found


@pytest.mark.parametrize("codec", list(Compression))
def test_codecs_and_contents(broker: Broker, codec: Compression) -> None:
    topic, written = new_topic(broker, 2), bodies(2000)
    write([batch_of(written, partition=[n % 2 for n in range(2000)])], config(broker, compression=codec, batch_size=2000), topic)
    assert read_by_confluent(broker, topic, 2, 2000) == [written[::2], written[1::2]]
    reader = KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, consumer_timeout_ms=10_000)
    with closing(reader):
        reader.assign([TheirPartition(topic, 1)])
        reader.seek_to_beginning()
        found = [(m.key, m.value, list(m.headers)) for _, m in zip(range(1000), reader, strict=False)]
    assert found == written[1::2]


def test_topics_of_rows(broker: Broker) -> None:
    one, two = new_topic(broker), new_topic(broker)
    rows = batch_of(bodies(30), topic=[one, one, two] * 10)
    write([rows], config(broker), None)
    assert read_by_confluent(broker, one, 1, 20) == [[body for number, body in enumerate(bodies(30)) if number % 3 < 2]]
    assert read_by_confluent(broker, two, 1, 10) == [bodies(30)[2::3]]
    write([rows], config(broker), two)
    read_by_confluent(broker, two, 1, 40)
    with pytest.raises(KafkaCondition, match=r"KAFKA_NULL_TOPIC_IN_DATA.*contains? a null topic\. Use the `topic` option"):
        write([batch_of(bodies(2), topic=[one, None])], config(broker), None)


def test_brokers_that_stop_and_start_lose_and_double_nothing() -> None:
    batch_size = random.Random(SEED).choice([200, 500, 3000])
    with Cluster(nodes=2, topics={"t": 3}, settings=KEEP, seed=3) as cluster:
        texts = [[b"%d-%d" % (number, row) for row in range(200)] for number in range(16)]

        def batches() -> Iterator[Any]:
            for number, some in enumerate(texts):
                yield batch_of([(b"%d" % row, text, []) for row, text in enumerate(some)])
                if number < 12:
                    [cluster.stop_node, cluster.start_node][number % 2](number // 2 % 2 + 1)

        write(batches(), config(cluster, batch_size=batch_size), "t")
        found = read_by_confluent(cluster, "t", 3, 3200)
    values = sorted(value for partition in found for _, value, _ in partition if value)
    assert values == sorted(text for some in texts for text in some), f"seed {SEED}"
    for partition in found:  # what has one key stands in the order in which it was written
        numbers = {key: [int(value.split(b"-")[0]) for k, value, _ in partition if k == key and value] for key, _, _ in partition}
        assert all(rising == sorted(rising) for rising in numbers.values())


def lose_answers(monkeypatch: pytest.MonkeyPatch, lost: set[int]) -> list[int]:
    """Some answers to Produce do not arrive; the numbers of all that came are returned."""
    receive, came = Connection.receive, list[int]()

    def unreliable(connection: Connection) -> Any:
        api = connection._sent[0][0]
        answer = receive(connection)
        if api is PRODUCE:
            came.append(len(came))
            if came[-1] in lost:
                raise ConnectionResetError("the answer is lost")
        return answer

    monkeypatch.setattr(Connection, "receive", unreliable)
    return came


def test_answers_that_are_lost_double_nothing(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    topic, texts = new_topic(broker), [b"%d" % number for number in range(400)]
    came = lose_answers(monkeypatch, {0, 3, 4, 9, 15})
    write([values_of(texts[n : n + 100]) for n in range(0, 400, 100)], config(broker, batch_size=200), topic)
    assert [value for _, value, _ in read_by_confluent(broker, topic, 1, 400)[0]] == texts
    assert len(came) > 20


def test_without_idempotence_what_is_sent_again_is_doubled(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    topic = new_topic(cluster)
    lose_answers(monkeypatch, {0})
    write([values_of([b"x"])], config(cluster, idempotent=False, acks=1), topic)
    read_by_confluent(cluster, topic, 1, 2)


def test_one_producer_of_a_process_serves_its_tasks(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    topic, sent, send = new_topic(cluster), list[Any](), Connection.send

    def noted(connection: Connection, api: Any, request: Any) -> None:
        sent.append(api)
        send(connection, api, request)

    monkeypatch.setattr(Connection, "send", noted)
    settings = config(cluster, max_block_ms=4321)
    for _ in range(3):
        write([values_of([b"x"] * 10)], settings, topic)
    assert (sent.count(INIT_PRODUCER_ID), sent.count(PRODUCE)) == (1, 3)
    read_by_confluent(cluster, topic, 1, 30)


def test_a_second_batch_follows_when_the_log_knows_the_producer(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    topic, events = new_topic(cluster), list[str]()
    send, receive = Connection.send, Connection.receive

    def sending(connection: Connection, api: Any, request: Any) -> None:
        events.append(f"{api.name} sent")
        send(connection, api, request)

    def receiving(connection: Connection) -> Any:
        events.append(f"{connection._sent[0][0].name} answered")
        return receive(connection)

    monkeypatch.setattr(Connection, "send", sending)
    monkeypatch.setattr(Connection, "receive", receiving)
    write([values_of([b"x"] * 500)], config(cluster, batch_size=200), topic)
    produced = [event for event in events if event.startswith("Produce")]
    assert produced[:3] == ["Produce sent", "Produce answered", "Produce sent"]
    assert produced[3:7] == ["Produce sent"] * 4
    read_by_confluent(cluster, topic, 1, 500)


def test_a_producer_that_failed_is_not_used_again(broker: Broker) -> None:
    topic, settings = new_topic(broker, max_message_bytes="1000"), config(broker, max_block_ms=1234)
    write([values_of([b"first"])], settings, topic)
    assert settings in producer_module._idle
    with pytest.raises(KafkaError) as caught:
        write([values_of([b"x" * 2000])], settings, topic)
    assert caught.value.code == ErrorCode.MESSAGE_TOO_LARGE
    assert settings not in producer_module._idle
    write([values_of([b"second"])], settings, topic)
    assert [value for _, value, _ in read_by_confluent(broker, topic, 1, 2)[0]] == [b"first", b"second"]


def test_what_cannot_be_written(broker: Broker) -> None:
    topic = new_topic(broker, 2)
    impatient = config(broker, max_block_ms=50, max_request_size=5000)

    def failure(records: Sequence[Written], **columns: Any) -> str:
        with pytest.raises((ValueError, TimeoutError)) as caught:
            write([batch_of(records, **columns)], impatient, topic)
        return str(caught.value)

    one: list[Written] = [(None, b"x", [])]
    assert failure(one, partition=[9]).startswith(f"Partition 9 of topic {topic} with partition count 2 is not present in metadata after")
    assert failure(one, partition=[-1]) == "Invalid partition: -1. Partition number should always be non-negative or null."
    assert "larger than 5000, which is the value of the option 'kafka.max.request.size'" in failure([(None, b"x" * 5000, [])])
    read_by_confluent(broker, topic, 2, 0)


def test_topics_that_are_not_there() -> None:
    with Cluster(nodes=1, settings={"auto.create.topics.enable": False}) as cluster:
        write([], config(cluster, max_block_ms=50), "nosuch")
        write([values_of([])], config(cluster, max_block_ms=50), "nosuch")
        with pytest.raises(TimeoutError, match=r"Topic nosuch not present in metadata after 50 ms\."):
            write([values_of([b"x"])], config(cluster, max_block_ms=50), "nosuch")
    with Cluster(nodes=1) as cluster:
        write([values_of([b"x"])], config(cluster), "made")
        read_by_confluent(cluster, "made", 1, 1)


def test_nobody_there() -> None:
    with Cluster(nodes=1, topics={"t": 1}) as cluster:
        settings = config(cluster, max_block_ms=50, delivery_timeout_ms=50)
        write([values_of([b"x"])], settings, "t")
        cluster.stop_node(1)
        with pytest.raises((OSError, KafkaError)):
            write([values_of([b"x"])], settings, "t")
        with pytest.raises(TimeoutError, match=r"Topic t not present in metadata after 50 ms\."):
            write([values_of([b"x"])], replace(settings, acks=1), "t")


def test_a_large_batch_in_pieces(broker: Broker) -> None:
    topic, texts = new_topic(broker), [b"%d" % number * 200_000 for number in range(100)]
    write([values_of(texts)], config(broker), topic)
    found = read_by_confluent(broker, topic, 1, 100)[0]
    assert [value for _, value, _ in found] == texts


def test_rows_of_spark_become_arrow() -> None:
    rows = [
        Row(value="a", other=1, headers=[Row(key="k", value=bytearray(b"v"))]),
        Row(value=None, other=2, headers=None),
        Row(value="b", other=3, headers=[]),
    ]
    (batch,) = arrow_batches(rows, ["value", "other", "headers"])
    assert batch.to_pydict() == {"value": [b"a", None, b"b"], "headers": [[{"key": b"k", "value": b"v"}], None, []]}
