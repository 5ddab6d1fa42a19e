"""The listener logs the lag of streams."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from odradek.broker import Cluster
from odradek.spark_sink.listener import LagListener, lag
from tests.spark.kafka_topics import bodies, new_topic, produce
from tests.spark.stream_runs import all_at_once

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_lag_listener_logs_the_lag_of_each_batch(
    spark: SparkSession, cluster: Cluster, checkpoint: str, caplog: pytest.LogCaptureFixture
) -> None:
    topic = new_topic(cluster, 2)
    produce(cluster, topic, bodies(10), 1)
    listener = LagListener()
    spark.streams.addListener(listener)
    try:
        with caplog.at_level(logging.INFO, "odradek.spark_sink.lag"):
            all_at_once(spark, cluster, checkpoint, subscribe=topic, maxOffsetsPerTrigger=6)
            spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    finally:
        spark.streams.removeListener(listener)
    said = [record.getMessage().partition(" batch ")[2] for record in caplog.records if record.name == "odradek.spark_sink.lag"]
    assert said[:2] == [f"0 is 4 offsets behind ({topic}-0: 0, {topic}-1: 4)", f"1 is 0 offsets behind ({topic}-0: 0, {topic}-1: 0)"]


def test_lag_of_other_sources_is_empty() -> None:
    assert lag(None, None) == lag("5", "7") == lag("{}", '{"t": 5}') == lag("", '{"t":{"0":"x"}}') == {}
    assert {str(partition): behind for partition, behind in lag('{"t":{"0":5}}', '{"t":{"0":7,"1":3}}').items()} == {"t-0": 2, "t-1": 3}
