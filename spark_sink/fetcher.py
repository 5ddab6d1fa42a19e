"""Fetches ranges of offsets: several partitions of one leader in one request, and the next request sent before the last answer is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ..protocol.errors import ErrorCode, KafkaError
from ..protocol.messages.fetch import FETCH, AbortedTransaction, FetchPartition, FetchRequest, FetchTopic
from .batches import Batches
from .client import ClientConfig, KafkaClient, Patience, TopicPartition, refusal
from .connection import Connection


class Span(NamedTuple):
    """Offsets of one partition; `end` is not included."""

    start: int
    end: int


class Fetched(NamedTuple):
    """What one fetch brought of one partition, at least one batch; `next_offset` is where the next fetch goes on."""

    partition: TopicPartition
    batches: Batches
    aborted: list[AbortedTransaction]
    next_offset: int


class OffsetOutOfRange(KafkaError):
    """The log of `partition` does not hold `offset`, or nothing came there within the poll time-out."""

    def __init__(self, partition: TopicPartition, offset: int, text: str) -> None:
        super().__init__(ErrorCode.OFFSET_OUT_OF_RANGE, f"{text} offset {offset} of {partition}")
        self.partition, self.offset = partition, offset


def fetch(client: KafkaClient, spans: Mapping[TopicPartition, Span]) -> Iterator[Fetched]:
    """All batches of the spans, those of each partition in order; they may begin before a span and end after it.

    What fails in passing (a broker that restarts, a leader that moves) is tried again where it stopped until nothing came for the
    poll time-out. Raises OffsetOutOfRange where a log does not reach, KafkaError, OSError, CorruptBatch.
    """
    left = {partition: span for partition, span in spans.items() if span.start < span.end}
    near: dict[TopicPartition, int] = {}
    patience = Patience(client.config.poll_timeout_ms)
    while left:
        try:
            for node, partitions in client.by_leader(left, near).items():
                with client.connection(node) as connection:
                    fetches = _Fetches(client.config, connection, {partition: left[partition] for partition in partitions}, near)
                    for fetched in fetches.until_all_ended(patience):
                        _advance(left, fetched)
                        yield fetched
                        patience.renew()
        except (OSError, KafkaError) as error:
            client.forget_leaders()
            near.clear()
            patience.wait_after(error)


def _advance(left: dict[TopicPartition, Span], fetched: Fetched) -> None:
    """Takes what was fetched off what is left."""
    end = left[fetched.partition].end
    if fetched.next_offset < end:
        left[fetched.partition] = Span(fetched.next_offset, end)
    else:
        del left[fetched.partition]


class _Fetches:
    """The fetches from one node over one connection."""

    def __init__(
        self, config: ClientConfig, connection: Connection, spans: dict[TopicPartition, Span], near: dict[TopicPartition, int]
    ) -> None:
        """`near` are the nodes that leaders have named for partitions, as they are nearer (KIP-392); new ones are added."""
        self._config, self._connection, self._left, self._near = config, connection, spans, near

    def until_all_ended(self, patience: Patience) -> Iterator[Fetched]:
        """Whoever uses what comes out does so while the broker makes the next answer."""
        self._send()
        while self._left:
            answer = self._connection.receive()
            if answer.error_code:
                raise refusal(answer.error_code, "Fetch")
            refused: list[KafkaError] = []
            found = [fetched for data in _partitions(answer) if (fetched := self._fetched(*data, refused)) is not None]
            for fetched in found:
                _advance(self._left, fetched)
            if self._left and not refused:
                self._send()
            for fetched in found:
                if self._config.check_crcs:
                    fetched.batches.check_crcs()
                yield fetched
            if refused:
                raise refused[0]
            if self._left and not found and patience.over:
                partition, span = next(iter(self._left.items()))
                raise OffsetOutOfRange(partition, span.start, "nothing came at")

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

    def _fetched(self, partition: TopicPartition, data: Any, refused: list[KafkaError]) -> Fetched | None:
        """None where nothing came; an error is added to `refused`, so that other partitions of the answer are not lost by it."""
        offset = self._left[partition].start
        if 0 <= data.preferred_read_replica != self._near.get(partition):
            self._near[partition] = data.preferred_read_replica
            del self._left[partition]
            return None
        if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE and partition in self._near:
            refused.append(refusal(ErrorCode.NOT_LEADER_OR_FOLLOWER, str(partition)))  # the leader may have it
        elif data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            refused.append(OffsetOutOfRange(partition, offset, "there is no"))
        elif data.error_code:
            refused.append(refusal(data.error_code, str(partition)))
        batches = Batches.of(memoryview(data.records or b""))
        if data.error_code or not len(batches.positions) or (next_offset := int(batches.last_offsets[-1]) + 1) <= offset:
            return None
        return Fetched(partition, batches, data.aborted_transactions or [], next_offset)


def _partitions(answer: Any) -> Iterator[tuple[TopicPartition, Any]]:
    for topic in answer.responses:
        for data in topic.partitions:
            yield TopicPartition(topic.topic, data.partition_index), data
