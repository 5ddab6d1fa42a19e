"""Consumers that fetch little, commit too often or never, or never read some of the records.

Fetches are too small if they end long before the partition does, and hasty if they do not wait for records. Records remain unread if a
consumer begins behind them, or if they expire before it reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ....protocol.errors import ErrorCode
from ....protocol.messages.fetch import FetchRequest, FetchResponse
from ....protocol.messages.offset_commit import OffsetCommitRequest
from ....protocol.schema import Message
from ...plurals import counted
from ..exchange import HEAD_BYTES, Entry, Event, Exchange
from .contents import fetches_of, headers, partitions_of
from .finding import Finding, densest, evidence, span_s
from .history import ClientHistory, WireHistory, received_ms

MANY_TINY, MANY_EMPTY, WITHIN_MS = 20, 50, 10_000.0
SHORT_WAIT_MS = 50


def tiny_fetches(history: WireHistory) -> Iterable[Finding]:
    """Finds consumers whose fetches return at most HEAD_BYTES, although the partition contains more."""
    for client in history.clients:
        tiny = densest([each for each in client.of("Fetch") if _is_cut_short(each)], received_ms, WITHIN_MS)
        if len(tiny) >= MANY_TINY and isinstance(request := tiny[-1].request, FetchRequest):
            each_bytes = max((partition.partition_max_bytes for topic in request.topics for partition in topic.partitions), default=0)
            limits = f"max_bytes={request.max_bytes}" + (f", partition_max_bytes={each_bytes}" if each_bytes else "")
            problem = f"{_count(tiny)} asked for so little ({limits}) that records were left"
            advice = "raise the limits of a fetch; with the defaults, 1 MiB for each partition, one fetch returns thousands of records"
            settings = ("max.partition.fetch.bytes", "fetch.message.max.bytes", "fetch.max.bytes")
            yield Finding("tiny fetches", str(client), problem, advice, settings, evidence(tiny))


def hasty_fetches(history: WireHistory) -> Iterable[Finding]:
    """Finds consumers that fetch again and again without waiting for records."""
    for client in history.clients:
        empty = densest([each for each in client.of("Fetch") if _is_hasty(each)], received_ms, WITHIN_MS)
        if len(empty) >= MANY_EMPTY and isinstance(request := empty[-1].request, FetchRequest):
            problem = f"{_count(empty)} returned no records, because they waited at most {request.max_wait_ms} ms"
            advice = "let the broker wait for records; with the default of 500 ms an idle consumer sends two requests per second"
            yield Finding("tiny fetches", str(client), problem, advice, ("fetch.wait.max.ms", "fetch.max.wait.ms"), evidence(empty))


def has_records(exchange: Exchange) -> bool:
    """Returns whether a response contains records, as far as the record contains the response."""
    return any(_end_offset(partition) >= 0 for partition in _partitions(exchange.partial_response))


def _count(exchanges: Sequence[Exchange]) -> str:
    return f"{counted(len(exchanges), 'fetch', 'fetches')} within {span_s(received_ms(exchanges[0]), received_ms(exchanges[-1]))}"


def _is_cut_short(exchange: Exchange) -> bool:
    """Returns whether a response is small, and its records end before the partition does."""
    if exchange.response_frame is None or exchange.response_frame.size > HEAD_BYTES or exchange.request is None:
        return False
    return any(0 <= _end_offset(partition) < partition.high_watermark for partition in _partitions(exchange.response))


def _is_hasty(exchange: Exchange) -> bool:
    request, response = exchange.request, exchange.response
    if not isinstance(request, FetchRequest) or not isinstance(response, FetchResponse) or exchange.errors:
        return False
    return request.max_wait_ms < SHORT_WAIT_MS and all(_end_offset(partition) < 0 for partition in _partitions(response))


def _partitions(response: Message | None) -> Iterator[Any]:
    if isinstance(response, FetchResponse):
        for topic in response.responses:
            yield from topic.partitions


def _end_offset(partition: Any) -> int:
    """Returns the offset after the last batch of a partition of a response, -1 if it has no batch."""
    ends = [header.last_offset + 1 for header in headers(partition.records)]
    return ends[-1] if ends else -1


MANY_COMMITS = 10
PATIENCE_MS = 30_000.0
"""How long a consumer may read without a commit. The default of auto.commit.interval.ms is 5 s."""
_COMMIT_APIS = ("OffsetCommit", "TxnOffsetCommit", "AddOffsetsToTxn")


class Commit(NamedTuple):
    """One offset of an OffsetCommit request."""

    exchange: Exchange
    group: str
    topic: str
    partition: int
    offset: int


def commits_per_record(history: WireHistory) -> Iterable[Finding]:
    """Finds consumers that commit MANY_COMMITS times in WITHIN_MS, each time one record further."""
    for client in history.clients:
        single = densest(_single_steps(client), lambda commit: received_ms(commit.exchange), WITHIN_MS)
        if len(single) >= MANY_COMMITS:
            first, last = single[0], single[-1]
            seconds = span_s(received_ms(first.exchange), received_ms(last.exchange))
            problem = f"{counted(len(single), 'commit')} of group {last.group} within {seconds}, each for one record of a partition"
            advice = "commit once for each batch of records or every few seconds; after a failure, the records since the last commit repeat"
            settings = ("enable.auto.commit", "auto.commit.interval.ms", "max.poll.records")
            yield Finding("a commit per record", str(client), problem, advice, settings, evidence([each.exchange for each in single]))


def _single_steps(client: ClientHistory) -> Sequence[Commit]:
    """Returns the commits that are one record after the commit of the same partition before."""
    known: dict[tuple[str, str, int], int] = {}
    steps = []
    for commit in _commits(client):
        key = (commit.group, commit.topic, commit.partition)
        if commit.offset - known.get(key, commit.offset) == 1:
            steps.append(commit)
        known[key] = commit.offset
    return steps


def _commits(client: ClientHistory) -> Iterator[Commit]:
    for exchange in client.of("OffsetCommit"):
        request = exchange.request
        if isinstance(request, OffsetCommitRequest) and not exchange.errors:
            for topic in request.topics:
                name = topic.name or exchange.topic_names.get(topic.topic_id, "")
                for partition in topic.partitions:
                    yield Commit(exchange, request.group_id, name, partition.partition_index, partition.committed_offset)


def consumers_that_never_commit(history: WireHistory) -> Iterable[Finding]:
    """Finds members of groups that read records for PATIENCE_MS, or leave, and whose group has no commit at all."""
    committed = {group for client in history.clients for exchange in client.of(*_COMMIT_APIS) for group in exchange.groups}
    for client in history.clients:
        joins = [each for each in client.of("JoinGroup", "ConsumerGroupHeartbeat") if each.groups and each.groups[0] not in committed]
        if not joins:
            continue
        reads = [each for each in client.of("Fetch") if each.sequence > joins[0].sequence and has_records(each)]
        if reads and (_is_over(client) or history.end_ms - received_ms(reads[0]) >= PATIENCE_MS):
            group = joins[0].groups[0]
            problem = f"a member of group {group} has read records, and the group has never committed an offset"
            advice = "commit offsets, or let the client do so; a consumer that restarts begins where auto.offset.reset says"
            settings = ("enable.auto.commit", "auto.offset.reset", "group.id")
            yield Finding("a consumer that never commits", str(client), problem, advice, settings, evidence([joins[0], *reads]))


def _is_over(client: ClientHistory) -> bool:
    """Returns whether a client has closed all its connections, which it does when its program is done with it."""
    return all(connection.closed is not None and not connection.ended_by_broker for connection in client.connections)


LATEST = -1
"""The timestamp that stands for the end of a partition in ListOffsets, and the offset of a partition without a commit."""
PartitionKey = tuple[str, int]


def skipped_records(history: WireHistory) -> Iterable[Finding]:
    """Finds consumers of groups without a commit that begin at the ends of partitions which contain records."""
    committed = set(_groups_with_commits(history))
    for client in history.clients:
        skipped = list(_skips(client, committed))
        if skipped:
            records = sum(count for _, count, _ in skipped)
            (topic, index), _, exchanges = skipped[0]
            more = f" and {counted(len(skipped) - 1, 'more partition')}" if len(skipped) > 1 else ""
            which = f"{counted(records, 'record')} of {topic}-{index}{more}"
            problem = f"the consumer skipped {which}: the group had no commit, and auto.offset.reset is latest"
            advice = "use auto.offset.reset=earliest to read what is there; or write only after the consumer has its partitions"
            settings = ("auto.offset.reset", "group.id", "enable.auto.commit")
            yield Finding("records skipped by latest", str(client), problem, advice, settings, evidence(exchanges))


def _groups_with_commits(history: WireHistory) -> Iterator[str]:
    """Yields the groups that have committed offsets. If these are gone, they have expired, or the test has removed them."""
    for entry in (*history.earlier, *history.entries):
        if isinstance(entry, Exchange) and entry.api in ("OffsetCommit", "TxnOffsetCommit"):
            yield from entry.groups


def _skips(client: ClientHistory, committed: set[str]) -> Iterator[tuple[PartitionKey, int, list[Exchange]]]:
    """Yields the partitions whose first fetch begins at the end, with the number of records before it and the requests that show it."""
    asked: dict[PartitionKey, Exchange] = {}
    ends: dict[PartitionKey, tuple[int, Exchange]] = {}
    for exchange in client.of("OffsetFetch", "ListOffsets", "Fetch"):
        if exchange.faults:
            continue
        if exchange.api == "OffsetFetch" and not committed.intersection(exchange.groups):
            asked.update((key, exchange) for key in _without_commit(exchange))
        elif exchange.api == "ListOffsets":
            ends.update((key, (offset, exchange)) for key, offset in _latest(exchange).items() if key in asked)
        elif exchange.api == "Fetch" and ends:
            for key, (wanted, found) in fetches_of(exchange).items():
                end, listed = ends.pop(key, (LATEST, exchange))
                if wanted.fetch_offset == end and 0 <= getattr(found, "log_start_offset", LATEST) < end:
                    yield key, end - found.log_start_offset, [asked[key], listed, exchange]


def _without_commit(exchange: Exchange) -> Iterator[PartitionKey]:
    response: Any = exchange.partial_response
    if response is not None:
        topics = [*response.topics, *(topic for group in response.groups for topic in group.topics)]
        yield from (
            each.key for each in partitions_of(topics, exchange) if each.fields.committed_offset == LATEST and not each.fields.error_code
        )


def _latest(exchange: Exchange) -> Mapping[PartitionKey, int]:
    """Returns the ends of partitions for which a ListOffsets request has asked."""
    request: Any = exchange.partial_request
    response: Any = exchange.partial_response
    if request is None or response is None:
        return {}
    wanted = {each.key for each in partitions_of(request.topics, exchange) if each.fields.timestamp == LATEST}
    return {
        each.key: each.fields.offset for each in partitions_of(response.topics, exchange) if each.key in wanted and each.fields.offset > 0
    }


def expired_records(history: WireHistory) -> Iterable[Finding]:
    """Finds consumers that ask for records which were deleted by retention, without the test having moved the clock before."""
    expired = history.events("expired")
    for client in history.clients if expired else ():
        lost = list(_losses(client, expired, history))
        if lost:
            (topic, index), offset, event, _ = lost[-1]
            problem = f"{topic}-{index} no longer contained offset {offset}, which the consumer asked for: {event.text}"
            advice = "let consumers keep up, or keep records longer; auto.offset.reset decides where such a consumer continues"
            settings = ("retention.ms", "retention.bytes", "auto.offset.reset", "max.poll.records")
            entries: list[Entry] = [entry for _, _, event, exchange in lost for entry in (event, exchange)]
            yield Finding("records expired before they were read", str(client), problem, advice, settings, evidence(entries))


def _losses(client: ClientHistory, expired: list[Event], history: WireHistory) -> Iterator[tuple[PartitionKey, int, Event, Exchange]]:
    """Yields the partitions and the offsets that have expired, with the event and the request that show it."""
    by_topic: dict[object, list[Event]] = {}
    for event in expired:
        by_topic.setdefault(event.fields["topic"], []).append(event)
    read: dict[PartitionKey, Exchange] = {}
    for exchange in client.of("Fetch"):
        for key, (wanted, found) in fetches_of(exchange).items():
            if found.error_code != ErrorCode.OFFSET_OUT_OF_RANGE:
                read[key] = exchange
                continue
            for event in by_topic.get(key[0], ()):
                before = read.get(key, (history.earlier or history.entries)[0])
                if _covers(event, key, wanted.fetch_offset) and event.sequence < exchange.sequence and not exchange.faults:
                    if not history.excuses(before, event):
                        yield key, wanted.fetch_offset, event, exchange
                    break


def _covers(event: Event, key: PartitionKey, offset: int) -> bool:
    """Returns whether an event says that an offset has expired. Of several partitions, it names the first one only."""
    return int(event.fields["partitions"]) > 1 or (event.fields["partition"] == key[1] and offset < int(event.fields["start_offset"]))
