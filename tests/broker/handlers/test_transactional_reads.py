"""Fetch and ListOffsets of committed records only (isolation level read_committed)."""

from __future__ import annotations

import pytest

from odradek.protocol.messages.delete_records import DELETE_RECORDS, DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from odradek.protocol.messages.list_offsets import LIST_OFFSETS, ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from tests.broker.harness import START_MS, World, produce
from tests.broker.transactions.producer import Producer
from tests.broker.transactions.reading import fetch, read_committed


@pytest.fixture
def world() -> World:
    return World().with_topic("t", 2)


def test_fetch_committed_ends_at_open_transaction(world: World) -> None:
    producer = Producer(world)
    produce(world, "t", b"a")
    assert producer.write(b"x") == 0
    produce(world, "t", b"b")
    data = fetch(world, "t", 0, committed=True)
    assert (data.high_watermark, data.last_stable_offset, data.aborted_transactions) == (3, 1, [])
    assert read_committed(world, "t", 0) == ([b"a"], 1)
    everything = fetch(world, "t", 0, committed=False)
    assert (everything.last_stable_offset, everything.aborted_transactions) == (1, None)
    producer.end(commit=False)
    assert read_committed(world, "t", 0) == ([b"a", b"b"], 4)
    assert fetch(world, "t", 0, committed=False).aborted_transactions is None


def test_fetch_returns_aborted_transactions_of_range(world: World) -> None:
    producer = Producer(world)
    for _ in range(3):
        assert producer.write(b"x") == 0
        producer.end(commit=False)
    aborted = fetch(world, "t", 0, 2, committed=True, max_bytes=100).aborted_transactions
    assert [(each.producer_id, each.first_offset) for each in aborted or []] == [(producer.id, 2)]
    aborted = fetch(world, "t", 0, 0, committed=True).aborted_transactions
    assert [each.first_offset for each in aborted or []] == [0, 2, 4]
    assert fetch(world, "t", 0, 6, committed=True).aborted_transactions == []


def test_fetch_last_stable_offset_after_delete_records(world: World) -> None:
    producer = Producer(world)
    assert producer.write(b"x") == 0
    produce(world, "t", b"a")
    request = DeleteRecordsRequest(
        topics=[DeleteRecordsTopic(name="t", partitions=[DeleteRecordsPartition(partition_index=0, offset=-1)])], timeout_ms=1
    )
    assert world.leader_of("t").call(DELETE_RECORDS, 2, request).topics[0].partitions[0].low_watermark == 2
    produce(world, "t", b"b")
    assert fetch(world, "t", 0, 2, committed=True).last_stable_offset == 2
    producer.end(commit=False)
    assert fetch(world, "t", 0, 2, committed=True).last_stable_offset == 4


@pytest.mark.parametrize(("committed", "expected"), [(True, [1, 0, -1, -1]), (False, [2, 0, 1, 1])])
def test_list_offsets_committed_ends_at_open_transaction(committed: bool, expected: list[int]) -> None:
    """Looks up the end, the start, the first record since a timestamp, and the record with the highest timestamp."""
    world = World()
    world.cluster.topics.create("t", 1, configs={"message.timestamp.type": "LogAppendTime"})
    produce(world, "t", b"a")
    world.advance(1000)
    assert Producer(world).write(b"x") == 0
    found = []
    for timestamp in (-1, -2, START_MS + 1, -3):
        wanted = ListOffsetsPartition(partition_index=0, timestamp=timestamp)
        request = ListOffsetsRequest(
            replica_id=-1, isolation_level=int(committed), topics=[ListOffsetsTopic(name="t", partitions=[wanted])]
        )
        answer = world.leader_of("t").call(LIST_OFFSETS, 7, request).topics[0].partitions[0]
        assert answer.error_code == 0
        found.append(answer.offset)
    assert found == expected
