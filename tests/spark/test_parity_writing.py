"""Compares writes of Spark's own connector and odradek's source: a plain client reads equal records, and error texts are equal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.spark import queries
from tests.spark.kafka_topics import Broker, bodies, consume, new_topic, produce
from tests.spark.queries import Failure
from tests.spark.sources import OFFICIAL, OURS, official_wording, with_broker
from tests.spark.spark_process import SparkProcess

SCHEMA = "key binary, value binary, headers array<struct<key:string,value:binary>>"
Written = tuple[int | None, bytes | None, bytes | None, list[tuple[str, bytes | None]]]
"""(partition, key, value, headers); the partition is None for records without a key."""


def write(session: SparkProcess, broker: Broker, source: str, rows: list[Any], schema: str, **options: Any) -> Failure | None:
    return session.run(queries.write, source, rows, schema, with_broker(broker, options), "append")


def found(broker: Broker, topic: str, partitions: int) -> list[Written]:
    messages = [
        (m.partition() if m.key() is not None else None, m.key(), m.value(), m.headers() or []) for m in consume(broker, topic, partitions)
    ]
    return sorted(messages, key=repr)


def both_write(session: SparkProcess, broker: Broker, rows: list[Any], schema: str, partitions: int = 1, **options: Any) -> list[Written]:
    """Writes with both sources and checks that the records are equal. Returns them."""
    topics = {source: new_topic(broker, partitions) for source in (OFFICIAL, OURS)}
    for source, topic in topics.items():
        failure = write(session, broker, source, rows, schema, topic=topic, **options)
        assert failure is None, failure.text
    theirs, ours = (found(broker, topic, partitions) for topic in topics.values())
    assert theirs == ours
    return ours


def test_write_all_record_shapes(comparison_session: SparkProcess, broker: Broker) -> None:
    rows = [(key, value, [{"key": name, "value": data} for name, data in headers] or None) for key, value, headers in bodies(300)]
    assert len(both_write(comparison_session, broker, rows, SCHEMA)) == 300


def test_write_keys_choose_the_same_partitions(comparison_session: SparkProcess, broker: Broker) -> None:
    rows = [(f"{n * 7919:x}" * (n % 9), f"value {n}") for n in range(400)]
    written = both_write(comparison_session, broker, rows, "key string, value string", partitions=7)
    assert {partition for partition, *_ in written} == set(range(7))


def test_write_partition_column(comparison_session: SparkProcess, broker: Broker) -> None:
    rows = [(b"%d" % n, b"value", n % 3 if n % 4 else None) for n in range(60)]
    both_write(comparison_session, broker, rows, "key binary, value binary, partition int", partitions=3)


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_write_codecs(comparison_session: SparkProcess, broker: Broker, codec: str) -> None:
    rows = [(b"%d" % n, b"value %d " % n * 40, None) for n in range(200)]
    both_write(comparison_session, broker, rows, SCHEMA, **{"kafka.compression.type": codec})


def test_write_topic_column_and_option(comparison_session: SparkProcess, broker: Broker) -> None:
    for source in (OFFICIAL, OURS):
        one, two, other = (new_topic(broker) for _ in range(3))
        rows = [(one, "1", "ignored", 1.0), (two, "2", None, 2.0), (two, "3", "", 3.0)]
        schema = "topic string, value string, extra string, timestamp double"
        assert write(comparison_session, broker, source, rows, schema) is None
        assert [len(consume(broker, topic)) for topic in (one, two)] == [1, 2]
        assert write(comparison_session, broker, source, rows, schema, topic=other) is None
        assert [len(consume(broker, topic)) for topic in (one, two, other)] == [1, 2, 3]


def test_write_stream(comparison_session: SparkProcess, broker: Broker, tmp_path: Path) -> None:
    origin, topics = new_topic(broker), {source: new_topic(broker) for source in (OFFICIAL, OURS)}
    produce(broker, origin, bodies(100))
    reading = with_broker(broker, {"from": OFFICIAL, "subscribe": origin, "startingOffsets": "earliest", "includeHeaders": True})
    for source, topic in topics.items():
        failure = comparison_session.run(
            queries.copy, source, reading, with_broker(broker, {"topic": topic}), str(tmp_path / source), "append"
        )
        assert failure is None, failure.text
    theirs, ours = (found(broker, topic, 1) for topic in topics.values())
    assert theirs == ours
    assert len(ours) == 100


def test_write_stream_output_mode_update(comparison_session: SparkProcess, cluster: Broker, tmp_path: Path) -> None:
    """Spark's interface for Python data sources does not support this mode."""
    topic = new_topic(cluster)
    produce(cluster, topic, bodies(10))
    reading = with_broker(cluster, {"from": OFFICIAL, "subscribe": topic, "startingOffsets": "earliest"})
    said = [
        comparison_session.run(
            queries.copy, source, reading, with_broker(cluster, {"topic": new_topic(cluster)}), str(tmp_path / source), "update"
        )
        for source in (OFFICIAL, OURS)
    ]
    assert said[0] is None
    assert said[1] is not None and "odradek does not support Update mode" in said[1].text


WRONG: list[tuple[str, list[Any], dict[str, Any], str]] = [
    ("value string", [("a",)], {}, "topic option required when no 'topic' attribute is present. Use the topic option for setting a topic."),
    ("VALUE string", [("a",)], {"topic": "T"}, "Required attribute 'value' not found"),
    ("value int", [(1,)], {"topic": "T"}, "value attribute unsupported type int. value must be a(n) string or binary"),
    ("key int, value string", [(1, "a")], {"topic": "T"}, "key attribute unsupported type int. key must be a(n) string or binary"),
    ("topic int, value string", [(1, "a")], {}, "topic attribute unsupported type int. topic must be a(n) string"),
    ("partition bigint, value string", [(1, "a")], {"topic": "T"}, "partition attribute unsupported type bigint. "),
    (
        "headers array<struct<k:string,value:binary>>, value string",
        [([], "a")],
        {"topic": "T"},
        "headers must be a(n) array<struct<key:string,value:binary>>",
    ),
    ("topic string, value string", [(None, "a")], {}, "KAFKA_NULL_TOPIC_IN_DATA"),
    ("value string", [("a",)], {"topic": "nosuch"}, "Topic nosuch not present in metadata after 2000 ms."),
    ("partition int, value string", [(9, "a")], {"topic": "T"}, "Partition 9 of topic T with partition count 2 is not present in metadata"),
    ("partition int, value string", [(-1, "a")], {"topic": "T"}, "Invalid partition: -1."),
    ("value string", [("a",)], {"topic": "T", "kafka.key.serializer": "x"}, "Kafka option 'kafka.key.serializer' is not supported as keys"),
    ("value string", [("a",)], {"topic": "T", "kafka.value.serializer": "x"}, "Kafka option 'kafka.value.serializer' is not supported"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "rows", "options", "text"), WRONG, ids=[text[:50] for *_, text in WRONG])
def test_write_errors(
    comparison_session: SparkProcess, cluster: Broker, schema: str, rows: list[Any], options: dict[str, Any], text: str
) -> None:
    topic = new_topic(cluster, 2)
    named = {name: topic if value == "T" else value for name, value in options.items()}
    for source in (OFFICIAL, OURS):
        failure = write(comparison_session, cluster, source, rows, schema, **named)
        expected = (official_wording(text) if source == OFFICIAL else text).replace("topic T ", f"topic {topic} ")
        assert failure is not None and expected in failure.text, failure


@pytest.mark.parametrize("mode", ["overwrite", "ignore"])
def test_write_unsupported_save_modes(comparison_session: SparkProcess, cluster: Broker, mode: str) -> None:
    topic = new_topic(cluster)
    for source in (OFFICIAL, OURS):
        failure = comparison_session.run(queries.write, source, [("a",)], "value string", with_broker(cluster, {"topic": topic}), mode)
        assert failure is not None
        assert consume(cluster, topic) == []
