"""The headers of the batches in a request or a response, as far as the record contains them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ....protocol.batches.records import CRC_START, HEADER, PREFIX_SIZE, BatchHeader
from ..exchange import Exchange


class Sent(NamedTuple):
    """The first batch for a partition in a Produce request."""

    topic: str
    partition: int
    header: BatchHeader


def headers(records: Any) -> Iterator[BatchHeader]:
    """Yields the headers of batches of format 2 in bytes that may be damaged or cut off."""
    data, position = memoryview(b"" if records is None else bytes(records)), 0
    while position + HEADER.size <= len(data):
        header = BatchHeader(*HEADER.unpack_from(data, position))
        if header.magic != 2 or header.size < CRC_START + PREFIX_SIZE:
            return
        yield header
        position += header.size


def sent_batches(exchange: Exchange) -> Iterator[Sent]:
    """Yields the first batch for each partition of a Produce request."""
    request = exchange.partial_request
    for topic in getattr(request, "topic_data", ()):
        name = topic.name or exchange.topic_names.get(topic.topic_id, "")
        for partition in topic.partition_data:
            for header in headers(partition.records):
                yield Sent(name, partition.index, header)
                break
