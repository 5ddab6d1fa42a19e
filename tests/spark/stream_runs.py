"""Runs streams of the `odradek` source in a Spark session."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tests.spark import queries
from tests.spark.decoder_reference import Row
from tests.spark.kafka_topics import Broker
from tests.spark.queries import Batch, Failure
from tests.spark.sources import OURS, with_broker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_names = itertools.count()


@contextmanager
def streaming(spark: SparkSession, broker: Broker, checkpoint: str, options: dict[str, Any], **trigger: Any) -> Iterator[str]:
    """Starts a query and stops it afterwards; yields its name."""
    name = f"query-{next(_names)}"
    assert queries.start(spark, OURS, name, with_broker(broker, {"startingOffsets": "earliest"} | options), checkpoint, **trigger) is None
    try:
        yield name
    finally:
        queries.stop(spark, name)


def batches(found: list[Batch] | Failure) -> list[Batch]:
    assert not isinstance(found, Failure), found.text
    return found


def rows(found: list[Batch]) -> list[Row]:
    return in_order(row for batch in found for row in batch.rows)


def in_order(records: Iterable[Row]) -> list[Row]:
    return sorted(records, key=lambda row: (row.topic, row.partition, row.offset))


def all_at_once(spark: SparkSession, broker: Broker, checkpoint: str, **options: Any) -> list[Batch] | Failure:
    with streaming(spark, broker, checkpoint, options, availableNow=True) as name:
        return queries.finish(spark, name)


def failure(spark: SparkSession, broker: Broker, checkpoint: str, **options: Any) -> str:
    found = all_at_once(spark, broker, checkpoint, **options)
    assert isinstance(found, Failure), found
    return found.text
