"""The queries of the Spark benchmark: functions that run in the process of the Spark session."""

from __future__ import annotations

import random
import shutil
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Options = Mapping[str, Any]
V1_SOURCES = "spark.sql.sources.useV1SourceList"
TIMEOUT_S = 60
WARM_TRIGGERS = 5


def use_v2(spark: SparkSession, wanted: bool) -> None:
    """Selects the API (V1 or V2) with which Spark runs batch reads of the official connector."""
    sources = [name for name in (spark.conf.get(V1_SOURCES) or "").split(",") if name != "kafka"]
    spark.conf.set(V1_SOURCES, ",".join(sources if wanted else [*sources, "kafka"]))


def count(spark: SparkSession, source: str, options: Options) -> int:
    return spark.read.format(source).options(**options).load().count()


def read(spark: SparkSession, source: str, options: Options, times: int) -> float:
    """Returns the median seconds of a batch read of all columns."""

    def once() -> None:
        spark.read.format(source).options(**options).load().write.format("noop").mode("overwrite").save()

    return _median_s(once, times)


def write(spark: SparkSession, source: str, options: Options, rows: int) -> float:
    """Returns the seconds in which `rows` values of 100 bytes with keys are written."""
    frame = spark.range(0, rows, 1, 2).selectExpr("CAST(id AS STRING) AS key", "RPAD(CAST(id * 7919 AS STRING), 100, 'value') AS value")
    return _median_s(lambda: frame.write.format(source).options(**options).mode("append").save(), 1)


def _median_s(once: Any, times: int) -> float:
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        once()
        taken.append(time.perf_counter() - began)
    return median(taken)


def triggers(spark: SparkSession, source: str, options: Options) -> float:
    """Returns the median seconds of a trigger of a stream that reads all records."""
    with _Checkpoint() as checkpoint:
        query = _stream(spark, source, options, checkpoint).format("noop").trigger(availableNow=True).start()
        query.awaitTermination()
        taken = [progress.durationMs["triggerExecution"] for progress in query.recentProgress if "addBatch" in progress.durationMs]
    return float(median(taken[WARM_TRIGGERS:])) / 1000


def catch_up(spark: SparkSession, source: str, options: Options) -> float:
    """Returns the seconds from the start of a stream until it has read all records."""
    with _Checkpoint() as checkpoint:
        began = time.perf_counter()
        _stream(spark, source, options, checkpoint).format("noop").trigger(availableNow=True).start().awaitTermination()
        return time.perf_counter() - began


def latency(spark: SparkSession, source: str, options: Options, times: int) -> float:
    """Returns the median seconds from the production of a record until foreachBatch receives it."""
    arrived = threading.Semaphore(0)

    def take(frame: DataFrame, _: int) -> None:
        if count := len(frame.collect()):
            arrived.release(count)

    with _Checkpoint() as checkpoint:
        query = _stream(spark, source, options, checkpoint).foreachBatch(take).start()
        try:
            return _produce_and_wait(options, arrived, times)
        finally:
            query.stop()


def _produce_and_wait(options: Options, arrived: threading.Semaphore, times: int) -> float:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": options["kafka.bootstrap.servers"], "linger.ms": 0})
    generator, taken = random.Random(1), []
    for number in range(times + 1):
        began = time.perf_counter()
        producer.produce(options["subscribe"], b"x")
        producer.flush()
        if not arrived.acquire(timeout=TIMEOUT_S):
            raise RuntimeError(f"record {number} did not arrive")
        taken.append(time.perf_counter() - began)
        time.sleep(generator.uniform(0.1, 0.3))  # lets the batch end, and sends the next record at a random time
    return median(taken[1:])


def _stream(spark: SparkSession, source: str, options: Options, checkpoint: str) -> Any:
    return spark.readStream.format(source).options(**options).load().writeStream.option("checkpointLocation", checkpoint)


class _Checkpoint:
    """A directory in memory when possible, because disks differ more than the sources do."""

    def __enter__(self) -> str:
        memory = Path("/dev/shm")
        self._directory = tempfile.mkdtemp(dir=memory if memory.is_dir() else None)
        return self._directory

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._directory, ignore_errors=True)
