"""Reads one range of offsets into Arrow, and decides what is a loss of data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..protocol.errors import ErrorCode, KafkaError
from .client import EARLIEST, KafkaClient
from .conditions import could_not_read
from .decoder import Decoder
from .planning import OffsetRange


def read_range(client: KafkaClient, wanted: OffsetRange, schema: Any, *, fail_on_data_loss: bool) -> Iterator[Any]:
    """`pyarrow.RecordBatch`es of `schema` with all records of the range that the log still has.

    Raises KafkaCondition where it has not, or no longer, and `fail_on_data_loss`; KafkaError, OSError, InvalidRecords.
    """
    decoder = Decoder(schema, *wanted.partition)
    position = wanted.start
    while position < wanted.end:
        try:
            for fetched in client.read(wanted.partition, position, wanted.end):
                yield from decoder.decode(fetched.batches, position, wanted.end, fetched.aborted)
                position = fetched.next_offset
            return
        except KafkaError as error:
            if error.code != ErrorCode.OFFSET_OUT_OF_RANGE:
                raise
            if fail_on_data_loss:
                raise could_not_read(wanted.partition, wanted.start, wanted.end) from error
        earliest = client.list_offsets({wanted.partition: EARLIEST})[wanted.partition]
        if earliest <= position:
            return  # it is the end that is not there
        position = earliest
