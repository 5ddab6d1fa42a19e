"""Spark data source for Kafka: `spark.read.format("odradek")`.

Spark discovers an installed copy through the top-level module `pyspark_odradek`; in all other cases (a zip, an editable install) a program
registers the class with `spark.dataSource.register(OdradekDataSource)`. docs/spark.md lists the options.

Layers, from Spark's interface down to the network:

* `source`: the entry point, which creates the readers and writers of one query.
* `batch_reader`, `stream_reader`, `writers`: implementations of PySpark's reader and writer classes.
* `source_options`, `sink_options` and the other `*_options` modules: parsing of options into dataclasses.
* `offset_ranges`, `stream_offsets`, `filters`: planning in the driver, which determines the offsets to read.
* `stored_logs`, `stored_partitions`, `stored_ranges`: planning and tasks of a batch that reads Kafka's log directories instead of brokers.
* `task_splitting`, `input_partitions`: how ranges of offsets are divided into Spark tasks.
* `task_reader`, `task_writer`: the work of one task in a Python worker.
* `batches`, `record_boundaries`, `varint_columns`, `decoder`, `encoder`: conversion of record batches to and from Arrow, with numpy.
* `fetcher`, `producer`, `partitioner`, `client`, `connection_factory`: a blocking Kafka client without Spark.
* `workers`, `listener`: the Python executable of workers and their garbage collection, and the lag of streams.
* `error_conditions`: errors in the form of Spark's own source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .source import OdradekDataSource

__all__ = ["OdradekDataSource"]


def __getattr__(name: str) -> object:
    # Imported on first access, because the client and the decoder also work where PySpark is not installed.
    if name in __all__:
        from . import source

        return getattr(source, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
