"""Events about records that have expired, or were compacted or deleted."""

from __future__ import annotations

from odradek.broker.wire.exchange import Event
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record
from odradek.protocol.messages.delete_records import (
    DELETE_RECORDS,
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import START_MS, World, produce_request

SETTINGS = {"log.initial.task.delay.ms": "500", "log.retention.check.interval.ms": "1000", "log.cleaner.backoff.ms": "1000"}


def world_of(partitions: int = 1, **configs: str) -> World:
    world = World(nodes=1, settings=SETTINGS)
    world.cluster.topics.create("t", partitions, configs={name.replace("_", "."): text for name, text in configs.items()})
    return world


def append(world: World, partition: int = 0, timestamp: int = START_MS) -> None:
    batch = bytes(build_batch([Record(0, timestamp, b"k", bytes(100), [])]))
    world.client().call(PRODUCE, 9, produce_request("t", batch, partition=partition))


def told(world: World, kind: str) -> list[Event]:
    assert world.core.record is not None
    return [entry for entry in world.core.record.entries() if isinstance(entry, Event) and entry.kind == kind]


def delete(world: World, name: str, *partitions: int) -> None:
    wanted = [DeleteRecordsPartition(partition_index=each, offset=1) for each in partitions]
    world.client().call(DELETE_RECORDS, 2, DeleteRecordsRequest(topics=[DeleteRecordsTopic(name=name, partitions=wanted)], timeout_ms=1))


def test_expired_records_are_one_event_of_their_topic() -> None:
    world = world_of(3, retention_ms="5000")
    for partition in (0, 0, 2):
        append(world, partition)
    world.advance(20_000)
    (event,) = told(world, "expired")
    reason = "older records are beyond retention.ms or retention.bytes"
    assert event.text == f"t-0 (and 1 more) begins at offset 2 instead of 0: {reason}"
    assert event.fields == {"topic": "t", "partition": 0, "start_offset": 2, "partitions": 2, "records": 3}


def test_records_within_retention_are_no_event() -> None:
    world = world_of()
    append(world)
    world.advance(20_000)
    assert told(world, "expired") == []


def test_compaction_is_an_event_if_it_removes_records() -> None:
    world = world_of(cleanup_policy="compact", segment_ms="1000")
    for second in (0, 0, 5):
        append(world, timestamp=START_MS + 1000 * second)
    world.advance(20_000)
    (event,) = told(world, "compacted")
    assert event.text.startswith("t-0 is compacted up to offset 2: ")
    assert event.fields == {"topic": "t", "partition": 0, "end_offset": 2}
    world.advance(20_000)
    assert len(told(world, "compacted")) == 1


def test_deleted_records_are_an_event_if_there_were_any() -> None:
    world = world_of(2)
    for partition in (0, 1):
        append(world, partition)
    delete(world, "t", 0, 1)
    delete(world, "t", 0, 1)
    delete(world, "nope", 0)
    (event,) = told(world, "deleted")
    assert event.text == "t-0 (and 1 more) begins at offset 1 instead of 0: a client has deleted older records"
    assert event.fields["records"] == 2
