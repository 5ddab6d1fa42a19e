"""Writes records with Produce, as an idempotent producer (KIP-98), so that a request that is sent again does not write them twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from ...protocol.batches.compression import Compression
from ...protocol.batches.record_builder import build_batch, seal_batch
from ...protocol.batches.records import BatchHeader, Record
from ...protocol.batches.value_blocks import encode_values
from ...protocol.client.connection import TopicPartition
from ...protocol.messages.init_producer_id import INIT_PRODUCER_ID, InitProducerIdRequest
from ...protocol.messages.produce import PRODUCE, PartitionProduceData, ProduceRequest, TopicProduceData
from ..kafka_quirks.java_hash import partition_of
from ..seed_data.entries import SeedRecord
from .cluster_client import ClientError, ClusterClient, check

BATCH_BYTES, BATCH_RECORDS, WAITING_BYTES = 256 << 10, 10_000, 4 << 20
RECORD_OVERHEAD = 20
ALL_REPLICAS = -1
PRODUCE_TIMEOUT_MS = 10_000
SEQUENCES = 1 << 31


class Written(NamedTuple):
    """The place of a batch that has been written."""

    topic: str
    partition: int
    base_offset: int
    records: int


class Common(NamedTuple):
    """The common fields of records that differ only in their values. Without a partition, the key chooses it."""

    topic: str
    partition: int | None
    key: bytes | None
    headers: Sequence[tuple[str, bytes | None]]


class _QueuedBatch(NamedTuple):
    records: int
    data: bytes | bytearray


class Writer:
    """Collects records and writes them in batches. `on_written` is called for each batch that a broker has acknowledged.

    Without a partition, the key chooses it as in Kafka's Java client, and records without a key take turns.
    """

    def __init__(self, client: ClusterClient, compression: Compression, on_written: Callable[[Written], None]) -> None:
        self._client = client
        self._compression = compression
        self._on_written = on_written
        self._leaders: dict[TopicPartition, int] = {}
        self._partitions: dict[str, int] = {}
        self._waiting: dict[TopicPartition, list[Record]] = {}
        self._queues: dict[TopicPartition, list[_QueuedBatch]] = {}
        self._bytes = 0
        self._turn = 0
        """The number of records that took turns over the partitions so far."""
        self._producer: Any = None
        self._sequences: dict[TopicPartition, int] = {}

    def write(self, record: SeedRecord) -> None:
        """Adds a record, by default with the present time. Raises ClientError for a partition that the topic does not have."""
        target = TopicPartition(record.topic, self._partition(record.topic, record.partition, record.key))
        timestamp = round(time.time() * 1000) if record.timestamp is None else record.timestamp
        self._waiting.setdefault(target, []).append(Record(0, timestamp, record.key, record.value, list(record.headers)))
        self._bytes += len(record.key or b"") + len(record.value or b"") + RECORD_OVERHEAD
        if self._bytes >= WAITING_BYTES:
            self.flush()

    def write_values(self, values: Sequence[bytes], common: Common) -> None:
        """Adds records with the present time that differ only in their values. Raises ClientError as `write` does."""
        self._queue_waiting()
        timestamp = round(time.time() * 1000)
        for target, part in self._shares(values, common).items():
            overhead = RECORD_OVERHEAD + len(common.key or b"")
            for batch in _parts(part, overhead):
                data = self._build_values(target, batch, timestamp, common)
                self._queues.setdefault(target, []).append(_QueuedBatch(len(batch), data))
                self._bytes += len(data)
        if self._bytes >= WAITING_BYTES:
            self.flush()

    def _shares(self, values: Sequence[bytes], common: Common) -> dict[TopicPartition, Sequence[bytes]]:
        """Returns the values of each partition."""
        if common.partition is not None or common.key is not None:
            return {TopicPartition(common.topic, self._partition(common.topic, common.partition, common.key)): values}
        first, number = self._turn, self._number_of_partitions(common.topic)
        self._turn += len(values)
        shares = {TopicPartition(common.topic, index): values[(index - first) % number :: number] for index in range(number)}
        return {target: share for target, share in shares.items() if share}

    def flush(self) -> None:
        """Writes all records that were added. Returns when they have been acknowledged."""
        self._queue_waiting()
        queues, self._queues, self._bytes = self._queues, {}, 0
        while queues:
            self._write({target: queue[0] for target, queue in queues.items()})
            queues = {target: rest for target, queue in queues.items() if (rest := queue[1:])}

    def _queue_waiting(self) -> None:
        waiting, self._waiting = self._waiting, {}
        for target, rows in waiting.items():
            self._queues.setdefault(target, []).extend(self._batches(target, rows))

    def _number_of_partitions(self, topic: str) -> int:
        if topic not in self._partitions:
            (found,) = self._client.topics([topic], create=True)
            self._partitions[topic] = len(found.partitions)
            self._leaders |= self._client.leaders([found])
        return self._partitions[topic]

    def _partition(self, topic: str, partition: int | None, key: bytes | None) -> int:
        number = self._number_of_partitions(topic)
        if partition is None and key is None:
            self._turn += 1
            return (self._turn - 1) % number
        if partition is None:
            return partition_of(key or b"", number)
        if not 0 <= partition < number:
            raise ClientError(f"topic {topic} has the partitions 0 to {number - 1}, not {partition}")
        return partition

    def _batches(self, target: TopicPartition, rows: list[Record]) -> Iterator[_QueuedBatch]:
        """Yields the batches of a partition, each with the sequence number that follows the one before."""
        while rows:
            size, number = 0, 0
            while number < min(len(rows), BATCH_RECORDS) and (size < BATCH_BYTES or not number):
                size += len(rows[number].key or b"") + len(rows[number].value or b"") + RECORD_OVERHEAD
                number += 1
            part, rows = [row._replace(offset=index) for index, row in enumerate(rows[:number])], rows[number:]
            yield _QueuedBatch(number, self._build(target, part))

    def _build(self, target: TopicPartition, rows: list[Record]) -> bytearray:
        sequence = self._next_sequence(target, len(rows))
        return build_batch(
            rows,
            compression=self._compression,
            base_sequence=sequence,
            producer_id=self._producer.producer_id,
            producer_epoch=self._producer.producer_epoch,
        )

    def _build_values(self, target: TopicPartition, values: Sequence[bytes], timestamp: int, common: Common) -> bytearray:
        sequence = self._next_sequence(target, len(values))
        header = BatchHeader(
            base_offset=0,
            batch_length=0,
            partition_leader_epoch=-1,
            magic=2,
            crc=0,
            attributes=self._compression,
            last_offset_delta=len(values) - 1,
            base_timestamp=timestamp,
            max_timestamp=timestamp,
            producer_id=self._producer.producer_id,
            producer_epoch=self._producer.producer_epoch,
            base_sequence=sequence,
            records_count=len(values),
        )
        return seal_batch(header, encode_values(values, common.key, common.headers))

    def _next_sequence(self, target: TopicPartition, records: int) -> int:
        """Returns the sequence number of the next batch of a partition, for which the producer has got its id."""
        if self._producer is None:
            self._producer = self._client.retry(self._init)
        sequence = self._sequences.get(target, 0)
        self._sequences[target] = (sequence + records) % SEQUENCES
        return sequence

    def _init(self) -> Any:
        response = self._client.any(INIT_PRODUCER_ID, InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=0))
        check(response.error_code, "an idempotent producer")
        return response

    def _write(self, batches: Mapping[TopicPartition, _QueuedBatch]) -> None:
        """Writes one batch for each partition. A batch that is not acknowledged is sent again, to the leader of then."""
        missing = dict(batches)

        def write_missing() -> None:
            responses = self._client.all_at_once(PRODUCE, self._requests(missing)).values()
            answers = [(topic.name, each) for response in responses for topic in response.responses for each in topic.partition_responses]
            for name, each in answers:
                if not each.error_code:
                    target = TopicPartition(name, each.index)
                    self._on_written(Written(*target, each.base_offset, missing.pop(target).records))
            for name, each in answers:
                check(each.error_code, f"partition {each.index} of {name}", _reason(each))

        def find_leaders() -> None:
            self._leaders |= self._client.leaders(self._client.topics({each.topic for each in missing}))

        self._client.retry(write_missing, find_leaders)

    def _requests(self, batches: Mapping[TopicPartition, _QueuedBatch]) -> dict[int, ProduceRequest]:
        requests: dict[int, ProduceRequest] = {}
        for (topic, index), batch in batches.items():
            request = requests.setdefault(
                self._leaders[TopicPartition(topic, index)],
                ProduceRequest(acks=ALL_REPLICAS, timeout_ms=PRODUCE_TIMEOUT_MS, topic_data=[]),
            )
            data = PartitionProduceData(index=index, records=memoryview(batch.data))
            request.topic_data.append(TopicProduceData(name=topic, partition_data=[data]))
        return requests


def _parts(values: Sequence[bytes], overhead: int) -> Iterator[Sequence[bytes]]:
    """Yields the values of one batch after the other. Each record takes `overhead` bytes more than its value."""
    first = 0
    while first < len(values):
        part = values[first : first + BATCH_RECORDS]
        ends = accumulate(len(value) + overhead for value in part)
        number = next((number for number, size in enumerate(ends, 1) if size >= BATCH_BYTES), len(part))
        yield part[:number]
        first += number


def _reason(answer: Any) -> str | None:
    """Returns why a batch was refused: the broker's words about its first record, or about the whole batch."""
    messages = [each.batch_index_error_message for each in answer.record_errors]
    return messages[0] if messages and messages[0] else answer.error_message  # type: ignore[no-any-return]
