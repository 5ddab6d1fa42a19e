"""Sends record batches to the leaders of their partitions, across broker restarts and leader changes.

Up to five requests of a connection are in flight while the caller makes more batches. After any failure, all batches that are not
acknowledged are sent again in the same order and with the same sequence numbers. An idempotent producer therefore appends each batch once
and in order, because brokers detect the sequence numbers of batches that they already have (KIP-98).

The first batch of a partition is a special case, because a log without batches of this producer accepts any sequence number. If the first
batch were lost and the second were appended, the first could not be appended any more. Therefore no other batch is sent to a partition
before its first batch is acknowledged (`_has_to_wait`).
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import NamedTuple

from ..protocol.batches.compression import Compression, compress
from ..protocol.batches.records import HEADER, PREFIX_SIZE, BatchHeader, write_crc
from ..protocol.client.connection import ClientConnection, TopicPartition
from ..protocol.client.line import Address
from ..protocol.errors import ErrorCode, KafkaError
from ..protocol.messages.init_producer_id import INIT_PRODUCER_ID, InitProducerIdRequest
from ..protocol.messages.produce import PRODUCE, PartitionProduceData, ProduceRequest, TopicProduceData
from .client import ClientConfig, KafkaClient, RetryTimer, broker_error

ALL_REPLICAS = -1
MAX_IN_FLIGHT = 5
"""Requests per connection: brokers keep the sequence numbers of the last five batches of a producer."""
COUNTS_VALID_S = 300
"""How long a partition count is cached; the default of Kafka's metadata.max.age.ms."""
LARGEST_SEQUENCE = (1 << 31) - 1


@dataclass(frozen=True)
class ProducerConfig:
    """The settings of Kafka's producer that have an effect here; sizes are in bytes."""

    client: ClientConfig
    acks: int = ALL_REPLICAS
    idempotent: bool = True
    compression: Compression = Compression.NONE
    compression_level: int | None = None
    batch_size: int = 128 << 10
    max_request_size: int = 1 << 20
    delivery_timeout_ms: int = 120_000
    max_block_ms: int = 60_000


class EncodedBatch(NamedTuple):
    """The uncompressed records of one batch. All have the same `timestamp`, in milliseconds."""

    partition: TopicPartition
    records: memoryview
    records_count: int
    timestamp: int


class _Batch(NamedTuple):
    number: int
    partition: TopicPartition
    data: bytearray


class _Link:
    """A connection, and the batches of each request whose response is outstanding."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection, self.broken = connection, False
        self.in_flight: deque[list[_Batch]] = deque()

    @contextmanager
    def broken_by_failure(self) -> Iterator[ClientConnection]:
        """Closes the connection after an error, because a request or a response may be incomplete. No response is awaited any more."""
        try:
            yield self.connection
        except BaseException:
            self.connection.close()
            self.broken = True
            self.in_flight.clear()
            raise


_idle: dict[ProducerConfig, BatchProducer] = {}


@contextmanager
def producer_for(config: ProducerConfig) -> Iterator[BatchProducer]:
    """Lends this process's producer for a config to one user at a time.

    The producer keeps its id and connections for the next user when no exception was raised.
    """
    producer = _idle.pop(config, None) or BatchProducer(config)
    try:
        yield producer
    except BaseException:
        producer.close()
        raise
    _idle[config] = producer


class BatchProducer:
    """A blocking producer. It cannot be used after one of its methods has raised."""

    def __init__(self, config: ProducerConfig) -> None:
        self.config = config
        self._client = KafkaClient(config.client)
        self._links: dict[Address, _Link] = {}
        self._counts: dict[str, tuple[int, float]] = {}
        self._id, self._epoch = -1, -1
        self._sequences: defaultdict[TopicPartition, int] = defaultdict(int)
        self._last_number = 0
        self._unsent: list[_Batch] = []
        self._unacknowledged: dict[int, _Batch] = {}
        self._appended_to: set[TopicPartition] = set()

    def close(self) -> None:
        """Closes the connections."""
        while self._links:
            self._links.popitem()[1].connection.close()
        self._client.close()

    def partition_count(self, topic: str, needed: int = 1) -> int:
        """Returns the number of partitions of a topic, once it has at least `needed`. Raises TimeoutError, KafkaError."""
        count, valid_until = self._counts.get(topic, (0, 0.0))
        if count >= needed and time.monotonic() < valid_until:
            return count

        def request_count() -> int:
            nonlocal count
            count = self._client.partition_count(topic)
            if count < needed:
                raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{topic} has {count} partitions")
            return count

        try:
            self._client.retry(request_count, self.config.max_block_ms)
        except (OSError, KafkaError) as error:
            if isinstance(error, KafkaError) and not error.code.retriable:
                raise
            missing = f"Partition {needed - 1} of topic {topic} with partition count {count} is" if count else f"Topic {topic}"
            raise TimeoutError(f"{missing} not present in metadata after {self.config.max_block_ms} ms.") from error
        self._counts[topic] = count, time.monotonic() + COUNTS_VALID_S
        return count

    def send(self, batches: Sequence[EncodedBatch]) -> None:
        """Sends batches; returns when all are sent. Raises KafkaError or OSError when the delivery timeout has passed."""
        if batches and self.config.idempotent and self._id < 0:
            self._id, self._epoch = self._client.retry(self._new_id, self.config.max_block_ms)
        self._unsent = [self._batch(encoded) for encoded in batches]
        self._unacknowledged.update((batch.number, batch) for batch in self._unsent)
        self._send_unsent(finish=False)

    def flush(self) -> None:
        """Returns when all batches are acknowledged. Raises KafkaError or OSError when the delivery timeout has passed."""
        self._send_unsent(finish=True)

    def _new_id(self) -> tuple[int, int]:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=(1 << 31) - 1)
        response = self._client.call_any_broker(INIT_PRODUCER_ID, request)
        if response.error_code:
            raise broker_error(response.error_code, "InitProducerId")
        return response.producer_id, response.producer_epoch

    def _batch(self, encoded: EncodedBatch) -> _Batch:
        config, sequence = self.config, -1
        if config.idempotent:
            sequence = self._sequences[encoded.partition]
            self._sequences[encoded.partition] = sequence + encoded.records_count & LARGEST_SEQUENCE
        records: bytes | memoryview = encoded.records
        if config.compression:
            records = compress(config.compression, bytes(records), config.compression_level)
        header = BatchHeader(
            base_offset=0,
            batch_length=HEADER.size - PREFIX_SIZE + len(records),
            partition_leader_epoch=-1,
            magic=2,
            crc=0,
            attributes=config.compression,
            last_offset_delta=encoded.records_count - 1,
            base_timestamp=encoded.timestamp,
            max_timestamp=encoded.timestamp,
            producer_id=self._id,
            producer_epoch=self._epoch,
            base_sequence=sequence,
            records_count=encoded.records_count,
        )
        data = bytearray(HEADER.pack(*header))
        data += records
        write_crc(data)
        self._last_number += 1
        return _Batch(self._last_number, encoded.partition, data)

    def _send_unsent(self, *, finish: bool) -> None:
        retry_timer = RetryTimer(self.config.delivery_timeout_ms)
        while self._unsent or (finish and self._unacknowledged):
            try:
                for leader, request in list(self._requests()):
                    self._send(leader, request, retry_timer)
                self._unsent = []
                for link in list(self._links.values()) if finish else ():
                    while link.in_flight:
                        self._acknowledge(link, retry_timer)
            except (OSError, KafkaError) as error:
                self._drain(retry_timer)
                self._unsent = list(self._unacknowledged.values())
                self._client.forget_leaders()
                self._counts.clear()
                retry_timer.wait_after(error)

    def _requests(self) -> Iterator[tuple[Address, list[_Batch]]]:
        """Groups the unsent batches into requests to one leader each, with at most one batch of a partition, within max.request.size."""
        requests: defaultdict[Address, list[list[_Batch]]] = defaultdict(list)
        following: defaultdict[TopicPartition, int] = defaultdict(int)
        for batch in self._unsent:
            of_leader, number = requests[self._client.leader(batch.partition)], following[batch.partition]
            while number < len(of_leader) and sum(len(other.data) for other in [*of_leader[number], batch]) > self.config.max_request_size:
                number += 1
            if number == len(of_leader):
                of_leader.append([])
            of_leader[number].append(batch)
            following[batch.partition] = number + 1
        for leader, of_leader in requests.items():
            for request in of_leader:
                yield leader, request

    def _send(self, leader: Address, batches: list[_Batch], retry_timer: RetryTimer) -> None:
        if leader not in self._links:
            self._links[leader] = _Link(self._client.connect(leader))
        link = self._links[leader]
        while self._has_to_wait(link, batches):
            self._acknowledge(link, retry_timer)
        topics: dict[str, list[PartitionProduceData]] = {}
        for batch in batches:
            topics.setdefault(batch.partition.topic, []).append(PartitionProduceData(index=batch.partition.partition, records=batch.data))
        request = ProduceRequest(
            transactional_id=None,
            acks=self.config.acks,
            timeout_ms=self.config.client.request_timeout_ms,
            topic_data=[TopicProduceData(name=name, partition_data=partitions) for name, partitions in topics.items()],
        )
        with link.broken_by_failure() as connection:
            connection.send(PRODUCE, request)
        link.in_flight.append(batches)

    def _has_to_wait(self, link: _Link, batches: list[_Batch]) -> bool:
        """Returns whether the connection is full, or the first batch of one of the partitions is still in flight (see the module)."""
        new = {batch.partition for batch in batches} - self._appended_to
        return len(link.in_flight) >= MAX_IN_FLIGHT or any(batch.partition in new for request in link.in_flight for batch in request)

    def _acknowledge(self, link: _Link, retry_timer: RetryTimer) -> None:
        """Receives the next response and records which batches it acknowledges. Raises the first error in it afterwards."""
        with link.broken_by_failure() as connection:
            response = connection.receive()
        batches = {batch.partition: batch for batch in link.in_flight.popleft()}
        failure: KafkaError | None = None
        for topic in response.responses:
            for data in topic.partition_responses:
                partition = TopicPartition(topic.name, data.index)
                if data.error_code in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
                    del self._unacknowledged[batches[partition].number]
                    self._appended_to.add(partition)
                    retry_timer.renew()
                else:
                    failure = failure or broker_error(
                        data.error_code, f"{partition}{': ' * bool(data.error_message)}{data.error_message or ''}"
                    )
        if failure:
            raise failure

    def _drain(self, retry_timer: RetryTimer) -> None:
        """Receives all outstanding responses, and removes the connections that failed."""
        for address, link in list(self._links.items()):
            while link.in_flight:
                with suppress(OSError, KafkaError):
                    self._acknowledge(link, retry_timer)
            if link.broken:
                del self._links[address]
