"""Which offsets a batch reads: by time, and with filters that Spark pushes down."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from odradek.spark_sink.client import EARLIEST, LATEST, KafkaClient, TopicPartition
from odradek.spark_sink.error_conditions import KafkaCondition
from odradek.spark_sink.filters import narrowed
from odradek.spark_sink.offset_options import Times
from odradek.spark_sink.offset_ranges import OffsetRange, resolve
from tests.spark.kafka_topics import FIRST_TIMESTAMP, TIMESTAMP_STEP, Broker, bodies, config_of, new_topic, produce

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter

pytestmark = pytest.mark.spark
NEVER = FIRST_TIMESTAMP * 2


def time_of(number: int) -> int:
    """Of a record of `produce`, in ms."""
    return FIRST_TIMESTAMP + number * TIMESTAMP_STEP


@pytest.fixture
def client(broker: Broker) -> Iterator[KafkaClient]:
    with closing(KafkaClient(config_of(broker))) as client:
        yield client


@pytest.fixture
def both(broker: Broker) -> tuple[TopicPartition, TopicPartition]:
    """Partitions of 30 and of 10 records."""
    topic = new_topic(broker, 2)
    produce(broker, topic, bodies(30), 0)
    produce(broker, topic, bodies(10), 1)
    return TopicPartition(topic, 0), TopicPartition(topic, 1)


def test_by_time(client: KafkaClient, both: tuple[TopicPartition, TopicPartition]) -> None:
    first, second = both
    assert resolve(client, both, Times(time_of(5), or_latest=False)) == {first: 5, second: 5}
    assert resolve(client, both, Times(time_of(5) - 1, or_latest=False)) == {first: 5, second: 5}
    assert resolve(client, both, Times({first: time_of(7), second: 0}, or_latest=False)) == {first: 7, second: 0}
    assert resolve(client, both, Times(time_of(20), or_latest=True)) == {first: 20, second: 10}
    assert resolve(client, both, Times(NEVER, or_latest=True)) == {first: 30, second: 10}
    assert resolve(client, [], Times(5, or_latest=False)) == {}


def test_no_record_of_that_time_or_later(client: KafkaClient, both: tuple[TopicPartition, TopicPartition]) -> None:
    text = f"No offset matched from request of topic-partition {both[1]} and timestamp {time_of(20)}."
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        resolve(client, both, Times(time_of(20), or_latest=False))


def test_times_for_other_partitions(client: KafkaClient, both: tuple[TopicPartition, TopicPartition]) -> None:
    with pytest.raises(KafkaCondition, match=rf"Specified: Set\({both[0]}\) Assigned: Set\({both[0]}, {both[1]}\)") as caught:
        resolve(client, both, Times({both[0]: 5}, or_latest=True))
    assert caught.value.condition == "KAFKA_TIMESTAMP_OFFSET_DOES_NOT_MATCH_ASSIGNED"


def test_filters(client: KafkaClient, both: tuple[TopicPartition, TopicPartition]) -> None:
    from pyspark.sql import datasource as spark

    first, second = both
    offset, partition, topic, timestamp = ("offset",), ("partition",), ("topic",), ("timestamp",)
    when = datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=time_of(20))

    def left(*filters: Filter) -> list[tuple[int, int, int]]:
        ranges = narrowed(client, [OffsetRange(first, 2, 30), OffsetRange(second, 0, 10)], filters)
        return [(one.partition.partition, one.start, one.end) for one in ranges if one.size]

    everything = [(0, 2, 30), (1, 0, 10)]
    cases: list[tuple[Any, list[tuple[int, int, int]]]] = [
        (spark.GreaterThanOrEqual(offset, 15), [(0, 15, 30)]),
        (spark.LessThanOrEqual(offset, 4), [(0, 2, 5), (1, 0, 5)]),
        (spark.EqualTo(offset, 1), [(1, 1, 2)]),
        (spark.EqualNullSafe(offset, None), everything),
        (spark.In(offset, (25, None, 8)), [(0, 8, 26), (1, 8, 10)]),
        (spark.In(offset, (99, -5)), everything),
        (spark.Not(spark.EqualTo(offset, 1)), everything),
        (spark.IsNotNull(offset), everything),
        (spark.EqualTo(partition, 1), [(1, 0, 10)]),
        (spark.Not(spark.EqualTo(partition, 1)), [(0, 2, 30)]),
        (spark.In(partition, (0, 7)), [(0, 2, 30)]),
        (spark.GreaterThan(partition, 0), [(1, 0, 10)]),
        (spark.LessThan(partition, 1), [(0, 2, 30)]),
        (spark.IsNull(partition), []),
        (spark.StringStartsWith(topic, first.topic[:3]), everything),
        (spark.StringEndsWith(topic, "nosuch"), []),
        (spark.StringContains(topic, first.topic[1:3]), everything),
        (spark.EqualNullSafe(topic, None), []),
        (spark.GreaterThanOrEqual(timestamp, when), [(0, 20, 30)]),
        (spark.EqualTo(timestamp, when + timedelta(microseconds=999)), [(0, 20, 30)]),
        (spark.LessThan(timestamp, when), everything),
        (spark.GreaterThan(timestamp, datetime.fromtimestamp(0, UTC)), everything),
        (spark.EqualTo(("headers", "offset"), 1), everything),
        (spark.EqualTo(("value",), b"x"), everything),
    ]
    for one, expected in cases:
        assert left(one) == expected, one
    assert left(spark.GreaterThan(offset, 4), spark.LessThan(offset, 8), spark.EqualTo(partition, 0)) == [(0, 4, 9)]
    assert left() == everything


def test_both_ends_of_the_log(client: KafkaClient, both: tuple[TopicPartition, TopicPartition]) -> None:
    assert resolve(client, both, {both[0]: EARLIEST, both[1]: LATEST}) == {both[0]: 0, both[1]: 10}
