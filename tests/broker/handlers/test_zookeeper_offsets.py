"""OffsetCommit and OffsetFetch v0."""

from __future__ import annotations

from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.offset_commit import (
    OFFSET_COMMIT,
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.messages.offset_fetch import OFFSET_FETCH, OffsetFetchRequest, OffsetFetchRequestTopic
from tests.broker.harness import Client, World


def world(as_version: str) -> World:
    world = World(as_version=as_version, settings={"offset.metadata.max.bytes": "4"})
    world.cluster.topics.create("t", 2, 1)
    return world


def commit(world: World, version: int, offsets: dict[int, int], topic: str = "t", metadata: str = "m") -> list[tuple[int, int]]:
    partitions = [
        OffsetCommitRequestPartition(partition_index=index, committed_offset=offset, committed_metadata=metadata, commit_timestamp=-1)
        for index, offset in offsets.items()
    ]
    request = OffsetCommitRequest(group_id="g", topics=[OffsetCommitRequestTopic(name=topic, partitions=partitions)])
    response = coordinator(world).call(OFFSET_COMMIT, version, request)
    return [(each.partition_index, each.error_code) for each in response.topics[0].partitions]


def fetched(world: World, version: int, *indexes: int) -> list[tuple[int, int, str, int]]:
    topic = OffsetFetchRequestTopic(name="t", partition_indexes=list(indexes))
    response = coordinator(world).call(OFFSET_FETCH, version, OffsetFetchRequest(group_id="g", topics=[topic]))
    return [(each.partition_index, each.committed_offset, each.metadata, each.error_code) for each in response.topics[0].partitions]


def coordinator(world: World) -> Client:
    world.cluster.topics.ensure_internal("__consumer_offsets")
    partition = world.cluster.coordinator_log.partition("g", "__consumer_offsets")
    assert partition is not None
    return world.client(partition.leader)


def test_offsets_of_v0_are_apart_from_those_of_v1() -> None:
    cluster = world("2.8")
    assert commit(cluster, 0, {0: 7}) == [(0, 0)]
    assert commit(cluster, 1, {0: 9}) == [(0, 0)]
    assert fetched(cluster, 0, 0, 1) == [(0, 7, "", 0), (1, -1, "", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)]
    assert fetched(cluster, 1, 0) == [(0, 9, "m", 0)]


def test_offset_commit_v0_with_errors_of_partitions() -> None:
    cluster = world("2.8")
    assert commit(cluster, 0, {0: 1, 5: 1}) == [(5, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), (0, 0)]
    assert commit(cluster, 0, {1: 1}, metadata="longer") == [(1, ErrorCode.OFFSET_METADATA_TOO_LARGE)]
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert fetched(cluster, 0, 1, 5) == [(1, -1, "", unknown), (5, -1, "", unknown)]


def test_offsets_of_v0_are_unsupported_with_kraft() -> None:
    cluster = world("3.9")
    assert commit(cluster, 0, {0: 7}) == [(0, ErrorCode.UNSUPPORTED_VERSION)]
    assert fetched(cluster, 0, 0) == [(0, -1, "", ErrorCode.UNSUPPORTED_VERSION)]
