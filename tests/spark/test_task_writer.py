"""Writes rows without Spark, which other clients read back."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import pytest
from kafka import KafkaConsumer
from kafka import TopicPartition as TheirPartition
from pyspark.sql import Row

from odradek.broker import Cluster
from odradek.protocol.batches.compression import Compression
from odradek.spark_sink.error_conditions import KafkaCondition
from odradek.spark_sink.task_writer import arrow_batches, write
from tests.spark.arrow_rows import producer_config, rows_of_records, rows_of_values
from tests.spark.kafka_topics import BROKER_SETTINGS, Broker, Written, bodies, new_topic, records_by_partition

SEED = random.randrange(1 << 32)


@pytest.mark.parametrize("codec", list(Compression))
def test_write_codecs_are_read_by_other_clients(broker: Broker, codec: Compression) -> None:
    topic, written = new_topic(broker, 2), bodies(2000)
    write(
        [rows_of_records(written, partition=[n % 2 for n in range(2000)])],
        producer_config(broker, compression=codec, batch_size=2000),
        topic,
    )
    assert records_by_partition(broker, topic, 2, 2000) == [written[::2], written[1::2]]
    reader = KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, consumer_timeout_ms=10_000)
    with closing(reader):
        reader.assign([TheirPartition(topic, 1)])
        reader.seek_to_beginning()
        found = [(m.key, m.value, list(m.headers)) for _, m in zip(range(1000), reader, strict=False)]
    assert found == written[1::2]


def test_write_topic_column(broker: Broker) -> None:
    one, two = new_topic(broker), new_topic(broker)
    rows = rows_of_records(bodies(30), topic=[one, one, two] * 10)
    write([rows], producer_config(broker), None)
    assert records_by_partition(broker, one, 1, 20) == [[body for number, body in enumerate(bodies(30)) if number % 3 < 2]]
    assert records_by_partition(broker, two, 1, 10) == [bodies(30)[2::3]]
    write([rows], producer_config(broker), two)
    records_by_partition(broker, two, 1, 40)
    with pytest.raises(KafkaCondition, match=r"KAFKA_NULL_TOPIC_IN_DATA.*contains? a null topic\. Use the `topic` option"):
        write([rows_of_records(bodies(2), topic=[one, None])], producer_config(broker), None)


def test_write_broker_restarts_lose_and_repeat_nothing() -> None:
    batch_size = random.Random(SEED).choice([200, 500, 3000])
    with Cluster(nodes=2, topics={"t": 3}, settings=BROKER_SETTINGS, seed=3) as cluster:
        texts = [[b"%d-%d" % (number, row) for row in range(200)] for number in range(16)]

        def batches() -> Iterator[Any]:
            for number, some in enumerate(texts):
                yield rows_of_records([(b"%d" % row, text, []) for row, text in enumerate(some)])
                if number < 12:
                    [cluster.stop_node, cluster.start_node][number % 2](number // 2 % 2 + 1)

        write(batches(), producer_config(cluster, batch_size=batch_size), "t")
        found = records_by_partition(cluster, "t", 3, 3200)
    values = sorted(value for partition in found for _, value, _ in partition if value)
    assert values == sorted(text for some in texts for text in some), f"seed {SEED}"
    for partition in found:  # records of one key keep the order in which they were written
        numbers = {key: [int(value.split(b"-")[0]) for k, value, _ in partition if k == key and value] for key, _, _ in partition}
        assert all(rising == sorted(rising) for rising in numbers.values())


def test_write_invalid_rows_raises(broker: Broker) -> None:
    topic = new_topic(broker, 2)
    quick = producer_config(broker, max_block_ms=50, max_request_size=5000)

    def failure(records: Sequence[Written], **columns: Any) -> str:
        with pytest.raises((ValueError, TimeoutError)) as caught:
            write([rows_of_records(records, **columns)], quick, topic)
        return str(caught.value)

    one: list[Written] = [(None, b"x", [])]
    assert failure(one, partition=[9]).startswith(f"Partition 9 of topic {topic} with partition count 2 is not present in metadata after")
    assert failure(one, partition=[-1]) == "Invalid partition: -1. Partition number should always be non-negative or null."
    assert "larger than 5000, which is the value of the option 'kafka.max.request.size'" in failure([(None, b"x" * 5000, [])])
    records_by_partition(broker, topic, 2, 0)


def test_write_large_arrow_batch_in_slices(broker: Broker) -> None:
    topic, texts = new_topic(broker), [b"%d" % number * 200_000 for number in range(100)]
    write([rows_of_values(texts)], producer_config(broker), topic)
    found = records_by_partition(broker, topic, 1, 100)[0]
    assert [value for _, value, _ in found] == texts


def test_arrow_batches_convert_rows() -> None:
    rows = [
        Row(value="a", other=1, headers=[Row(key="k", value=bytearray(b"v"))]),
        Row(value=None, other=2, headers=None),
        Row(value="b", other=3, headers=[]),
    ]
    (batch,) = arrow_batches(rows, ["value", "other", "headers"])
    assert batch.to_pydict() == {"value": [b"a", None, b"b"], "headers": [[{"key": b"k", "value": b"v"}], None, []]}
