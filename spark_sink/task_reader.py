"""The work of one reading task: fetches ranges of offsets, decodes them to Arrow and detects lost records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..protocol.client.connection import TopicPartition
from .client import EARLIEST, KafkaClient
from .decoder import Decoder
from .error_conditions import could_not_read
from .fetcher import OffsetOutOfRange, Span, fetch
from .offset_ranges import OffsetRange


def read_ranges(client: KafkaClient, ranges: Sequence[OffsetRange], schema: Any, *, fail_on_data_loss: bool) -> Iterator[Any]:
    """Yields `pyarrow.RecordBatch`es of `schema` with all records of the ranges that are still in the logs, in order within each partition.

    Raises KafkaCondition when records of a range are not in the log and `fail_on_data_loss` is set; KafkaError, OSError, InvalidRecords.
    """
    # A partition may have several ranges (minPartitions): the first of each is read here, the others by the recursive call at the end.
    wanted = {one.partition: one for one in reversed(ranges)}
    decoders = {partition: Decoder(schema, *partition) for partition in wanted}
    left = {partition: Span(one.start, one.end) for partition, one in wanted.items()}
    while left:
        try:
            for partition, batches, aborted, next_offset in fetch(client, left):
                start, end = left[partition]
                yield from decoders[partition].decode(batches, start, end, aborted)
                left[partition] = Span(next_offset, end)
            break
        except OffsetOutOfRange as error:
            if fail_on_data_loss:
                raise could_not_read(error.partition, *left[error.partition]) from error
            _skip_lost_records(client, left, error.partition)
    if again := [one for one in ranges if wanted[one.partition] is not one]:
        yield from read_ranges(client, again, schema, fail_on_data_loss=fail_on_data_loss)


def _skip_lost_records(client: KafkaClient, left: dict[TopicPartition, Span], partition: TopicPartition) -> None:
    """Moves the start of a partition to the first record that is left, or drops the partition when its end lies beyond the log."""
    earliest = client.list_offsets({partition: EARLIEST})[partition]
    start, end = left.pop(partition)
    if earliest > start:
        left[partition] = Span(earliest, end)
