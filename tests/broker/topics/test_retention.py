"""Retention as clients see it, by the timer of a broker."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import START_MS, World, produce, produce_request
from tests.broker.topics.aged_records import append, start_of, world_of

CHECK_MS = 1000
SETTINGS = {
    "log.initial.task.delay.ms": "500",
    "log.retention.check.interval.ms": str(CHECK_MS),
}


def retaining(**configs: str) -> World:
    return world_of(SETTINGS, configs)


def test_records_beyond_retention_ms_are_deleted() -> None:
    world = retaining(retention_ms="5000", segment_ms="2000")
    for age in (0, 1000, 4000):
        append(world, START_MS + age)
    world.advance(5000)
    assert start_of(world) == 0
    world.advance(2000)
    assert start_of(world) == 2
    answer = world.client().call(
        FETCH,
        11,
        FetchRequest(
            max_wait_ms=0,
            min_bytes=1,
            topics=[FetchTopic(topic="t", partitions=[FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=100)])],
        ),
    )
    assert answer.responses[0].partitions[0].error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    world.advance(10_000)
    assert start_of(world) == 3  # all records, even those of the active segment
    assert append(world, START_MS + 17_000) == 3


def test_retention_runs_after_initial_delay_and_at_interval() -> None:
    world = retaining(retention_ms="0")
    append(world, START_MS - 1)
    world.advance(499)
    assert start_of(world) == 0
    world.advance(1)
    assert start_of(world) == 1
    append(world, START_MS)
    world.advance(CHECK_MS - 1)
    assert start_of(world) == 1
    world.advance(1)
    assert start_of(world) == 2


def test_records_beyond_retention_bytes_are_deleted(caplog: pytest.LogCaptureFixture) -> None:
    world = retaining(retention_bytes="2000", internal_segment_bytes="1000")
    for _ in range(20):
        append(world)
    size = world.cluster.topics["t"].partitions[0].log.size // 20
    with caplog.at_level(logging.INFO):
        world.advance(600)
    per_file = 1000 // size
    assert start_of(world) == (20 * size - 2000) // (per_file * size) * per_file > 0
    assert f"[UnifiedLog partition=t-0] the log starts at {start_of(world)}" in caplog.text


def test_retention_ms_negative_keeps_records() -> None:
    world = retaining(retention_ms="-1")
    append(world, 1000)
    world.advance(100_000)
    assert start_of(world) == 0


def test_compacted_topic_keeps_records() -> None:
    world = retaining(cleanup_policy="compact", retention_ms="0", retention_bytes="0")
    append(world, 1000)
    world.advance(100_000)
    assert start_of(world) == 0


def test_waiting_fetch_of_emptied_log_continues() -> None:
    world = retaining(retention_ms="0")
    append(world)
    reader = world.client()
    wanted = FetchPartition(partition=0, fetch_offset=1, partition_max_bytes=100)
    reader.send(FETCH, 11, FetchRequest(max_wait_ms=5000, min_bytes=1, topics=[FetchTopic(topic="t", partitions=[wanted])]))
    world.advance(2000)
    assert (start_of(world), reader.receive()) == (1, None)
    produce(world, "t", b"x")
    assert reader.receive().responses[0].partitions[0].high_watermark == 2


@pytest.mark.parametrize("producer", [{}, {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0}])
def test_records_without_timestamps_age_from_their_append(producer: dict[str, Any]) -> None:
    world = retaining(retention_ms="5000")
    world.advance(3000)
    batch = bytes(build_batch([Record(0, -1, b"k", b"v", [])], **producer))
    world.client().call(PRODUCE, 9, produce_request("t", batch))
    world.advance(5000)
    assert start_of(world) == 0
    world.advance(CHECK_MS)
    assert start_of(world) == 1
