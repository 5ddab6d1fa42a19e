"""Fetches ranges of offsets from their leaders.

All partitions of one node are fetched with one request. The next request is sent before the batches of the last response are yielded, so
the broker prepares a response while the caller decodes the previous one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ..protocol.client.connection import ClientConnection, TopicPartition
from ..protocol.errors import ErrorCode, KafkaError
from ..protocol.messages.fetch import FETCH, AbortedTransaction, FetchPartition, FetchRequest, FetchTopic
from .batches import Batches
from .client import ClientConfig, KafkaClient, RetryTimer, broker_error


class Span(NamedTuple):
    """A range of offsets of one partition; `end` is exclusive."""

    start: int
    end: int


class Fetched(NamedTuple):
    """The batches, at least one, that a response has for one partition. `next_offset` is the offset after the last of them."""

    partition: TopicPartition
    batches: Batches
    aborted: list[AbortedTransaction]
    next_offset: int


class OffsetOutOfRange(KafkaError):
    """The log of `partition` does not contain `offset`, or no record was received there within the poll timeout."""

    def __init__(self, partition: TopicPartition, offset: int, text: str) -> None:
        super().__init__(ErrorCode.OFFSET_OUT_OF_RANGE, f"{text} offset {offset} of {partition}")
        self.partition, self.offset = partition, offset


def fetch(client: KafkaClient, spans: Mapping[TopicPartition, Span]) -> Iterator[Fetched]:
    """Yields all batches that contain offsets of the spans, those of each partition in order.

    The first and last batch of a partition may contain records outside of its span. After a transient failure, such as the restart of a
    broker or a leader change, fetching continues where it stopped, until nothing has been received for the poll timeout. Raises
    OffsetOutOfRange for offsets that are not in a log, KafkaError, OSError, CorruptBatch.
    """
    left = {partition: span for partition, span in spans.items() if span.start < span.end}
    preferred: dict[TopicPartition, int] = {}
    retry_timer = RetryTimer(client.config.poll_timeout_ms)
    while left:
        try:
            for node, partitions in client.by_node(left, preferred).items():
                with client.connection(node) as connection:
                    fetches = _Fetches(client.config, connection, {partition: left[partition] for partition in partitions}, preferred)
                    for fetched in fetches.until_all_ended(retry_timer):
                        _advance(left, fetched)
                        yield fetched
                        retry_timer.renew()
        except (OSError, KafkaError) as error:
            client.forget_leaders()
            preferred.clear()
            retry_timer.wait_after(error)


def _advance(left: dict[TopicPartition, Span], fetched: Fetched) -> None:
    """Removes the fetched offsets from the spans that are left."""
    end = left[fetched.partition].end
    if fetched.next_offset < end:
        left[fetched.partition] = Span(fetched.next_offset, end)
    else:
        del left[fetched.partition]


class _Fetches:
    """The pipelined fetches from one node over one connection."""

    def __init__(
        self, config: ClientConfig, connection: ClientConnection, spans: dict[TopicPartition, Span], preferred: dict[TopicPartition, int]
    ) -> None:
        """`preferred` has the nearer replicas that leaders have named for partitions (KIP-392); responses add to it."""
        self._config, self._connection, self._left, self._preferred = config, connection, spans, preferred

    def until_all_ended(self, retry_timer: RetryTimer) -> Iterator[Fetched]:
        """Yields the fetched batches until no span is left. Raises the first error of a response after yielding its batches."""
        self._send()
        while self._left:
            response = self._connection.receive()
            if response.error_code:
                raise broker_error(response.error_code, "Fetch")
            errors: list[KafkaError] = []
            found = [fetched for data in _partitions(response) if (fetched := self._take(*data, errors)) is not None]
            for fetched in found:
                _advance(self._left, fetched)
            if self._left and not errors:
                self._send()
            for fetched in found:
                if self._config.check_crcs:
                    fetched.batches.check_crcs()
                yield fetched
            if errors:
                raise errors[0]
            if self._left and not found and retry_timer.over:
                partition, span = next(iter(self._left.items()))
                raise OffsetOutOfRange(partition, span.start, "no record was received at")

    def _send(self) -> None:
        config, topics = self._config, dict[str, list[FetchPartition]]()
        for (topic, index), span in self._left.items():
            wanted = FetchPartition(partition=index, fetch_offset=span.start, partition_max_bytes=config.max_partition_fetch_bytes)
            topics.setdefault(topic, []).append(wanted)
        request = FetchRequest(
            max_wait_ms=min(config.fetch_max_wait_ms, config.poll_timeout_ms),
            min_bytes=config.fetch_min_bytes,
            max_bytes=config.fetch_max_bytes,
            isolation_level=config.isolation_level,
            topics=[FetchTopic(topic=topic, partitions=partitions) for topic, partitions in topics.items()],
            rack_id=config.client_rack,
        )
        self._connection.send(FETCH, request)

    def _take(self, partition: TopicPartition, data: Any, errors: list[KafkaError]) -> Fetched | None:
        """Returns None when there is no batch. Adds an error to `errors`, so that the batches of other partitions are not lost."""
        offset = self._left[partition].start
        if 0 <= data.preferred_read_replica != self._preferred.get(partition):
            self._preferred[partition] = data.preferred_read_replica
            del self._left[partition]
            return None
        if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE and partition in self._preferred:
            errors.append(
                broker_error(ErrorCode.NOT_LEADER_OR_FOLLOWER, str(partition))
            )  # a follower may lack the offset, so the next fetch goes to the leader
        elif data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            errors.append(OffsetOutOfRange(partition, offset, "there is no"))
        elif data.error_code:
            errors.append(broker_error(data.error_code, str(partition)))
        batches = Batches.of(memoryview(data.records or b""))
        if data.error_code or not len(batches.positions) or (next_offset := int(batches.last_offsets[-1]) + 1) <= offset:
            return None
        return Fetched(partition, batches, data.aborted_transactions or [], next_offset)


def _partitions(response: Any) -> Iterator[tuple[TopicPartition, Any]]:
    for topic in response.responses:
        for data in topic.partitions:
            yield TopicPartition(topic.topic, data.partition_index), data
