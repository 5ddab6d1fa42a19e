from __future__ import annotations

from typing import Any

import pytest

from odradek.protocol.batches.compression import Compression
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.list_offsets import LIST_OFFSETS, ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.messages.offset_for_leader_epoch import (
    OFFSET_FOR_LEADER_EPOCH,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import START_MS, World, produce, produce_request

VERSIONS = range(LIST_OFFSETS.versions.first, LIST_OFFSETS.versions.last + 1)


@pytest.fixture
def world() -> World:
    """Returns a world whose topic has the offsets 0 to 4 with the timestamps 1000, 1001, 1002, 1000, 1001."""
    world = World(nodes=1)
    world.cluster.topics.create("t", 1)
    produce(world, "t", b"a", b"b", b"c")
    produce(world, "t", b"d", b"e")
    return world


def ask(world: World, timestamp: int, version: int = 11, *, name: str = "t", times: int = 1, **options: Any) -> Any:
    wanted = [ListOffsetsPartition(partition_index=0, timestamp=timestamp, **options)] * times
    request = ListOffsetsRequest(replica_id=-1, isolation_level=0, topics=[ListOffsetsTopic(name=name, partitions=wanted)], timeout_ms=1000)
    answers = world.client().call(LIST_OFFSETS, version, request).topics[0].partitions
    return answers[0] if times == 1 else answers


@pytest.mark.parametrize("version", VERSIONS)
def test_latest_earliest_and_timestamps_give_offsets(world: World, version: int) -> None:
    found = [(ask(world, timestamp, version).offset, ask(world, timestamp, version).timestamp) for timestamp in (-1, -2, 1001, 1003)]
    assert found == [(5, -1), (0, -1), (1, 1001), (-1, -1)]


def test_result_has_the_leader_epoch_of_its_offset(world: World) -> None:
    world.cluster.topics["t"].partitions[0].elect(1)
    produce(world, "t", b"f", b"g", b"h", b"i")
    assert [ask(world, timestamp).leader_epoch for timestamp in (-1, -2, 1001, 1003, 9999)] == [1, 0, 0, 1, -1]


def test_max_timestamp_gives_the_newest_record(world: World) -> None:
    answer = ask(world, -3)
    assert (answer.timestamp, answer.offset) == (1002, 2)


def test_tiered_storage_timestamps_give_local_offsets(world: World) -> None:
    assert [ask(world, timestamp).offset for timestamp in (-4, -5, -6)] == [0, -1, -1]


@pytest.mark.parametrize(("timestamp", "version"), [(-3, 6), (-4, 7), (-5, 8), (-6, 10), (-7, 11)])
def test_special_timestamps_before_their_version_are_refused(world: World, timestamp: int, version: int) -> None:
    assert ask(world, timestamp, version).error_code == ErrorCode.UNSUPPORTED_VERSION


def test_max_timestamp_of_an_empty_log_is_not_found() -> None:
    world = World(nodes=1)
    world.cluster.topics.create("t", 1)
    assert [(ask(world, timestamp).timestamp, ask(world, timestamp).offset) for timestamp in (-3, 0, -1, -2)] == [
        (-1, -1),
        (-1, -1),
        (-1, 0),
        (-1, 0),
    ]


def test_deleted_records_are_not_found(world: World) -> None:
    world.cluster.topics["t"].partitions[0].log.delete_before(1)
    assert [ask(world, timestamp).offset for timestamp in (-2, 1000, 1001)] == [1, 1, 1]


@pytest.mark.parametrize("codec", list(Compression))
def test_timestamps_in_compressed_batches_are_found(world: World, codec: Compression) -> None:
    produce(world, "t", *[b"x"] * 10, compression=codec)
    assert (ask(world, 1007).offset, ask(world, 1007).timestamp) == (12, 1007)


def test_list_offsets_errors_of_topics_and_leaders(world: World) -> None:
    assert ask(world, -1, name="nope").error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert ask(world, -1, current_leader_epoch=3).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
    assert [answer.error_code for answer in ask(world, -1, times=2)] == [ErrorCode.INVALID_REQUEST]


def end_of(world: World, epoch: int, name: str = "t", current: int = -1) -> tuple[int, int, int]:
    wanted = OffsetForLeaderPartition(partition=0, current_leader_epoch=current, leader_epoch=epoch)
    request = OffsetForLeaderEpochRequest(topics=[OffsetForLeaderTopic(topic=name, partitions=[wanted])])
    answer = world.client().call(OFFSET_FOR_LEADER_EPOCH, 4, request).topics[0].partitions[0]
    return answer.error_code, answer.leader_epoch, answer.end_offset


def test_leader_epochs_have_end_offsets(world: World) -> None:
    partition = world.cluster.topics["t"].partitions[0]
    partition.elect(1)
    partition.elect(1)
    produce(world, "t", b"f")
    assert end_of(world, 0) == (0, 0, 5)
    assert end_of(world, 2) == (0, 2, 6)
    assert end_of(world, 3) == (0, -1, -1)
    assert end_of(world, 2, current=1)[0] == ErrorCode.FENCED_LEADER_EPOCH
    assert end_of(world, 0, name="nope") == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1, -1)


def segmented(as_version: str = "2.8") -> World:
    """Returns a world whose topic has segments from 0, 2 and 4 on, which end at the timestamps 2001, 3001 and 4000."""
    world = World(nodes=1, as_version=as_version)
    world.cluster.topics.create("t", 1, configs={"segment.bytes": "100"})
    for first_ms, values in ((2000, (b"a", b"b")), (3000, (b"c", b"d")), (4000, (b"e",))):
        records = [Record(number, first_ms + number, None, value * 30, []) for number, value in enumerate(values)]
        world.client().call(PRODUCE, 3, produce_request("t", bytes(build_batch(records))))
    return world


def old_style(world: World, timestamp: int, count: int) -> list[int]:
    found: list[int] = ask(world, timestamp, 0, max_num_offsets=count).old_style_offsets
    return found


@pytest.mark.parametrize(
    ("timestamp", "count", "expected"),
    [
        (-1, 1, [5]),
        (-1, 2, [5, 4]),
        (-1, 10, [5, 4, 2, 0]),
        (-1, 0, []),
        (-1, -1, []),
        (-2, 10, [0]),
        (2000, 10, []),
        (2001, 10, [0]),
        (3500, 10, [2, 0]),
        (4000, 1, [4]),
        (START_MS, 10, [5, 4, 2, 0]),
    ],
)
def test_list_offsets_v0_gives_beginnings_of_segments(timestamp: int, count: int, expected: list[int]) -> None:
    assert old_style(segmented(), timestamp, count) == expected


def test_list_offsets_v0_of_an_empty_log_gives_its_end() -> None:
    world = World(nodes=1, as_version="3.9")
    world.cluster.topics.create("t", 1)
    assert [old_style(world, timestamp, 5) for timestamp in (-1, -2)] == [[0], [0]]


def test_list_offsets_v0_ends_at_the_high_watermark() -> None:
    world = World(nodes=2, as_version="2.8")
    world.cluster.topics.create("t", assignments=[[1, 2]], configs={"segment.bytes": "100"})
    produce(world, "t", b"a" * 60)
    world.cluster.replica_control.lag(world.cluster.topics["t"].partitions[0], 2, 10)
    for _ in range(2):
        produce(world, "t", b"b" * 60, acks=1)
    high_watermark = world.cluster.topics["t"].partitions[0].high_watermark
    assert old_style(world, -1, 10)[0] == high_watermark


def test_list_offsets_v0_error_has_no_offsets() -> None:
    answer = ask(World(nodes=1, as_version="2.8"), -1, 0)
    assert (answer.error_code, answer.old_style_offsets) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, [])


def test_list_offsets_by_time_needs_messages_with_timestamps() -> None:
    world = World(nodes=1, as_version="2.8")
    world.cluster.topics.create("t", 1, configs={"message.format.version": "0.9.0"})
    assert ask(world, 1000, 1).error_code == ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT
    assert not ask(world, -1, 1).error_code
