"""Records that a consumer never reads: it begins behind them, or they expire before it reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ....protocol.errors import ErrorCode
from ...plurals import counted
from ..exchange import Entry, Event, Exchange
from .finding import Finding, shown
from .history import Client, History
from .named_partitions import fetched, named

LATEST = -1
"""The timestamp that stands for the end of a partition in ListOffsets, and the offset of a partition without a commit."""
Key = tuple[str, int]


def skipped_records(history: History) -> Iterable[Finding]:
    """Finds consumers of groups without a commit that begin at the ends of partitions which contain records."""
    committed = set(_committed_groups(history))
    for client in history.clients:
        skipped = list(_skipped(client, committed))
        if skipped:
            records = sum(count for _, count, _ in skipped)
            (topic, index), _, exchanges = skipped[0]
            more = f" and {counted(len(skipped) - 1, 'more partition')}" if len(skipped) > 1 else ""
            which = f"{counted(records, 'record')} of {topic}-{index}{more}"
            problem = f"the consumer skipped {which}: the group had no commit, and auto.offset.reset is latest"
            advice = "use auto.offset.reset=earliest to read what is there; or write only after the consumer has its partitions"
            settings = ("auto.offset.reset", "group.id", "enable.auto.commit")
            yield Finding("records skipped by latest", str(client), problem, advice, settings, shown(exchanges))


def _committed_groups(history: History) -> Iterator[str]:
    """Yields the groups that have committed offsets. If these are gone, they have expired, or the test has removed them."""
    for entry in (*history.earlier, *history.entries):
        if isinstance(entry, Exchange) and entry.api in ("OffsetCommit", "TxnOffsetCommit"):
            yield from entry.groups


def _skipped(client: Client, committed: set[str]) -> Iterator[tuple[Key, int, list[Exchange]]]:
    """Yields the partitions whose first fetch begins at the end, with the number of records before it and the requests that show it."""
    asked: dict[Key, Exchange] = {}
    ends: dict[Key, tuple[int, Exchange]] = {}
    for exchange in client.of("OffsetFetch", "ListOffsets", "Fetch"):
        if exchange.faults:
            continue
        if exchange.api == "OffsetFetch" and not committed.intersection(exchange.groups):
            asked.update((key, exchange) for key in _without_commit(exchange))
        elif exchange.api == "ListOffsets":
            ends.update((key, (offset, exchange)) for key, offset in _latest(exchange).items() if key in asked)
        elif exchange.api == "Fetch" and ends:
            for key, (wanted, found) in fetched(exchange).items():
                end, listed = ends.pop(key, (LATEST, exchange))
                if wanted.fetch_offset == end and 0 <= getattr(found, "log_start_offset", LATEST) < end:
                    yield key, end - found.log_start_offset, [asked[key], listed, exchange]


def _without_commit(exchange: Exchange) -> Iterator[Key]:
    response: Any = exchange.partial_response
    if response is not None:
        topics = [*response.topics, *(topic for group in response.groups for topic in group.topics)]
        yield from (each.key for each in named(topics, exchange) if each.fields.committed_offset == LATEST and not each.fields.error_code)


def _latest(exchange: Exchange) -> Mapping[Key, int]:
    """Returns the ends of partitions for which a ListOffsets request has asked."""
    request: Any = exchange.partial_request
    response: Any = exchange.partial_response
    if request is None or response is None:
        return {}
    wanted = {each.key for each in named(request.topics, exchange) if each.fields.timestamp == LATEST}
    return {each.key: each.fields.offset for each in named(response.topics, exchange) if each.key in wanted and each.fields.offset > 0}


def expired_records(history: History) -> Iterable[Finding]:
    """Finds consumers that ask for records which were deleted by retention, without the test having moved the clock before."""
    expired = history.events("expired")
    for client in history.clients if expired else ():
        lost = list(_lost(client, expired, history))
        if lost:
            (topic, index), offset, event, _ = lost[-1]
            problem = f"{topic}-{index} no longer contained offset {offset}, which the consumer asked for: {event.text}"
            advice = "let consumers keep up, or keep records longer; auto.offset.reset decides where such a consumer continues"
            settings = ("retention.ms", "retention.bytes", "auto.offset.reset", "max.poll.records")
            entries: list[Entry] = [entry for _, _, event, exchange in lost for entry in (event, exchange)]
            yield Finding("records expired before they were read", str(client), problem, advice, settings, shown(entries))


def _lost(client: Client, expired: list[Event], history: History) -> Iterator[tuple[Key, int, Event, Exchange]]:
    """Yields the partitions and the offsets that have expired, with the event and the request that show it."""
    by_topic: dict[object, list[Event]] = {}
    for event in expired:
        by_topic.setdefault(event.fields["topic"], []).append(event)
    read: dict[Key, Exchange] = {}
    for exchange in client.of("Fetch"):
        for key, (wanted, found) in fetched(exchange).items():
            if found.error_code != ErrorCode.OFFSET_OUT_OF_RANGE:
                read[key] = exchange
                continue
            for event in by_topic.get(key[0], ()):
                before = read.get(key, (history.earlier or history.entries)[0])
                if _covers(event, key, wanted.fetch_offset) and event.sequence < exchange.sequence and not exchange.faults:
                    if not history.excuses(before, event):
                        yield key, wanted.fetch_offset, event, exchange
                    break


def _covers(event: Event, key: Key, offset: int) -> bool:
    """Returns whether an event says that an offset has expired. Of several partitions, it names the first one only."""
    return int(event.fields["partitions"]) > 1 or (event.fields["partition"] == key[1] and offset < int(event.fields["start_offset"]))
