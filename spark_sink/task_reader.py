"""Reads ranges of offsets into Arrow, and decides what is a loss of data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .client import EARLIEST, KafkaClient, TopicPartition
from .decoder import Decoder
from .error_conditions import could_not_read
from .fetcher import OffsetOutOfRange, Span, fetch
from .offset_ranges import OffsetRange


def read_ranges(client: KafkaClient, ranges: Sequence[OffsetRange], schema: Any, *, fail_on_data_loss: bool) -> Iterator[Any]:
    """`pyarrow.RecordBatch`es of `schema` with all records of the ranges that the logs still have, in order for each partition.

    Raises KafkaCondition where a log has not, or no longer, and `fail_on_data_loss`; KafkaError, OSError, InvalidRecords.
    """
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
            _skip_what_is_lost(client, left, error.partition)
    if again := [one for one in ranges if wanted[one.partition] is not one]:
        yield from read_ranges(client, again, schema, fail_on_data_loss=fail_on_data_loss)


def _skip_what_is_lost(client: KafkaClient, left: dict[TopicPartition, Span], partition: TopicPartition) -> None:
    earliest = client.list_offsets({partition: EARLIEST})[partition]
    start, end = left.pop(partition)
    if earliest > start:  # otherwise it is the end that is not there
        left[partition] = Span(earliest, end)
