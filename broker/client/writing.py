"""Writes records with Produce, as an idempotent producer (KIP-98), so that a request that is sent again does not write them twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any, NamedTuple

from ...protocol.batches.compression import Compression
from ...protocol.batches.record_builder import build_batch
from ...protocol.batches.records import Record
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


class _QueuedBatch(NamedTuple):
    rows: list[Record]
    data: bytes


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
        self._bytes = 0
        self._turns = count()
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

    def flush(self) -> None:
        """Writes all records that were added. Returns when they have been acknowledged."""
        queues = {target: list(self._batches(target, rows)) for target, rows in self._waiting.items()}
        self._waiting, self._bytes = {}, 0
        while queues:
            self._write({target: queue[0] for target, queue in queues.items()})
            queues = {target: rest for target, queue in queues.items() if (rest := queue[1:])}

    def _partition(self, topic: str, partition: int | None, key: bytes | None) -> int:
        if topic not in self._partitions:
            (found,) = self._client.topics([topic], create=True)
            self._partitions[topic] = len(found.partitions)
            self._leaders |= self._client.leaders([found])
        number = self._partitions[topic]
        if partition is None:
            return next(self._turns) % number if key is None else partition_of(key, number)
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
            yield _QueuedBatch(part, self._build(target, part))

    def _build(self, target: TopicPartition, rows: list[Record]) -> bytes:
        if self._producer is None:
            self._producer = self._client.retry(self._init)
        sequence = self._sequences.get(target, 0)
        self._sequences[target] = (sequence + len(rows)) % SEQUENCES
        return bytes(
            build_batch(
                rows,
                compression=self._compression,
                producer_id=self._producer.producer_id,
                producer_epoch=self._producer.producer_epoch,
                base_sequence=sequence,
            )
        )

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
                    self._on_written(Written(*target, each.base_offset, len(missing.pop(target).rows)))
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


def _reason(answer: Any) -> str | None:
    """Returns why a batch was refused: the broker's words about its first record, or about the whole batch."""
    messages = [each.batch_index_error_message for each in answer.record_errors]
    return messages[0] if messages and messages[0] else answer.error_message  # type: ignore[no-any-return]
