"""Groups and clients that commit offsets and fetch in tests of metrics."""

from __future__ import annotations

from odradek.broker.groups.offsets import CommittedOffset
from odradek.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from tests.broker.harness import START_MS, World


def commit(world: World, group: str, offsets: dict[tuple[str, int], int]) -> None:
    world.cluster.topics.ensure_internal("__consumer_offsets")
    committed = {key: CommittedOffset(offset, -1, "", START_MS) for key, offset in offsets.items()}
    world.cluster.groups.offsets.commit(group, committed)


def fetch(topic: str) -> FetchRequest:
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)
    return FetchRequest(max_wait_ms=1000, min_bytes=1, max_bytes=1000, topics=[FetchTopic(topic=topic, partitions=[partition])])
