"""Compares what the programs of a run have sent and been told with the logs of the cluster.

The rules are those of Jepsen's checker for Kafka, as far as logs and acknowledgements decide them. Records are told apart by key, value and
headers. A producer that repeats a request sends the same bytes again, timestamps included, so a record may be in the log as often as it
is in different sets of bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ..broker.controls.stored_records import records_of
from ..protocol.batches.records import RecordBatch, batches
from ..protocol.client.connection import TopicPartition
from ..protocol.messages.offset_commit import OFFSET_COMMIT
from ..protocol.messages.produce import PRODUCE
from ..protocol.messages.txn_offset_commit import TXN_OFFSET_COMMIT
from ..protocol.schema import ZERO_UUID, ProtocolError

if TYPE_CHECKING:
    from ..broker.network.server import Server
    from .observation import Observation

MAX_SHOWN = 5
_PAYLOAD_START = 27
"""Where the timestamps of a batch begin, behind its offset, length, epoch, magic, CRC, attributes and last offset."""
_PRODUCER = slice(43, 57)
"""The producer id, the epoch and the sequence of a batch, which may change when it is sent again."""


class Verdict(NamedTuple):
    """Whether a rule is kept: true if there are no violations."""

    rule: str
    violations: tuple[str, ...]

    def __bool__(self) -> bool:
        return not self.violations

    def __repr__(self) -> str:
        if self:
            return f"<{self.rule}: kept>"
        more = f"; and {len(self.violations) - MAX_SHOWN} more" if len(self.violations) > MAX_SHOWN else ""
        return f"<{self.rule}: {'; '.join(self.violations[:MAX_SHOWN])}{more}>"


class Content(NamedTuple):
    """The parts of a record that tell it apart from others."""

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]

    def __str__(self) -> str:
        key = "" if self.key is None else f"{self.key!r}: "
        return f"{key}{self.value!r}"


@dataclass
class SentBatch:
    """A batch that a client has sent. `acknowledged` says whether the client has learned that it is in the log."""

    partition: TopicPartition
    client_id: str
    contents: list[Content]
    acknowledged: bool = False


class History:
    """The history of one cluster."""

    def __init__(self, observation: Observation, server: Callable[[], Server]) -> None:
        self._observation, self._server = observation, server

    def __repr__(self) -> str:
        return f"<History of {len(self._observation.requests[PRODUCE.key])} requests to produce>"

    @property
    def no_record_lost(self) -> Verdict:
        """Whether the log contains each record whose acknowledgement its client has received.

        Topics that were deleted or compacted, and records that were deleted, are left out.
        """
        logs, lost = self._logs(), []
        for batch in self._batches():
            log = logs.get(batch.partition)
            if batch.acknowledged and log is not None and not log.is_shortened:
                lost += [f"{each} of {batch.client_id} is not in {batch.partition}" for each in batch.contents if each not in log.counts]
        return Verdict("no_record_lost", tuple(lost))

    @property
    def each_once(self) -> Verdict:
        """Whether the log contains no record more often than it was sent."""
        sent: Counter[tuple[TopicPartition, Content]] = Counter()
        for batch in self._batches():
            sent.update((batch.partition, each) for each in batch.contents)
        doubled = [
            f"{content} is in {partition} {number} times and was sent {sent[partition, content]} times"
            for partition, log in self._logs().items()
            for content, number in log.counts.items()
            if 0 < sent[partition, content] < number
        ]
        return Verdict("each_once", tuple(doubled))

    @property
    def order_within_key(self) -> Verdict:
        """Whether the records of a client with the same key are in the log in the order in which they were sent at first."""
        swapped, logs = [], self._logs()
        latest: dict[tuple[TopicPartition, str, bytes | None], tuple[int, Content]] = {}
        for batch in self._batches():
            log = logs.get(batch.partition)
            for content in batch.contents if log is not None else ():
                offset = log.first.get(content)  # type: ignore[union-attr]
                if offset is None or content.key is None:
                    continue
                key = batch.partition, batch.client_id, content.key
                before = latest.get(key)
                if before is not None and offset < before[0]:
                    swapped.append(f"{content} is before {before[1]} in {batch.partition}")
                latest[key] = max(before or (offset, content), (offset, content), key=lambda pair: pair[0])
        return Verdict("order_within_key", tuple(swapped))

    @property
    def committed_offsets_never_back(self) -> Verdict:
        """Whether each offset that a group has committed is at least the one before."""
        back = []
        latest: dict[tuple[str, TopicPartition], int] = {}
        for group_id, partition, offset in self._commits():
            before = latest.get((group_id, partition), -1)
            if offset < before:
                back.append(f"group {group_id} has committed {offset} in {partition} after {before}")
            latest[group_id, partition] = offset
        return Verdict("committed_offsets_never_back", tuple(back))

    def _logs(self) -> dict[TopicPartition, _Log]:
        topics = self._server().cluster.topics
        return {
            TopicPartition(topic.name, partition.index): _Log(partition)
            for topic in topics.values()
            if not topic.name.startswith("__")
            for partition in topic.partitions
        }

    def _topic(self, data: Any) -> str:
        """Returns the name of the topic in a request, which may name it by its id; empty if it does not exist any more."""
        if getattr(data, "topic_id", ZERO_UUID) == ZERO_UUID:
            name: str = data.name
            return name
        topic = self._server().cluster.topics.by_id.get(data.topic_id)
        return "" if topic is None else topic.name

    def _batches(self) -> Iterable[SentBatch]:
        """Returns the batches in the order in which they were sent at first. A batch that was sent again is contained once."""
        found: dict[tuple[TopicPartition, bytes], SentBatch] = {}
        for sent in self._observation.requests[PRODUCE.key]:
            if (decoded := sent.decode()) is None:
                continue
            client_id, request, response = decoded
            accepted = _accepted_partitions(response) if sent.is_delivered else set()
            for topic in request.topic_data:
                for part in topic.partition_data:
                    partition = TopicPartition(self._topic(topic), part.index)
                    for data in _whole_batches(part.records):
                        view = bytes(data.view)
                        same = view[_PAYLOAD_START : _PRODUCER.start] + view[_PRODUCER.stop :]
                        batch = found.get((partition, same))
                        if batch is None:
                            contents = [Content(each.key, each.value, tuple(each.headers)) for each in data.records()]
                            batch = found[partition, same] = SentBatch(partition, client_id, contents)
                        batch.acknowledged |= (topic.name, topic.topic_id, part.index) in accepted
        return found.values()

    def _commits(self) -> Iterator[tuple[str, TopicPartition, int]]:
        """Yields the committed offsets in the order in which the coordinators have accepted them."""
        requests = self._observation.requests
        sent = [each for key in (OFFSET_COMMIT.key, TXN_OFFSET_COMMIT.key) for each in requests[key] if each.response is not None]
        for each in sorted(sent, key=lambda one: one.answered):
            if (decoded := each.decode()) is None:
                continue
            _, request, response = decoded
            for topic, answer in zip(request.topics, response.topics, strict=True):
                for part, result in zip(topic.partitions, answer.partitions, strict=True):
                    if result.error_code == 0:
                        yield request.group_id, TopicPartition(self._topic(topic), part.partition_index), part.committed_offset


class _Log:
    """The records of a partition: how often each is there, and its first offset."""

    def __init__(self, partition: Any) -> None:
        self.counts: Counter[Content] = Counter()
        self.first: dict[Content, int] = {}
        log = partition.log
        self.is_shortened = log.start_offset > 0 or "compact" in partition.topic.config.lists["cleanup.policy"]
        for batch in log.batches(log.start_offset, log.end_offset):
            for record in records_of(partition, batch):
                content = Content(record.key, record.value, record.headers)
                self.counts[content] += 1
                self.first.setdefault(content, record.offset)


def _accepted_partitions(response: Any) -> set[tuple[str, bytes, int]]:
    """Returns the partitions for which a response to Produce has no error."""
    if response is None:
        return set()
    return {
        (topic.name, topic.topic_id, part.index)
        for topic in response.responses
        for part in topic.partition_responses
        if part.error_code == 0
    }


def _whole_batches(records: Any) -> list[RecordBatch]:
    """Returns the batches of a request, none if they are of an older format or damaged."""
    if records is None:
        return []
    try:
        return list(batches(records))
    except ProtocolError:
        return []
