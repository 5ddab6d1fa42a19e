"""Records that a client writes and reads back."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace

from odradek.broker import Cluster
from tests.clients.client import PATIENCE_S, Client, Member, Record


def produce(client: Client, cluster: Cluster, topic: str, records: list[Record], codec: str) -> None:
    with closing(client.producer(cluster.bootstrap_servers, topic, codec, idempotent=False)) as producer:
        producer.send(records)
        producer.flush()


def poll(member: Member, count: int, commit: bool = False) -> list[Record]:
    """Returns at least `count` records, or fails. With `commit` each poll is committed, so that a rebalance does not repeat records."""
    deadline = time.monotonic() + PATIENCE_S
    got: list[Record] = []
    while len(got) < count:
        assert time.monotonic() < deadline, f"{len(got)} of {count} records were read"
        records = member.poll(1.0)
        got += records
        if records and commit:
            member.commit()
    return got


def assert_same(expected: Iterable[Record], got: list[Record], started_ms: int) -> None:
    """Checks that each partition has the same records in the same order. A missing timestamp was set by the writer after `started_ms`."""
    for partition in (0, 1):
        wanted = [record for record in expected if record.partition == partition]
        came = [record for record in got if record.partition == partition]
        for want, have in zip(wanted, came, strict=False):
            if want.timestamp_ms is None:
                assert have.timestamp_ms is not None and started_ms <= have.timestamp_ms <= time.time() * 1000
                want = replace(want, timestamp_ms=have.timestamp_ms)
            assert have == want
        assert len(came) == len(wanted)
