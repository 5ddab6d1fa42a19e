"""Batches, records and partitions in a request or a response, as far as the record contains them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ....protocol.batches.records import CRC_START, HEADER, PREFIX_SIZE, BatchHeader, Record, RecordBatch
from ....protocol.schema import ProtocolError
from ..exchange import Exchange

MAX_DECOMPRESSED_BYTES = 1024 * 1024
"""A batch that is larger when it is decompressed is not read."""


class FirstBatch(NamedTuple):
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


def batches_of(exchange: Exchange) -> Iterator[FirstBatch]:
    """Yields the first batch for each partition of a Produce request."""
    request = exchange.partial_request
    for topic in getattr(request, "topic_data", ()):
        name = topic.name or exchange.topic_names.get(topic.topic_id, "")
        for partition in topic.partition_data:
            for header in headers(partition.records):
                yield FirstBatch(name, partition.index, header)
                break


class SentRecord(NamedTuple):
    """A record in a Produce request."""

    topic: str
    record: Record


def records_of(exchange: Exchange) -> Iterator[SentRecord]:
    """Yields the records of a Produce request up to the first of each batch that is not complete in the record of the cluster."""
    request = exchange.partial_request
    for topic in getattr(request, "topic_data", ()):
        name = topic.name or exchange.topic_names.get(topic.topic_id, "")
        for partition in topic.partition_data:
            yield from (SentRecord(name, record) for record in _records_in(partition.records))


def _records_in(records: Any) -> Iterator[Record]:
    data, position = memoryview(b"" if records is None else bytes(records)), 0
    for header in headers(data):
        try:
            yield from RecordBatch(data[position : position + header.size]).records(MAX_DECOMPRESSED_BYTES)
        except (ProtocolError, UnicodeDecodeError):
            return
        position += header.size


class NamedPartition(NamedTuple):
    """A partition of a message, with the name of its topic."""

    topic: str
    number: int
    fields: Any

    @property
    def key(self) -> tuple[str, int]:
        return self.topic, self.number


def partitions_of(topics: Iterable[Any] | None, exchange: Exchange) -> Iterator[NamedPartition]:
    """Yields the partitions of topics in a request or a response of an exchange. A topic id without a known name gives ""."""
    for topic in topics or ():
        name = getattr(topic, "name", "") or getattr(topic, "topic", "") or exchange.topic_names.get(getattr(topic, "topic_id", b""), "")
        for partition in topic.partitions:
            index = getattr(partition, "partition_index", None)
            yield NamedPartition(name, partition.partition if index is None else index, partition)


def fetches_of(exchange: Exchange) -> dict[tuple[str, int], tuple[Any, Any]]:
    """Returns the partitions of a Fetch with their parts of the request and of the response, as far as both name them."""
    response: Any = exchange.partial_response
    asked = {each.key: each.fields for each in partitions_of(getattr(exchange.partial_request, "topics", None), exchange)}
    answered = partitions_of(getattr(response, "responses", None), exchange)
    return {each.key: (asked[each.key], each.fields) for each in answered if each.key in asked}
