"""Fetch in every version: the range that is read, and refused requests. Of fetch sessions, only requests for unknown ones are covered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic

from ..case import Case, Send, Topic, all_versions, id_of
from ..requests import batch_of, delete_records, produce

FULL, EMPTY, CUT = Topic("fetch.full"), Topic("fetch.empty"), Topic("fetch.cut")
TOPICS = (FULL, EMPTY, CUT)
BATCHES = [batch_of(b"a"), batch_of(b"b", b"c"), batch_of(b"d" * 500, b"e" * 500), batch_of(b"f")]
HALF, ALL = 1 << 10, 1 << 20


def cases() -> Iterator[Case]:
    filled = [produce(topic.name, batch) for topic in (FULL, CUT) for batch in BATCHES]
    yield Case("fetch.filled", TOPICS, (*filled, delete_records(CUT.name, 2)))
    for version in all_versions(FETCH):
        for name, request in _requests():
            yield Case(f"fetch.v{version}.{name}", TOPICS, (Send(FETCH, version, request),))
        other_node = request_of((FULL.name, [wanted(0)]), (FULL.name, [wanted(0, partition=1)]))
        yield Case(f"fetch.v{version}.wrong-leader", TOPICS, (Send(FETCH, version, other_node, node=2),))
    late = batch_of(b"late")
    for version in (4, 12, 17):
        topic = Topic(f"fetch.v{version}.waits")
        wait = Send(FETCH, version, request_of((topic.name, [wanted(1)]), max_wait_ms=300, min_bytes=1))
        yield Case(f"fetch.v{version}.waits", (topic,), (produce(topic.name, late), wait, produce(topic.name, late), wait))


def wanted(offset: int, *, partition: int = 0, most: int = ALL, **fields: Any) -> FetchPartition:
    return FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=most, **fields)


def request_of(*topics: tuple[str, list[FetchPartition]], max_wait_ms: int = 0, **fields: Any) -> FetchRequest:
    requested = [FetchTopic(topic=name, topic_id=id_of(name), partitions=partitions) for name, partitions in topics]
    return FetchRequest(max_wait_ms=max_wait_ms, min_bytes=fields.pop("min_bytes", 0), topics=requested, **fields)


def _requests() -> Iterator[tuple[str, FetchRequest]]:
    for offset in (-2, -1, 0, 1, 2, 3, 5, 6, 7, 1 << 40):
        yield f"offset.{offset}", request_of((FULL.name, [wanted(offset)]))
    for offset in (0, 1, 2, 5):
        yield f"cut.offset.{offset}", request_of((CUT.name, [wanted(offset)]))
    for offset in (0, 1):
        yield f"empty.offset.{offset}", request_of((EMPTY.name, [wanted(offset)]))
    for most in (-1, 0, 1, 69, 70, 100, 140, 145, 146, 147, 148, HALF):
        yield f"partition-bytes.{most}", request_of((FULL.name, [wanted(0, most=most)]))
        yield f"bytes.{most}", request_of((FULL.name, [wanted(0)]), (CUT.name, [wanted(2)]), max_bytes=most)
    yield "read-committed", request_of((FULL.name, [wanted(0)]), isolation_level=1)
    yield "read-committed.unknown", request_of(("nobody", [wanted(0)]), isolation_level=1)
    yield "isolation-level.2", request_of((FULL.name, [wanted(0)]), isolation_level=2)
    yield "nothing", request_of()
    yield "no-partitions", request_of((FULL.name, []))
    yield "unknown-topic", request_of(("nobody", [wanted(0), wanted(0, partition=1)]))
    yield "unknown-and-known", request_of(("nobody", [wanted(0)]), (FULL.name, [wanted(3)]))
    for partition in (-1, 7):
        yield f"partition.{partition}", request_of((FULL.name, [wanted(0, partition=partition), wanted(0)]))
    yield "partition.other-node", request_of((FULL.name, [wanted(0, partition=1), wanted(0)]))
    for epoch in (-2, -1, 0, 1, 100):
        yield f"leader-epoch.{epoch}", request_of((FULL.name, [wanted(0, current_leader_epoch=epoch)]))
    for epoch, offset in ((-1, 0), (0, 0), (0, 3), (0, 6), (0, 7), (1, 3), (5, 6), (-2, 3)):
        yield f"last-epoch.{epoch}.{offset}", request_of((FULL.name, [wanted(offset, last_fetched_epoch=epoch)]))
    yield "two", request_of((FULL.name, [wanted(0)]), (CUT.name, [wanted(2)]))
    yield "two.one-out-of-range", request_of((FULL.name, [wanted(9)]), (CUT.name, [wanted(2)]))
    yield "two.same-topic", request_of((FULL.name, [wanted(0)]), (FULL.name, [wanted(3)]))
    yield "two.same-partition", request_of((FULL.name, [wanted(0), wanted(3)]))
    yield "first-too-large", request_of((FULL.name, [wanted(3, most=10)]), (CUT.name, [wanted(2, most=10)]))
    yield "min-bytes.enough", request_of((FULL.name, [wanted(0)]), min_bytes=10, max_wait_ms=5000)
    yield "min-bytes.error", request_of((FULL.name, [wanted(77)]), min_bytes=1 << 20, max_wait_ms=5000)
    yield "min-bytes.more-than-max", request_of((FULL.name, [wanted(0)]), min_bytes=1 << 20, max_bytes=100, max_wait_ms=5000)
    yield "min-bytes.negative", request_of((EMPTY.name, [wanted(0)]), min_bytes=-5, max_wait_ms=5000)
    yield "max-wait.negative", request_of((EMPTY.name, [wanted(0)]), min_bytes=5, max_wait_ms=-1)
    yield "rack", request_of((FULL.name, [wanted(3)]), rack_id="somewhere")
    yield "session.closed", request_of((FULL.name, [wanted(3)]), session_id=5, session_epoch=-1)
    yield "session.unknown", request_of((FULL.name, [wanted(3)]), session_id=5, session_epoch=1)
    yield "internal", request_of(("__consumer_offsets", [wanted(0)]))
