"""A waiting fetch reads only changed partitions again, and its response equals that of a new fetch at that moment."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, cast

import pytest

from odradek.broker.fetching.read import FetchRead
from odradek.broker.topics.partition import Partition
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData
from odradek.protocol.messages.produce import PRODUCE
from odradek.storage.log import Log
from tests.broker.harness import Client, World, a_batch, produce, produce_request

PARTITIONS, POLLS = 200, 20
MANY = 1000
"""Partitions that are read in several slices."""


@pytest.fixture
def world() -> World:
    world = World(nodes=1)
    world.cluster.topics.create("t", PARTITIONS)
    return world


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Log]:
    """Returns the logs that are read, in order."""
    found: list[Log] = []
    read = FetchRead._read_records

    def count(self: FetchRead, data: PartitionData, partition: Partition, wanted: FetchPartition) -> None:
        found.append(partition.log)
        read(self, data, partition, wanted)

    monkeypatch.setattr(FetchRead, "_read_records", count)
    return found


def request(indexes: Sequence[int] = range(PARTITIONS), *, partition_max_bytes: int = 1 << 20, **options: Any) -> FetchRequest:
    wanted = [FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=partition_max_bytes) for index in indexes]
    topics = [FetchTopic(topic="t", topic_id=bytes(16), partitions=wanted)]
    fields: dict[str, Any] = {"max_wait_ms": 1000, "min_bytes": 1, "max_bytes": 1 << 20, "topics": topics}
    return FetchRequest(**(fields | options))


def polling(world: World, count: int = POLLS, **options: Any) -> list[Client]:
    clients = [world.client() for _ in range(count)]
    for client in clients:
        client.send(FETCH, 11, request(**options))
    return clients


def records(response: FetchResponse) -> dict[int, int]:
    """Returns the bytes of each partition with records."""
    found = {each.partition_index: len(cast(bytes, each.records)) for topic in response.responses for each in topic.partitions}
    return {index: size for index, size in found.items() if size}


def test_produce_makes_each_fetch_read_one_partition(world: World, reads: list[Log]) -> None:
    clients = polling(world)
    assert len(reads) == POLLS * PARTITIONS
    reads.clear()
    produce(world, "t", b"v", partition=7)
    assert reads == [world.cluster.topics["t"].partitions[7].log] * POLLS
    assert [list(records(client.receive())) for client in clients] == [[7]] * POLLS


def test_produce_below_min_bytes_keeps_the_fetch_waiting(world: World, reads: list[Log]) -> None:
    (client,) = polling(world, 1, min_bytes=300)
    reads.clear()
    for index in (3, 5):
        produce(world, "t", b"v" * 50, partition=index)
    assert client.receive() is None
    produce(world, "t", b"v" * 50, partition=3)
    assert list(records(client.receive())) == [3, 5]
    assert len(reads) == 3


def test_fetch_at_its_deadline_reads_nothing_again(world: World, reads: list[Log]) -> None:
    clients = polling(world)
    reads.clear()
    world.advance(1000)
    assert [records(client.receive()) for client in clients] == [{}] * POLLS
    assert not reads


def test_fetch_listing_a_partition_twice_answers_it_once(world: World) -> None:
    (client,) = polling(world, 1, indexes=[4, 4, 5])
    produce(world, "t", b"v", partition=4)
    (topic,) = client.receive().responses
    assert [(each.partition_index, bool(each.records)) for each in topic.partitions] == [(4, True), (5, False)]


@pytest.mark.parametrize("change", ["delete", "elect", "retention"])
def test_woken_fetch_returns_other_changes_too(world: World, change: str) -> None:
    topic = world.cluster.topics["t"]
    produce(world, "t", b"v", partition=1)
    (client,) = polling(world, 1, min_bytes=10_000)
    match change:
        case "delete":
            world.cluster.delete_topic(topic)
        case "elect":
            topic.partitions[1].leader, topic.partitions[1].replicas = 2, [2]
            world.cluster.wake(topic.partitions[1])
        case "retention":
            topic.config.alter({"retention.bytes": "0", "internal.segment.bytes": "1"})
            world.cluster.log_retention.delete_expired()
    world.core.run_ready()
    world.end_turn()
    answers = [(each.partition_index, each.error_code) for topic in client.receive().responses for each in topic.partitions]
    failed = {"delete": (3, PARTITIONS), "elect": (6, 1), "retention": (1, 1)}[change]
    assert len([code for _, code in answers if code == failed[0]]) == failed[1]


@pytest.mark.parametrize("seed", range(40))
def test_woken_fetch_equals_a_new_fetch(seed: int) -> None:
    random = Random(seed)
    world = World(nodes=1)
    world.cluster.topics.create("t", 4)
    indexes = [random.randrange(4) for _ in range(random.randint(1, 5))]
    limits = {"max_bytes": random.choice([300, 1000, 1 << 20]), "partition_max_bytes": random.choice([10, 200, 1 << 20])}
    (client,) = polling(world, 1, indexes=indexes, min_bytes=random.choice([1, 400, 900]), **limits)
    for _ in range(12):
        produce(world, "t", b"v" * random.choice([1, 100, 300]), partition=random.randrange(4))
        if answer := client.receive():
            assert answer == world.client().call(FETCH, 11, request(indexes, max_wait_ms=0, **limits))
            return
    world.advance(1000)
    assert client.receive() == world.client().call(FETCH, 11, request(indexes, max_wait_ms=0, **limits))


@pytest.mark.parametrize("turns", range(0, 20, 2))
def test_large_fetch_returns_a_record_written_between_slices(turns: int) -> None:
    """A Fetch of many partitions is read in several turns, between which records may be written."""
    world = World(1, stepwise=True)
    world.cluster.topics.create("t", MANY)
    reader, writer = world.client(), world.client()
    wanted = [FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=1000) for index in range(MANY)]
    reader.send(FETCH, 12, FetchRequest(max_wait_ms=60_000, min_bytes=1, topics=[FetchTopic(topic="t", partitions=wanted)]))
    for _ in range(turns):
        world.turn()
    writer.call(PRODUCE, 9, produce_request("t", a_batch(b"x")))
    while world.turns.has_more:
        world.turn()
    answer = reader.receive()
    assert answer is not None, "the record that was written meanwhile is missed"
    assert answer.responses[0].partitions[0].records
