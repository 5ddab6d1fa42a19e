"""Followers that stop following while they are in sync: node 3 is paused, and its session does not expire in these cases.

The in-sync replicas shrink after replica.lag.time.max.ms, at the earliest. Apache Kafka checks that at intervals of half that time, so the
cases pause for twice the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from odradek.protocol.messages.fetch import FETCH
from odradek.protocol.messages.list_offsets import LIST_OFFSETS
from odradek.protocol.messages.offset_for_leader_epoch import OFFSET_FOR_LEADER_EPOCH
from odradek.protocol.messages.produce import PRODUCE

from ..case import Case, Pause, PauseNode, Receive, ResumeNode, Send, Step, Topic
from ..requests import batch_of, request_of
from ..transaction_requests import Producer
from .replicas import CAUGHT_UP, PREFERRED, SETTLED, TWO, described, elected, listed, metadata, reassigned

LAG_MS = 3000
SETTINGS = {
    "auto.leader.rebalance.enable": "false",
    "broker.session.timeout.ms": "120000",
    "replica.lag.time.max.ms": str(LAG_MS),
    "transaction.state.log.min.isr": "1",
}
SHRUNK = Pause(2 * LAG_MS)
FETCHED = Pause(700)
"""The time in which the last fetch of a paused follower is answered, which it receives when it is resumed."""


def cases() -> Iterator[Case]:
    yield _waits()
    yield _too_few()
    yield _times_out()
    yield _elected()
    yield _behind_its_epoch()
    yield _transaction()
    yield _moved()


def write(topic: str, node: int, acks: int = -1, *, timeout_ms: int = 20_000, waits: bool = False, version: int = 9, **batch: Any) -> Send:
    data = [{"name": topic, "partition_data": [{"index": 0, "records": batch_of(b"v", **batch)}]}]
    request = request_of(PRODUCE, {"acks": acks, "timeout_ms": timeout_ms, "topic_data": data})
    return Send(PRODUCE, version, request, node, connection="writer" if waits else "", waits=waits)


def read(topic: str, node: int, offset: int, max_wait_ms: int = 0, *, waits: bool = False, version: int = 12, **fields: Any) -> Send:
    wanted = {"partition": 0, "fetch_offset": offset, "partition_max_bytes": 1000, **fields}
    request = request_of(FETCH, {"max_wait_ms": max_wait_ms, "min_bytes": 1, "topics": [{"topic": topic, "partitions": [wanted]}]})
    return Send(FETCH, version, request, node, connection="reader" if waits else "", waits=waits)


def end(topic: str, node: int, isolation_level: int = 0, timestamp: int = -1, *, version: int = 7) -> Send:
    wanted = [{"name": topic, "partitions": [{"partition_index": 0, "timestamp": timestamp}]}]
    fields = {"replica_id": -1, "isolation_level": isolation_level, "topics": wanted}
    return Send(LIST_OFFSETS, version, request_of(LIST_OFFSETS, fields), node)


def end_of_epoch(topic: str, node: int, epoch: int) -> Send:
    wanted = [{"topic": topic, "partitions": [{"partition": 0, "current_leader_epoch": -1, "leader_epoch": epoch}]}]
    return Send(OFFSET_FOR_LEADER_EPOCH, 4, request_of(OFFSET_FOR_LEADER_EPOCH, {"replica_id": -1, "topics": wanted}), node)


def _waits() -> Case:
    """While node 3 is in sync and does not follow, the high watermark stands still, and acks=all waits."""
    name = "lag.waits"
    steps: tuple[Step, ...] = (
        PauseNode(3),
        write(name, 2, 1),
        end(name, 2),
        end(name, 2, timestamp=1000),
        read(name, 2, 0),
        read(name, 2, 1, 300),
        read(name, 2, 2, 300),
        read(name, 2, 1, 20_000, waits=True),
        write(name, 2, waits=True),
        SHRUNK,
        Receive("writer", 2),
        Receive("reader", 2),
        described(name),
        end(name, 2),
        write(name, 2),
        ResumeNode(3),
        CAUGHT_UP,
        described(name),
        end(name, 2),
        write(name, 2),
    )
    return Case(name, (Topic(name, {}, ((2, 3),)),), steps, (write(name, 2), SETTLED))


def _too_few() -> Case:
    """The in-sync replicas shrink below min.insync.replicas while acks=all waits."""
    name = "lag.too-few"
    steps: tuple[Step, ...] = (
        PauseNode(3),
        write(name, 2, waits=True, timeout_ms=9000),
        SHRUNK,
        Receive("writer", 2),
        described(name),
        end(name, 2),
        write(name, 2),
        write(name, 2, 1),
        Pause(3000),
        Receive("writer", 2),
        read(name, 2, 0),
        read(name, 2, 1, 300),
        write(name, 2, 1),
        ResumeNode(3),
        CAUGHT_UP,
        described(name),
        end(name, 2),
    )
    return Case(name, (Topic(name, TWO, ((2, 3),)),), steps, (write(name, 2), SETTLED))


def _times_out() -> Case:
    """The time-out of a request passes before the in-sync replicas have shrunk. The record was appended nevertheless."""
    name = "lag.times-out"
    steps: list[Step] = [PauseNode(3), *(write(name, 2, timeout_ms=200, version=version) for version in (3, 5, 8, 9))]
    steps += [write(name, 2, timeout_ms=0), end(name, 2), SHRUNK, end(name, 2), ResumeNode(3), CAUGHT_UP, described(name), end(name, 2)]
    return Case(name, (Topic(name, {}, ((2, 3),)),), tuple(steps), (write(name, 2), SETTLED))


def _elected() -> Case:
    """Leadership moves to the follower that lacks records: they are truncated, which clients notice by epochs."""
    name = "lag.elected"
    steps: tuple[Step, ...] = (
        PauseNode(3),
        FETCHED,
        write(name, 2, 1),
        write(name, 2, waits=True),
        end_of_epoch(name, 2, 0),
        elected(PREFERRED, name),
        SETTLED,
        Receive("writer", 2),
        described(name),
        ResumeNode(3),
        CAUGHT_UP,
        described(name),
        end(name, 3),
        write(name, 3),
        CAUGHT_UP,
        end(name, 3),
        end_of_epoch(name, 3, 0),
        end_of_epoch(name, 3, 1),
        read(name, 3, 3),
        read(name, 3, 2, last_fetched_epoch=0),
        read(name, 3, 2, last_fetched_epoch=1),
        read(name, 3, 1, current_leader_epoch=0),
        read(name, 2, 0),
        read(name, 2, 3),
    )
    return Case(name, (Topic(name, {}, ((2, 3),)),), steps, (write(name, 2), reassigned(name, [3, 2]), SETTLED))


def _behind_its_epoch() -> Case:
    """After an election, the high watermark is below the start of the leader epoch, so that the end of the log is unknown to consumers."""
    name = "lag.behind-epoch"
    ends = tuple(end(name, 1, isolation, timestamp) for isolation in (0, 1) for timestamp in (-1, -2, -3, 1000, 5000))
    steps: tuple[Step, ...] = (
        PauseNode(3),
        FETCHED,
        write(name, 2, 1),
        SETTLED,
        elected(PREFERRED, name),
        SETTLED,
        *ends,
        *(end(name, 1, version=version) for version in (4, 5)),
        read(name, 1, 0),
        SHRUNK,
        *ends,
        ResumeNode(3),
        CAUGHT_UP,
        end(name, 1),
    )
    return Case(name, (Topic(name, {}, ((2, 1, 3),)),), steps, (write(name, 2), reassigned(name, [1, 2, 3]), SETTLED))


def _transaction() -> Case:
    """The marker of a transaction is above the high watermark, so that the transaction is not stable."""
    name = "lag.transaction"
    producer = Producer(name)
    steps: tuple[Step, ...] = (
        producer.init(),
        producer.add(),
        producer.write(),
        Pause(500),
        PauseNode(3),
        producer.end(),
        Pause(500),
        producer.described(),
        end(name, 1),
        end(name, 1, 1),
        SHRUNK,
        producer.described(),
        end(name, 1),
        end(name, 1, 1),
        ResumeNode(3),
        CAUGHT_UP,
        end(name, 1, 1),
    )
    return Case(name, (Topic(name, {}, ((1, 3),)),), steps)


def _moved() -> Case:
    """Partitions are moved to a node that does not follow: the reassignments stay in progress until it does."""
    name = "lag.moved"
    topics = [Topic(f"{name}.{word}", {}, ((1, 2),)) for word in ("grown", "elsewhere", "cancelled", "replaced")]
    grown, elsewhere, cancelled, replaced = names = [topic.name for topic in topics]
    steps: list[Step] = [
        PauseNode(3),
        reassigned(grown, [1, 2, 3]),
        *(reassigned(each, [3]) for each in (elsewhere, cancelled, replaced)),
        SETTLED,
        listed(*names),
        described(*names),
        metadata(12, elsewhere),
        *(write(each, 1) for each in names),
        SHRUNK,
        listed(*names),
        reassigned(cancelled, None),
        reassigned(replaced, [2]),
        SETTLED,
        listed(*names),
        described(*names),
        ResumeNode(3),
        CAUGHT_UP,
        listed(*names),
        described(*names),
    ]
    return Case(name, tuple(topics), tuple(steps), tuple(write(each, 1) for each in names))
