"""Reads records with Fetch, from all leaders at the same time, and leaves out aborted transactions (KIP-98)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from ...protocol.batches.record_builder import ABORT
from ...protocol.batches.records import Record, RecordBatch, batches
from ...protocol.batches.value_blocks import values_of
from ...protocol.client.connection import TopicPartition
from ...protocol.errors import ErrorCode
from ...protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from .cluster_client import ClientError, ClusterClient, check
from .offsets import READ_COMMITTED, Offsets

MAX_WAIT_MS = 500
MAX_BYTES, PARTITION_BYTES = 16 << 20, 1 << 20


class Reader:
    """Reads partitions from given offsets on. `positions` are the offsets of the next records, and `ends` those at which to stop.

    Without ends it reads until it is closed. Records of open and aborted transactions are left out if `isolation_level` says so.
    """

    def __init__(
        self, client: ClusterClient, leaders: Mapping[TopicPartition, int], positions: Offsets, ends: Offsets | None, isolation_level: int
    ) -> None:
        self._client = client
        self._leaders = dict(leaders)
        self._ends = ends
        self._isolation_level = isolation_level
        self.positions = positions

    @property
    def pending(self) -> list[TopicPartition]:
        """The partitions whose end has not been reached."""
        return [each for each, offset in self.positions.items() if self._ends is None or offset < self._ends[each]]

    @property
    def is_complete(self) -> bool:
        """Whether all ends have been reached."""
        return self._ends is not None and not self.pending

    @property
    def remaining(self) -> int | None:
        """The number of offsets before the ends, None without ends."""
        return None if self._ends is None else sum(self._ends[each] - self.positions[each] for each in self.pending)

    def poll(self) -> Iterator[tuple[TopicPartition, Record]]:
        """Yields the records of one round of requests. After each record, `positions` is the offset behind it."""
        for partition, batch in self.poll_batches():
            for record in self._records(partition, batch):
                yield partition, record

    def poll_values(self, limit: int | None) -> Iterator[Sequence[bytes | None]]:
        """Yields the values of at most `limit` records of one round of requests, in blocks. After each block, `positions` is behind it."""
        for partition, batch in self.poll_batches():
            values = self._values(partition, batch, limit)
            yield values
            limit = None if limit is None else limit - len(values)
            if limit == 0:
                break

    def poll_batches(self) -> Iterator[tuple[TopicPartition, RecordBatch]]:
        """Yields the batches of one round of requests, which wait for up to half a second if there are none."""
        for topic, found in self._client.retry(self._fetch, self._find_leaders):
            partition = TopicPartition(topic, found.partition_index)
            if found.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
                problem = f"{self.positions[partition]} is not in the log any more; begin again, for example with --from earliest"
                raise ClientError(f"partition {partition.partition} of {topic}: the offset {problem}")
            check(found.error_code, f"partition {partition.partition} of {topic}")
            for batch in _visible(found, self._isolation_level):
                if not batch.crc_valid():
                    raise ClientError(
                        f"partition {partition.partition} of {topic}: the batch at offset {batch.header.base_offset} is damaged"
                    )
                yield partition, batch
            self.positions[partition] = max(self.positions[partition], _end(found))

    def _fetch(self) -> list[tuple[str, Any]]:
        """Returns the partitions of all responses. Raises KafkaError if one has an error that passes by itself."""
        responses = self._client.all_at_once(FETCH, self._requests())
        found = [(topic.topic, each) for response in responses.values() for topic in response.responses for each in topic.partitions]
        for topic, each in found:
            if ErrorCode(each.error_code).retriable:
                check(each.error_code, f"partition {each.partition_index} of {topic}")
        return found

    def _find_leaders(self) -> None:
        self._leaders = self._client.leaders(self._client.topics({each.topic for each in self.positions}))

    def _requests(self) -> dict[int, FetchRequest]:
        requests: dict[int, FetchRequest] = {}
        for partition in self.pending:
            request = requests.setdefault(
                self._leaders[partition],
                FetchRequest(max_wait_ms=MAX_WAIT_MS, min_bytes=1, max_bytes=MAX_BYTES, isolation_level=self._isolation_level, topics=[]),
            )
            if not request.topics or request.topics[-1].topic != partition.topic:
                request.topics.append(FetchTopic(topic=partition.topic, partitions=[]))
            request.topics[-1].partitions.append(
                FetchPartition(partition=partition.partition, fetch_offset=self.positions[partition], partition_max_bytes=PARTITION_BYTES)
            )
        return requests

    def _records(self, partition: TopicPartition, batch: RecordBatch) -> Iterator[Record]:
        for record in batch.records():
            if self._is_wanted(partition, record.offset):
                self.positions[partition] = record.offset + 1
                yield record

    def _values(self, partition: TopicPartition, batch: RecordBatch, limit: int | None) -> Sequence[bytes | None]:
        header = batch.header
        is_whole = self._is_wanted(partition, header.base_offset) and self._is_wanted(partition, header.last_offset)
        if is_whole and (limit is None or header.records_count <= limit):
            values = values_of(batch)
            self.positions[partition] = header.last_offset + 1
            return values
        return [record.value for record in islice(self._records(partition, batch), limit)]

    def _is_wanted(self, partition: TopicPartition, offset: int) -> bool:
        return offset >= self.positions[partition] and (self._ends is None or offset < self._ends[partition])


def _end(found: Any) -> int:
    """Returns the offset behind the last whole batch, even if compaction has removed its last records."""
    return max((batch.header.last_offset + 1 for batch in batches(found.records or b"")), default=-1)


def _visible(found: Any, isolation_level: int) -> Iterator[RecordBatch]:
    """Yields the batches with records for a consumer: neither markers nor aborted transactions (Kafka's CompletedFetch)."""
    waiting = sorted(found.aborted_transactions or (), key=lambda each: int(each.first_offset), reverse=True)
    aborted: set[int] = set()
    for batch in batches(found.records or b""):
        header = batch.header
        while waiting and waiting[-1].first_offset <= header.last_offset:
            aborted.add(waiting.pop().producer_id)
        if header.is_control:
            if _is_abort(batch):
                aborted.discard(header.producer_id)
        elif not (isolation_level == READ_COMMITTED and header.is_transactional and header.producer_id in aborted):
            yield batch


def _is_abort(batch: RecordBatch) -> bool:
    """Returns whether the marker of a control batch aborts a transaction. Its key is a version and a type, both int16."""
    return any(int.from_bytes((record.key or b"")[2:4], "big") == ABORT and len(record.key or b"") >= 4 for record in batch.records())
