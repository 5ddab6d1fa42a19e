"""The work of one writing task: encodes Arrow rows as record batches, one per partition at a time, and sends them."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..protocol.batches.records import HEADER
from ..protocol.client.connection import TopicPartition
from .encoder import BINARY, RecordColumns, RecordEncoder
from .error_conditions import null_topic
from .partitioner import Partitioner
from .producer import BatchProducer, EncodedBatch, ProducerConfig, producer_for
from .varint_columns import Longs

PIECE_BYTES = 16 << 20
"""Bytes of rows that are encoded at once; more batches would only wait in memory to be sent."""
ROWS = 10_000
"""Python rows that are converted to one Arrow batch."""
TYPES: Mapping[str, Any] = {
    "key": BINARY,
    "value": BINARY,
    "topic": pa.string(),
    "partition": pa.int32(),
    "headers": pa.list_(pa.struct([("key", BINARY), ("value", BINARY)])),
}
"""The columns that a sink writes, with the types in which they are encoded."""


def write(batches: Iterable[Any], config: ProducerConfig, topic: str | None) -> None:
    """Writes the rows of `pyarrow.RecordBatch`es, and returns when all are acknowledged.

    `topic` is the topic of all rows; None means that the rows have a column `topic`. The types of columns have been checked by
    `sink_options.check_schema`. Raises KafkaCondition, KafkaError, OSError, ValueError.
    """
    with producer_for(config) as producer:
        task = _Task(producer)
        for rows in itertools.chain.from_iterable(map(_pieces, batches)):
            for name, of_topic in _by_topic(rows, topic):
                producer.send(task.batches(name, of_topic))
        producer.flush()


def arrow_batches(rows: Iterable[Any], names: Iterable[str]) -> Iterator[Any]:
    """Converts Spark's Python rows to the Arrow batches that `write` takes, for Spark 4.0, which passes no Arrow batches to streams."""
    columns, iterator = [name for name in names if name in TYPES], iter(rows)
    while some := list(itertools.islice(iterator, ROWS)):
        arrays = [pa.array([_plain(row[name]) for row in some], TYPES[name]) for name in columns]
        yield pa.RecordBatch.from_arrays(arrays, columns)


def _plain(value: Any) -> Any:
    """Converts the structs in a list of headers to dicts, which Arrow accepts."""
    return [header and header.asDict() for header in value] if isinstance(value, list) else value


def _pieces(batch: Any) -> Iterator[dict[str, Any]]:
    """Yields slices of about PIECE_BYTES, as the columns in TYPES by name."""
    columns = {name: batch.column(name).cast(kind) for name, kind in TYPES.items() if name in batch.schema.names}
    step = max(1, PIECE_BYTES * batch.num_rows // max(batch.nbytes, 1))
    for first in range(0, batch.num_rows, step):
        yield {name: column.slice(first, step) for name, column in columns.items()}


def _by_topic(rows: dict[str, Any], topic: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the rows of each topic. Raises KafkaCondition KAFKA_NULL_TOPIC_IN_DATA for a row without a topic."""
    if topic is not None:
        yield topic, rows
        return
    if rows["topic"].null_count:
        raise null_topic()
    names = rows["topic"].unique().to_pylist()
    for name in names:
        which = pc.equal(rows["topic"], name)
        yield name, rows if len(names) == 1 else {column: array.filter(which) for column, array in rows.items()}


class _Task:
    """Encodes the batches of one task."""

    def __init__(self, producer: BatchProducer) -> None:
        self._producer = producer
        self._batch_size = min(producer.config.batch_size, producer.config.max_request_size) - HEADER.size
        self._partitioners: dict[str, Partitioner] = {}

    def batches(self, topic: str, rows: dict[str, Any]) -> list[EncodedBatch]:
        """Encodes rows of a topic as batches. Raises ValueError for a row that is too large or names a negative partition."""
        encoder = RecordEncoder(RecordColumns(rows.get("key"), rows["value"], rows.get("headers")))
        sizes = encoder.largest_sizes
        _check_sizes(sizes, self._producer.config.max_request_size)
        partitions = self._partitions(topic, rows.get("partition"), encoder, sizes)
        # numpy sorts 16-bit integers with a radix sort, which is much faster.
        order = np.argsort(partitions.astype(np.uint16) if partitions.max() >> 16 == 0 else partitions, kind="stable")
        cuts = _cuts(partitions[order], sizes[order], self._batch_size)
        counts = np.diff(cuts)
        data, positions = encoder.encode(order, np.arange(len(order)) - np.repeat(cuts[:-1], counts))
        bounds, now = positions[cuts].tolist(), int(time.time() * 1000)
        return [
            EncodedBatch(TopicPartition(topic, partition), data[start:end], count, now)
            for partition, start, end, count in zip(
                partitions[order[cuts[:-1]]].tolist(), bounds[:-1], bounds[1:], counts.tolist(), strict=True
            )
        ]

    def _partitions(self, topic: str, column: Any, encoder: RecordEncoder, sizes: Longs) -> Longs:
        named, highest = None, -1
        if column is not None and column.null_count < len(column):
            if (lowest := pc.min(column).as_py()) < 0:
                raise ValueError(f"Invalid partition: {lowest}. Partition number should always be non-negative or null.")
            named, highest = column.fill_null(-1).to_numpy().astype(np.int64), pc.max(column).as_py()
        count = self._producer.partition_count(topic, highest + 1)
        if topic not in self._partitioners:
            self._partitioners[topic] = Partitioner(self._producer.config.batch_size, random.Random())
        return self._partitioners[topic].partitions(named, encoder.key, sizes, count)


def _check_sizes(sizes: Longs, most: int) -> None:
    size = int(sizes.max()) + HEADER.size
    if size > most:
        raise ValueError(
            f"The message is {size} bytes when serialized which is larger than {most}, "
            "which is the value of the option 'kafka.max.request.size'."
        )


def _cuts(partitions: Longs, sizes: Longs, batch_size: int) -> Longs:
    """Returns the positions at which batches begin, and the end of the last one.

    A batch has records of one partition, and at most `batch_size` bytes unless a single record is larger.
    """
    ends = np.cumsum(sizes)
    cuts = [0]
    for end in [*(np.flatnonzero(np.diff(partitions)) + 1).tolist(), len(sizes)]:
        while cuts[-1] < end:
            full = np.searchsorted(ends, ends[cuts[-1]] - sizes[cuts[-1]] + batch_size, "right")
            cuts.append(min(max(int(full), cuts[-1] + 1), end))
    return np.array(cuts, np.int64)
