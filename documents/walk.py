"""Writes docs/walk.md and its diagrams: a librdkafka client and two brokers, from the first connection to the end of the partitions.

`make docs` runs it. The diagrams show what really happened, made comparable between runs: librdkafka uses several threads, so that the
order of what it does at the same time, and the number of repetitions, differ each time. Therefore each exchange is shown once for each
node, in the order of `STEPS`, without times and ports. Requests that any node answers are shown at the first one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import confluent_kafka
from confluent_kafka import Consumer, KafkaError, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from odradek import Cluster
from odradek.broker.wire.diagrams.layout import diagram_of
from odradek.broker.wire.diagrams.svg import as_svg
from odradek.broker.wire.exchange import Entry, Event, Exchange, Moment
from odradek.broker.wire.labels import request_label, response_label

DOCS = Path(__file__).parents[1] / "docs"
PATIENCE_S = 60.0
STEPS = (
    "connection opened",
    "ApiVersions",
    "Metadata",
    "CreateTopics",
    "InitProducerId",
    "Produce",
    "FindCoordinator",
    "JoinGroup",
    "SyncGroup",
    "OffsetFetch",
    "ListOffsets",
    "Fetch",
    "OffsetCommit",
    "LeaveGroup",
)
"""The steps that are shown, in this order. Heartbeats are left out, because their number depends on the time."""
ANYWHERE = ("Metadata", "FindCoordinator")
VERSION = confluent_kafka.libversion()[0]

TEXT = """\
# A walk along the wire

Two brokers and a librdkafka client, which creates a topic, writes to the leaders of both partitions, and reads to the end of both. The
page and its diagrams are generated from the record of a session with librdkafka {version} (`make docs`), and a test repeats the session.
Exchanges that librdkafka repeats are shown once, those that any node may answer (Metadata, FindCoordinator) at node 1, and heartbeats are
left out. [wire.md](wire.md) explains how to see your own client like this.

## Creating a topic

The client connects to the bootstrap server and asks which versions of each API the broker serves. The Metadata response lists the nodes
and the controller, to which CreateTopics has to go.

![A client creates a topic: ApiVersions, Metadata and CreateTopics](walk-created.svg)

## Writing to both leaders

The producer learns from Metadata which node leads which partition, and connects to both. Each batch goes to the leader of its partition.
The response contains the offset of the first record.

![A producer writes to the leaders of both partitions](walk-written.svg)

## Reading until the end

The consumer asks which node coordinates its group, joins, and gets both partitions. The group has no commit yet, so it asks for the first
offset of each partition and fetches from there. When a fetch returns no records, because none came while it waited, the consumer is at the
end of the partition and reports `_PARTITION_EOF`; the broker has no such error. Closing the consumer commits its offsets and leaves the
group.

![A consumer joins a group, reads both partitions to the end and leaves](walk-read.svg)
"""


def files() -> dict[str, str]:
    """Returns the page and the diagrams of a new session by the names of their files."""
    pages = {"walk.md": TEXT.format(version=VERSION)}
    with Cluster(nodes=2, settings={"group.initial.rebalance.delay.ms": 0}, seed=1) as cluster:
        names = {"bootstrap.servers": cluster.bootstrap_servers.split(",")[0], "log_level": 0}
        for phase in (_created, _written, _read):
            mark = cluster.wire.mark()
            phase(names)
            cluster.wait_until(lambda: not cluster.connections(), timeout_s=PATIENCE_S)
            svg = as_svg(diagram_of(list(comparable(cluster.wire.since(mark)))), times=False)
            pages[f"walk-{phase.__name__[1:]}.svg"] = re.sub(r"\d+ APIs", "the APIs with their versions", svg)
    return pages


def _created(names: dict[str, Any]) -> None:
    admin = AdminClient(names | {"client.id": "admin"})
    admin.create_topics([NewTopic("orders", 2, replica_assignment=[[1], [2]])])["orders"].result(PATIENCE_S)


def _written(names: dict[str, Any]) -> None:
    producer = Producer(names | {"client.id": "producer"})
    for partition in range(2):
        producer.produce("orders", b"hello", partition=partition)
        assert producer.flush(PATIENCE_S) == 0


def _read(names: dict[str, Any]) -> None:
    group = {"group.id": "readers", "auto.offset.reset": "earliest", "enable.partition.eof": True}
    with closing(Consumer(names | group | {"client.id": "consumer"})) as consumer:
        consumer.subscribe(["orders"])
        read = 0
        ends: set[int | None] = set()
        while read < 2 or len(ends) < 2:
            message = consumer.poll(PATIENCE_S)
            assert message is not None
            error = message.error()
            if error is None:
                read += 1
            else:
                assert error.code() == KafkaError._PARTITION_EOF, error
                ends.add(message.partition())


def comparable(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Yields the entries as every session has them: each once, in the order of STEPS and of the nodes, one after the other."""
    known = {entry.connection for entry in entries if isinstance(entry, Exchange) and entry.api != "ApiVersions"}
    shown: dict[tuple[object, ...], Entry] = {}
    for entry in entries:
        if _name(entry) in STEPS and entry.connection in known and not _is_unanswered(entry):
            placed = replace(entry, node=1) if _name(entry) in ANYWHERE else entry
            shown.setdefault((_name(placed), placed.node, *_labels(placed)), placed)
    ranked = sorted(shown.values(), key=lambda entry: (STEPS.index(_name(entry)), entry.node or 0, _is_empty(entry)))
    return map(_at_rank, range(len(ranked)), ranked)


def _name(entry: Entry) -> str:
    return entry.kind if isinstance(entry, Event) else entry.api


def _labels(entry: Entry) -> Iterable[str]:
    return () if isinstance(entry, Event) else (request_label(entry), response_label(entry))


def _is_unanswered(entry: Entry) -> bool:
    """Returns whether a request, such as the last fetch, has no response, because the client has closed its connection."""
    return isinstance(entry, Exchange) and entry.response_frame is None


def _is_empty(entry: Entry) -> bool:
    """Returns whether an exchange is a fetch without records, which comes after those with records."""
    return isinstance(entry, Exchange) and "no records" in response_label(entry)


def _at_rank(rank: int, entry: Entry) -> Entry:
    """Returns an entry at a time of its own, without what differs between sessions."""
    moment = Moment(float(rank), float(rank))
    if isinstance(entry, Event):
        return replace(entry, sequence=rank, at=moment, text=f"connects to node {entry.node}")
    software = re.sub(r".*rdkafka-", "librdkafka ", entry.software)
    return replace(entry, sequence=rank, received=moment, answered=moment, software=software, waits=(), ended="")


if __name__ == "__main__":
    for name, text in files().items():
        (DOCS / name).write_text(text, encoding="utf-8")
