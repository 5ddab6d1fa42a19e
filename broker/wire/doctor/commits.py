"""Offsets that are committed too often or never."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ....protocol.messages.offset_commit import OffsetCommitRequest
from ...plurals import counted
from ..exchange import Exchange
from .fetches import has_records
from .finding import Finding, densest, shown, span_s
from .history import Client, History, received_ms

MANY, WITHIN_MS = 10, 10_000.0
PATIENCE_MS = 30_000.0
"""How long a consumer may read without a commit. The default of auto.commit.interval.ms is 5 s."""
_COMMITS = ("OffsetCommit", "TxnOffsetCommit", "AddOffsetsToTxn")


class Commit(NamedTuple):
    """One offset of an OffsetCommit request."""

    exchange: Exchange
    group: str
    topic: str
    partition: int
    offset: int


def commits_per_record(history: History) -> Iterable[Finding]:
    """Finds consumers that commit MANY times in WITHIN_MS, each time one record further."""
    for client in history.clients:
        single = densest(_single_steps(client), lambda commit: received_ms(commit.exchange), WITHIN_MS)
        if len(single) >= MANY:
            first, last = single[0], single[-1]
            seconds = span_s(received_ms(first.exchange), received_ms(last.exchange))
            problem = f"{counted(len(single), 'commit')} of group {last.group} within {seconds}, each for one record of a partition"
            advice = "commit once for each batch of records or every few seconds; after a failure, the records since the last commit repeat"
            settings = ("enable.auto.commit", "auto.commit.interval.ms", "max.poll.records")
            yield Finding("a commit per record", str(client), problem, advice, settings, shown([each.exchange for each in single]))


def _single_steps(client: Client) -> Sequence[Commit]:
    """Returns the commits that are one record after the commit of the same partition before."""
    known: dict[tuple[str, str, int], int] = {}
    steps = []
    for commit in _commits(client):
        key = (commit.group, commit.topic, commit.partition)
        if commit.offset - known.get(key, commit.offset) == 1:
            steps.append(commit)
        known[key] = commit.offset
    return steps


def _commits(client: Client) -> Iterator[Commit]:
    for exchange in client.of("OffsetCommit"):
        request = exchange.request
        if isinstance(request, OffsetCommitRequest) and not exchange.errors:
            for topic in request.topics:
                name = topic.name or exchange.topic_names.get(topic.topic_id, "")
                for partition in topic.partitions:
                    yield Commit(exchange, request.group_id, name, partition.partition_index, partition.committed_offset)


def consumers_that_never_commit(history: History) -> Iterable[Finding]:
    """Finds members of groups that read records for PATIENCE_MS, or leave, and whose group has no commit at all."""
    committed = {group for client in history.clients for exchange in client.of(*_COMMITS) for group in exchange.groups}
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
            yield Finding("a consumer that never commits", str(client), problem, advice, settings, shown([joins[0], *reads]))


def _is_over(client: Client) -> bool:
    """Returns whether a client has closed all its connections, which it does when its program is done with it."""
    return all(connection.closed is not None and not connection.ended_by_broker for connection in client.connections)
