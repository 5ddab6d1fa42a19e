"""Filters that Spark pushes down shrink the ranges of a batch."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from odradek.protocol.client.connection import TopicPartition
from odradek.spark_sink.client import KafkaClient
from odradek.spark_sink.filters import narrow_ranges
from odradek.spark_sink.offset_ranges import OffsetRange
from tests.spark.kafka_topics import time_of

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter


def test_narrowed_each_filter_shrinks_its_ranges(client: KafkaClient, both: tuple[TopicPartition, TopicPartition]) -> None:
    from pyspark.sql import datasource as spark

    first, second = both
    offset, partition, topic, timestamp = ("offset",), ("partition",), ("topic",), ("timestamp",)
    when = datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=time_of(20))

    def left(*filters: Filter) -> list[tuple[int, int, int]]:
        ranges = narrow_ranges(client, [OffsetRange(first, 2, 30), OffsetRange(second, 0, 10)], filters)
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
