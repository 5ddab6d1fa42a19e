"""Queries of a Spark session with a given source. These functions run in the process of the session, which may be another one."""

from __future__ import annotations

import ast
import io
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout, suppress
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from tests.spark.decoder_reference import Row

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

T = TypeVar("T")
Options = Mapping[str, Any]
OffsetsOf = dict[str, dict[str, int]]
"""`{"topic": {"0": 23}}`"""
Slice = tuple[str, int, int, int]
"""(topic, partition, first offset, last offset)"""


class Failure(NamedTuple):
    """The error of a query, and whether it was raised when the query was created (`at_once`) or when it ran."""

    at_once: bool
    text: str


class Read(NamedTuple):
    """The result of a batch read. `tasks` has the slices that each task read, without tasks that read nothing."""

    schema: str
    rows: list[Row]
    tasks: list[list[Slice]]


class Batch(NamedTuple):
    """The result of a micro-batch."""

    rows: list[Row]
    tasks: list[list[Slice]]
    start: OffsetsOf | None
    end: OffsetsOf


def each(spark: SparkSession, function: Callable[..., T], sources: Sequence[str], *arguments: Any) -> list[T]:
    """Calls a function of this module for all sources at the same time and returns the results."""
    with ThreadPoolExecutor() as threads:
        return list(threads.map(lambda source: function(spark, source, *arguments), sources))


def read(spark: SparkSession, source: str, options: Options) -> Read | Failure:
    """Reads all rows in a batch."""
    made = False
    try:
        frame = spark.read.format(source).options(**options).load()
        made = True
        return Read(frame.schema.json(), *_collect(frame))
    except Exception as error:
        return Failure(not made, _text(error))


def look(spark: SparkSession, source: str, options: Options) -> tuple[int, str, list[tuple[Any, ...]]]:
    """Runs what users do in a notebook. Returns (the count, the output of `show` and `printSchema`, the rows of a SQL query)."""
    frame = spark.read.format(source).options(**options).load()
    frame.createOrReplaceTempView("records")
    printed = io.StringIO()
    with redirect_stdout(printed):
        frame.selectExpr("CAST(value AS STRING) AS text", "offset").orderBy("partition", "offset").show(3)
        frame.printSchema()
    counted = spark.sql("SELECT topic, partition, COUNT(*) FROM records WHERE offset >= 3 GROUP BY ALL ORDER BY ALL")
    return frame.count(), printed.getvalue(), [tuple(row) for row in counted.collect()]


def write(spark: SparkSession, source: str, rows: Sequence[Any], schema: str, options: Options, mode: str | None) -> Failure | None:
    """Writes rows in a batch, with Spark's default save mode when `mode` is None."""
    try:
        frame = spark.createDataFrame(rows, schema).repartition(2)
        writer = frame.write.format(source).options(**options)
        (writer.mode(mode) if mode else writer).save()
    except Exception as error:
        return Failure(False, _text(error))
    return None


def copy(spark: SparkSession, source: str, reading: Options, writing: Options, checkpoint: str, mode: str) -> Failure | None:
    """Copies a topic with a stream, which is read with the source `reading["from"]` and written with `source`."""
    try:
        frame = spark.readStream.format(reading["from"]).options(**reading).load()
        columns = [name for name in ("key", "value", "headers") if name in frame.columns]
        stream = frame.select(*columns).writeStream.format(source).options(**writing).outputMode(mode)
        stream.option("checkpointLocation", checkpoint).trigger(availableNow=True).start().awaitTermination()
    except Exception as error:
        return Failure(False, _text(error))
    return None


class _Running(NamedTuple):
    query: StreamingQuery
    found: dict[int, tuple[list[Row], list[list[Slice]]]]
    returned: set[int]


_running: dict[str, _Running] = {}


def start(spark: SparkSession, /, source: str, name: str, options: Options, checkpoint: str, **trigger: Any) -> Failure | None:
    """Starts a stream, whose batches `settle` and `finish` return.

    `trigger` has the arguments of Spark's own method. Without it, batches follow each other without a pause.
    """
    found: dict[int, tuple[list[Row], list[list[Slice]]]] = {}

    def collect(frame: DataFrame, number: int) -> None:
        found[number] = _collect(frame)

    try:
        stream = spark.readStream.format(source).options(**options).load().writeStream.option("checkpointLocation", checkpoint)
        query = (stream.trigger(**trigger) if trigger else stream).foreachBatch(collect).start()
    except Exception as error:
        return Failure(True, _text(error))
    _running[name] = _Running(query, found, set())
    return None


def run(
    spark: SparkSession, source: str, name: str, options: Options, directory: str, trigger: Mapping[str, Any], checkpoint: str | None = None
) -> list[Batch] | Failure:
    """Returns all batches of a stream whose trigger ends it. The checkpoint has the name of the source by default."""
    failure = start(spark, source, f"{name}-{source}", options, f"{directory}/{checkpoint or source}", **trigger)
    if failure is not None:
        return failure
    try:
        return finish(spark, f"{name}-{source}")
    finally:
        stop(spark, f"{name}-{source}")


def settle(spark: SparkSession, name: str) -> list[Batch] | Failure:
    """Waits until the stream has read all records, and returns the batches since the last call."""
    return _batches(name, lambda query: query.processAllAvailable())


def finish(spark: SparkSession, name: str) -> list[Batch] | Failure:
    """Waits until the stream has ended, and returns the batches since the last call."""
    return _batches(name, lambda query: query.awaitTermination())


def stop(spark: SparkSession, name: str) -> None:
    """Stops the stream."""
    _running.pop(name).query.stop()


def _batches(name: str, wait: Callable[[StreamingQuery], object]) -> list[Batch] | Failure:
    running = _running[name]
    try:
        wait(running.query)
    except Exception as error:
        return Failure(False, _text(error))
    new = [progress for progress in running.query.recentProgress if progress.batchId in running.found.keys() - running.returned]
    ran = {progress.batchId: progress.sources[0] for progress in new if "addBatch" in progress.durationMs}
    running.returned.update(ran)
    return [Batch(*running.found[number], _offsets(source.startOffset), _offsets(source.endOffset)) for number, source in ran.items()]


def _offsets(text: str | None) -> Any:
    """Parses offsets of a progress: JSON, or before PySpark 4.2 a Python dict. Both are Python literals, except for null."""
    return None if text in (None, "null") else ast.literal_eval(text)


def _text(error: Exception) -> str:
    """Returns the error in one line, with its causes in Java and their error conditions."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]

    conditions, cause = [], getattr(error, "java_exception", None)
    while cause is not None:
        with suppress(Py4JError):  # not every exception has a condition
            conditions.append(cause.getCondition())
        cause = cause.getCause()
    return " ".join(f"{error} {getattr(error, 'stackTrace', '')} {conditions}".split())


def _collect(frame: DataFrame) -> tuple[list[Row], list[list[Slice]]]:
    """Returns (the rows, the slices that each task read)."""
    found = frame.selectExpr("*", "unix_micros(timestamp) AS us", "spark_partition_id() AS task").collect()
    by_task = groupby(sorted(found, key=_position_in_task), key=lambda row: row.task)
    return _rows(found), [_slices(list(rows)) for _, rows in by_task]


def _position_in_task(row: Any) -> tuple[int, str, int, int]:
    return (row.task, row.topic, row.partition, row.offset)


def _slices(rows: Sequence[Any]) -> list[Slice]:
    """Returns the slices of rows that are in order."""
    slices = []
    for (topic, partition), records in groupby(rows, key=lambda row: (row.topic, row.partition)):
        offsets = [record.offset for record in records]
        slices.append((topic, partition, offsets[0], offsets[-1]))
    return slices


def place(row: Any) -> tuple[str, int, int]:
    """Returns the position of a row in the logs, to sort by."""
    return (row.topic, row.partition, row.offset)


def _rows(found: Sequence[Any]) -> list[Row]:
    """Converts rows, in the order of the log; byte strings as `bytes`, timestamps as integers in microseconds."""
    in_order = sorted(found, key=place)
    return [
        Row(
            _bytes(row.key), _bytes(row.value), row.topic, row.partition, row.offset, row.us, row.timestampType,
            [(h.key, _bytes(h.value)) for h in row.headers] if "headers" in row and row.headers is not None else None,
        )
        for row in in_order
    ]  # fmt: skip


def _bytes(value: Any) -> bytes | None:
    return None if value is None else bytes(value)


def rows(frame: DataFrame) -> list[Row]:
    """Returns the rows in the order of the log; byte strings as `bytes`, timestamps as integers in microseconds."""
    return _rows(frame.selectExpr("*", "unix_micros(timestamp) AS us").collect())
