"""The records in a log, with the state of their transactions, and how many of them consumers can read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from ..frozen_data import FrozenData
from ..plurals import counted

if TYPE_CHECKING:
    from ..network.server import Server
    from ..topics.partition import Partition

TransactionState = Literal["open", "committed", "aborted"]


class DecodedData(FrozenData):
    """A key or value with the id of a schema. `data` is its JSON; if it is None, `error` says why.

    `subjects` are those that have the schema, and `schema_type` is "AVRO", "JSON" or "PROTOBUF", None if the registry does not have the id.
    """

    schema_id: int
    schema_type: str | None
    subjects: list[str]
    data: str | None
    error: str | None


class Record(FrozenData):
    """A stored record. `timestamp` is in ms since 1970; `transaction` is None for a record outside of transactions."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    transaction: TransactionState | None = None


class DecodedRecord(Record):
    """A stored record with what its key and value are by their schemas, None for data that do not begin with the id of a schema."""

    decoded_key: DecodedData | None = None
    decoded_value: DecodedData | None = None


def records_of(partition: Partition, batch: memoryview) -> list[Record]:
    """Returns the records of a stored batch; none for a transaction marker."""
    from ...protocol.batches.records import RecordBatch

    stored = RecordBatch(batch)
    header = stored.header
    if header.is_control:
        return []
    state: TransactionState | None = None
    if header.is_transactional:
        committed = partition.producers.is_committed(header.producer_id, header.base_offset)
        state = "open" if committed is None else "committed" if committed else "aborted"
    return [
        Record(partition.topic.name, partition.index, each.offset, each.timestamp, each.key, each.value, tuple(each.headers), state)
        for each in stored.records()
    ]


class RecordCounts:
    """Counts the records of a topic that read_committed consumers can read, and reads each batch once.

    A batch is counted when the last stable offset has passed it, because its transaction has then ended.
    """

    def __init__(self, server: Callable[[], Server], topic: str) -> None:
        self._server, self._topic = server, topic
        self._topic_id = b""
        self._counted: dict[int, tuple[int, int]] = {}
        """Partition -> (the offset up to which its records are counted, their number)."""

    def total(self) -> int:
        topic = self._server().cluster.topics.get(self._topic)
        if topic is None or topic.id != self._topic_id:
            self._topic_id, self._counted = topic.id if topic else b"", {}
        for partition in topic.partitions if topic else ():
            self._count(partition)
        return sum(number for _, number in self._counted.values())

    def _count(self, partition: Partition) -> None:
        end, number = self._counted.get(partition.index, (0, 0))
        log, stable = partition.log, partition.last_stable_offset
        if end > log.end_offset or end < log.start_offset:
            end, number = log.start_offset, 0  # truncated or deleted records are not there any more
        for batch in log.batches(end, stable):
            number += sum(record.transaction != "aborted" and record.offset >= end for record in records_of(partition, batch))
        self._counted[partition.index] = (max(end, stable), number)

    def missing(self, n: int) -> str:
        """Returns what is there instead of `n` records."""
        if self._topic not in self._server().cluster.topics:
            return f"topic {self._topic!r} does not exist, so it has 0 of {counted(n, 'record')}"
        counts = ", ".join(f"{number} in partition {index}" for index, (_, number) in self._counted.items())
        return f"topic {self._topic!r} has {self.total()} of {counted(n, 'record')}: {counts}"
