"""The work of a task that reads log directories: finds the batches of its ranges in the files, and decodes them to Arrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..protocol.client.connection import TopicPartition
from ..protocol.messages.fetch import AbortedTransaction
from ..storage.directories.batch_files import OffsetsNotStored, read_batches
from ..storage.transaction_index import EndedTransaction
from .batches import Batches
from .client import ClientConfig
from .decoder import Decoder
from .error_conditions import could_not_read


class StoredRange(NamedTuple):
    """The offsets of a partition from `start` to `end` (exclusive), its folder, and the aborted transactions to leave out."""

    partition: TopicPartition
    start: int
    end: int
    folder: Path
    aborted: list[EndedTransaction]


def read_stored_ranges(ranges: Sequence[StoredRange], config: ClientConfig, schema: Any, *, fail_on_data_loss: bool) -> Iterator[Any]:
    """Yields `pyarrow.RecordBatch`es of `schema` with all records of the ranges that are still in the files, in order within each range.

    Raises KafkaCondition when records of a range are missing and `fail_on_data_loss` is set; DamagedFile, CorruptBatch, InvalidRecords,
    OSError.
    """
    for wanted in ranges:
        left: StoredRange | None = wanted
        while left is not None:
            start = left.start
            try:
                for batches in _batches(left, config):
                    yield from Decoder(schema, *wanted.partition).decode(batches, left.start, left.end, _aborted_in(batches, left.aborted))
                    start = int(batches.last_offsets[-1]) + 1
                left = None
            except OffsetsNotStored as error:
                if fail_on_data_loss:
                    raise could_not_read(wanted.partition, start, wanted.end) from error
                left = None if error.following is None or error.following >= wanted.end else wanted._replace(start=error.following)


def _batches(wanted: StoredRange, config: ClientConfig) -> Iterator[Batches]:
    for view in read_batches(wanted.folder, wanted.start, wanted.end, config.max_partition_fetch_bytes):
        batches = Batches.of(view)
        if config.check_crcs:
            batches.check_crcs()
        yield batches


def _aborted_in(batches: Batches, aborted: Sequence[EndedTransaction]) -> list[AbortedTransaction]:
    """Returns the transactions that have not ended before these batches, as a broker does for a fetch."""
    first = int(batches.base_offsets[0])
    left = (each for each in aborted if each.last_offset >= first)
    return [AbortedTransaction(producer_id=each.producer_id, first_offset=each.first_offset) for each in left]
