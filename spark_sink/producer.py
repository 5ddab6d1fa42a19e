"""Produces record batches: to the leaders of their partitions, in order, and with idempotence once each, through restarts and moves.

Up to five requests of a connection are under way while the caller makes more batches. After any failure all that is not acknowledged is
sent again in its old order and with its old sequence numbers, so that brokers recognise what they have already (KIP-98).
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import NamedTuple

from ..protocol.compression import Compression, compress
from ..protocol.errors import ErrorCode, KafkaError
from ..protocol.messages.init_producer_id import INIT_PRODUCER_ID, InitProducerIdRequest
from ..protocol.messages.produce import PRODUCE, PartitionProduceData, ProduceRequest, TopicProduceData
from ..protocol.records import HEADER, PREFIX_SIZE, BatchHeader, write_crc
from .client import ClientConfig, KafkaClient, Patience, TopicPartition, refusal
from .connection import Address, Connection

ALL_REPLICAS = -1
MAX_IN_FLIGHT = 5
"""Requests of a connection: brokers recognise the last five batches of a producer."""
COUNTS_VALID_S = 300
"""Kafka's metadata.max.age.ms: how long a topic is taken to have as many partitions as it had."""
LARGEST_SEQUENCE = (1 << 31) - 1


@dataclass(frozen=True)
class ProducerConfig:
    """Kafka's producer settings, as far as they act here; sizes are bytes."""

    client: ClientConfig
    acks: int = ALL_REPLICAS
    idempotent: bool = True
    compression: Compression = Compression.NONE
    compression_level: int | None = None
    batch_size: int = 128 << 10
    max_request_size: int = 1 << 20
    delivery_timeout_ms: int = 120_000
    max_block_ms: int = 60_000


class Payload(NamedTuple):
    """The records of one batch, uncompressed; `timestamp` is that of all of them, in milliseconds."""

    partition: TopicPartition
    records: memoryview
    records_count: int
    timestamp: int


class _Batch(NamedTuple):
    number: int
    partition: TopicPartition
    data: bytearray


class _Link:
    """A connection, and the batches of each request that has no answer yet."""

    def __init__(self, connection: Connection) -> None:
        self.connection, self.broken = connection, False
        self.in_flight: deque[list[_Batch]] = deque()

    @contextmanager
    def broken_by_failure(self) -> Iterator[Connection]:
        """After half a request or half an answer nothing sensible can follow: no answers are waited for any more."""
        try:
            yield self.connection
        except BaseException:
            self.connection.close()
            self.broken = True
            self.in_flight.clear()
            raise


_idle: dict[ProducerConfig, Producer] = {}


@contextmanager
def producer_for(config: ProducerConfig) -> Iterator[Producer]:
    """The producer of this process, for oneself: it keeps its id and its connections for the next user, if all went well."""
    producer = _idle.pop(config, None) or Producer(config)
    try:
        yield producer
    except BaseException:
        producer.close()
        raise
    _idle[config] = producer


class Producer:
    """Blocking. After an error has come out of it, which is no passing one, it is of no use any more."""

    def __init__(self, config: ProducerConfig) -> None:
        self.config = config
        self._client = KafkaClient(config.client)
        self._links: dict[Address, _Link] = {}
        self._counts: dict[str, tuple[int, float]] = {}
        self._id, self._epoch = -1, -1
        self._sequences: defaultdict[TopicPartition, int] = defaultdict(int)
        self._made = 0
        self._unsent: list[_Batch] = []
        self._unacknowledged: dict[int, _Batch] = {}
        self._appended_to: set[TopicPartition] = set()

    def close(self) -> None:
        """Ends the connections."""
        while self._links:
            self._links.popitem()[1].connection.close()
        self._client.close()

    def partition_count(self, topic: str, needed: int = 1) -> int:
        """How many partitions a topic has, at least as many as are `needed`. Raises TimeoutError, KafkaError."""
        count, valid_until = self._counts.get(topic, (0, 0.0))
        if count >= needed and time.monotonic() < valid_until:
            return count

        def ask() -> int:
            nonlocal count
            count = self._client.partition_count(topic)
            if count < needed:
                raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{topic} has {count} partitions")
            return count

        try:
            self._client.attempt(ask, self.config.max_block_ms)
        except (OSError, KafkaError) as error:
            if isinstance(error, KafkaError) and not error.code.retriable:
                raise
            what = f"Partition {needed - 1} of topic {topic} with partition count {count} is" if count else f"Topic {topic}"
            raise TimeoutError(f"{what} not present in metadata after {self.config.max_block_ms} ms.") from error
        self._counts[topic] = count, time.monotonic() + COUNTS_VALID_S
        return count

    def send(self, payloads: Sequence[Payload]) -> None:
        """Sends batches and returns when the last ones are under way. Raises KafkaError, OSError where the delivery time-out is over."""
        if payloads and self.config.idempotent and self._id < 0:
            self._id, self._epoch = self._client.attempt(self._new_id, self.config.max_block_ms)
        self._unsent = [self._batch(payload) for payload in payloads]
        self._unacknowledged.update((batch.number, batch) for batch in self._unsent)
        self._go_on(finish=False)

    def flush(self) -> None:
        """Returns when all is acknowledged. Raises KafkaError, OSError where the delivery time-out is over."""
        self._go_on(finish=True)

    def _new_id(self) -> tuple[int, int]:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=(1 << 31) - 1)
        answer = self._client.ask_anyone(INIT_PRODUCER_ID, request)
        if answer.error_code:
            raise refusal(answer.error_code, "InitProducerId")
        return answer.producer_id, answer.producer_epoch

    def _batch(self, payload: Payload) -> _Batch:
        config, sequence = self.config, -1
        if config.idempotent:
            sequence = self._sequences[payload.partition]
            self._sequences[payload.partition] = sequence + payload.records_count & LARGEST_SEQUENCE
        records: bytes | memoryview = payload.records
        if config.compression:
            records = compress(config.compression, bytes(records), config.compression_level)
        header = BatchHeader(
            base_offset=0,
            batch_length=HEADER.size - PREFIX_SIZE + len(records),
            partition_leader_epoch=-1,
            magic=2,
            crc=0,
            attributes=config.compression,
            last_offset_delta=payload.records_count - 1,
            base_timestamp=payload.timestamp,
            max_timestamp=payload.timestamp,
            producer_id=self._id,
            producer_epoch=self._epoch,
            base_sequence=sequence,
            records_count=payload.records_count,
        )
        data = bytearray(HEADER.pack(*header))
        data += records
        write_crc(data)
        self._made += 1
        return _Batch(self._made, payload.partition, data)

    def _go_on(self, *, finish: bool) -> None:
        patience = Patience(self.config.delivery_timeout_ms)
        while self._unsent or (finish and self._unacknowledged):
            try:
                for leader, request in list(self._requests()):
                    self._send(leader, request, patience)
                self._unsent = []
                for link in list(self._links.values()) if finish else ():
                    while link.in_flight:
                        self._acknowledge(link, patience)
            except (OSError, KafkaError) as error:
                self._drain(patience)
                self._unsent = list(self._unacknowledged.values())
                self._client.forget_leaders()
                self._counts.clear()
                patience.wait_after(error)

    def _requests(self) -> Iterator[tuple[Address, list[_Batch]]]:
        """All unsent batches in requests: each to one leader, with at most one batch of a partition, within the largest size."""
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

    def _send(self, leader: Address, batches: list[_Batch], patience: Patience) -> None:
        if leader not in self._links:
            self._links[leader] = _Link(self._client.connect(leader))
        link = self._links[leader]
        while self._has_to_wait(link, batches):
            self._acknowledge(link, patience)
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
        """A log that does not know this producer takes any sequence number, so its first batch must be there before a second is sent."""
        new = {batch.partition for batch in batches} - self._appended_to
        return len(link.in_flight) >= MAX_IN_FLIGHT or any(batch.partition in new for request in link.in_flight for batch in request)

    def _acknowledge(self, link: _Link, patience: Patience) -> None:
        """Takes the next answer. Raises the first error in it, when all that was acknowledged is noted."""
        with link.broken_by_failure() as connection:
            answer = connection.receive()
        batches = {batch.partition: batch for batch in link.in_flight.popleft()}
        failure: KafkaError | None = None
        for topic in answer.responses:
            for data in topic.partition_responses:
                partition = TopicPartition(topic.name, data.index)
                if data.error_code in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
                    del self._unacknowledged[batches[partition].number]
                    self._appended_to.add(partition)
                    patience.renew()
                else:
                    failure = failure or refusal(data.error_code, f"{partition}{': ' * bool(data.error_message)}{data.error_message or ''}")
        if failure:
            raise failure

    def _drain(self, patience: Patience) -> None:
        """Takes all answers that still come, and gives up the connections that broke."""
        for address, link in list(self._links.items()):
            while link.in_flight:
                with suppress(OSError, KafkaError):
                    self._acknowledge(link, patience)
            if link.broken:
                del self._links[address]
