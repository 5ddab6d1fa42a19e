"""What a test asks of a Spark session with one of the sources. These functions run where the session is, perhaps in another process."""

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
    from pyspark.sql.streaming import StreamingQuery

T = TypeVar("T")
Options = Mapping[str, Any]
OffsetsOf = dict[str, dict[str, int]]
"""`{"topic": {"0": 23}}`"""
Slice = tuple[str, int, int, int]
"""(topic, partition, first offset, last offset)"""


class Failure(NamedTuple):
    """What a query said, and whether it did so when it was made, or when it ran."""

    at_once: bool
    text: str


class Read(NamedTuple):
    """`tasks` has what each task found, if it found anything."""

    schema: str
    rows: list[Row]
    tasks: list[list[Slice]]


class Batch(NamedTuple):
    """A micro-batch."""

    rows: list[Row]
    tasks: list[list[Slice]]
    start: OffsetsOf | None
    end: OffsetsOf


def each(spark: SparkSession, function: Callable[..., T], sources: Sequence[str], *arguments: Any) -> list[T]:
    """What a function of this module gives for each of the sources, at the same time."""
    with ThreadPoolExecutor() as threads:
        return list(threads.map(lambda source: function(spark, source, *arguments), sources))


def read(spark: SparkSession, source: str, options: Options) -> Read | Failure:
    """A batch read of all rows."""
    made = False
    try:
        frame = spark.read.format(source).options(**options).load()
        made = True
        return Read(frame.schema.json(), *_collect(frame))
    except Exception as error:
        return Failure(not made, _text(error))


def look(spark: SparkSession, source: str, options: Options) -> tuple[int, str, list[tuple[Any, ...]]]:
    """What one does in a notebook: (the count, what `show` prints, the rows of some SQL)."""
    frame = spark.read.format(source).options(**options).load()
    frame.createOrReplaceTempView("records")
    printed = io.StringIO()
    with redirect_stdout(printed):
        frame.selectExpr("CAST(value AS STRING) AS text", "offset").orderBy("partition", "offset").show(3)
        frame.printSchema()
    counted = spark.sql("SELECT topic, partition, COUNT(*) FROM records WHERE offset >= 3 GROUP BY ALL ORDER BY ALL")
    return frame.count(), printed.getvalue(), [tuple(row) for row in counted.collect()]


def write(spark: SparkSession, source: str, rows: Sequence[Any], schema: str, options: Options, mode: str | None) -> Failure | None:
    """A batch write; without a mode it is Spark's default."""
    try:
        frame = spark.createDataFrame(rows, schema).repartition(2)
        writer = frame.write.format(source).options(**options)
        (writer.mode(mode) if mode else writer).save()
    except Exception as error:
        return Failure(False, _text(error))
    return None


def copy(spark: SparkSession, source: str, reading: Options, writing: Options, checkpoint: str, mode: str) -> Failure | None:
    """What a topic has to another, by a stream: read by `reading`'s source `from`, written by the other one."""
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
    told: set[int]


_running: dict[str, _Running] = {}


def start(spark: SparkSession, source: str, name: str, options: Options, checkpoint: str, **trigger: Any) -> Failure | None:
    """Starts a stream; what it reads, `settle` and `finish` tell. `trigger` as of Spark's own method; without one, as fast as it goes."""
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
    """All batches of a stream that ends by itself; its checkpoint has the source's name if it is given no other."""
    failure = start(spark, source, f"{name}-{source}", options, f"{directory}/{checkpoint or source}", **trigger)
    if failure is not None:
        return failure
    try:
        return finish(spark, f"{name}-{source}")
    finally:
        stop(spark, f"{name}-{source}")


def settle(spark: SparkSession, name: str) -> list[Batch] | Failure:
    """The batches since the last call, once the stream has read all there is."""
    return _batches(name, lambda query: query.processAllAvailable())


def finish(spark: SparkSession, name: str) -> list[Batch] | Failure:
    """The batches since the last call, once the stream has ended by itself."""
    return _batches(name, lambda query: query.awaitTermination())


def stop(spark: SparkSession, name: str) -> None:
    """Ends the stream."""
    _running.pop(name).query.stop()


def _batches(name: str, wait: Callable[[StreamingQuery], object]) -> list[Batch] | Failure:
    running = _running[name]
    try:
        wait(running.query)
    except Exception as error:
        return Failure(False, _text(error))
    new = [progress for progress in running.query.recentProgress if progress.batchId in running.found.keys() - running.told]
    ran = {progress.batchId: progress.sources[0] for progress in new if "addBatch" in progress.durationMs}
    running.told.update(ran)
    return [Batch(*running.found[number], _offsets(source.startOffset), _offsets(source.endOffset)) for number, source in ran.items()]


def _offsets(text: str | None) -> Any:
    """Of a progress: JSON, or before PySpark 4.2 what Python writes; both are Python's literals, but for null."""
    return None if text in (None, "null") else ast.literal_eval(text)


def _text(error: Exception) -> str:
    """All in one line, with the causes in Java and their conditions."""
    from py4j.protocol import Py4JError

    conditions, cause = [], getattr(error, "java_exception", None)
    while cause is not None:
        with suppress(Py4JError):  # not every exception has one
            conditions.append(cause.getCondition())
        cause = cause.getCause()
    return " ".join(f"{error} {getattr(error, 'stackTrace', '')} {conditions}".split())


def _collect(frame: DataFrame) -> tuple[list[Row], list[list[Slice]]]:
    """(the rows, what each task found)."""
    found = frame.selectExpr("*", "unix_micros(timestamp) AS us", "spark_partition_id() AS task").collect()
    by_task = groupby(sorted(found, key=_in_tasks), key=lambda row: row.task)
    return _rows(found), [_slices(list(rows)) for _, rows in by_task]


def _in_tasks(row: Any) -> tuple[int, str, int, int]:
    return (row.task, row.topic, row.partition, row.offset)


def _slices(rows: Sequence[Any]) -> list[Slice]:
    """Of rows in order."""
    slices = []
    for (topic, partition), records in groupby(rows, key=lambda row: (row.topic, row.partition)):
        offsets = [record.offset for record in records]
        slices.append((topic, partition, offsets[0], offsets[-1]))
    return slices


def place(row: Any) -> tuple[str, int, int]:
    """In the logs."""
    return (row.topic, row.partition, row.offset)


def _rows(found: Sequence[Any]) -> list[Row]:
    """In the order of the log; bytes as bytes and times as whole microseconds."""
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
