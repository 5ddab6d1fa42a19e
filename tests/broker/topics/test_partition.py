"""Partitions: appends of coordinators, transaction markers, and the last stable offset."""

from __future__ import annotations

import pytest

from odradek.broker.topics.partition import Partition
from odradek.broker.transactions.transaction import Marker, Producer
from odradek.protocol.stored.coordinator_records import CoordinatorRecord
from odradek.storage.producers import StaleProducerEpoch
from tests.broker.harness import START_MS, World

RECORDS = [CoordinatorRecord(b"k", b"1"), CoordinatorRecord(b"k", b"2")]


@pytest.fixture
def partition() -> Partition:
    return World(nodes=1).cluster.topics.create("t", 1).partitions[0]


def test_append_records_without_producer_is_stable(partition: Partition) -> None:
    partition.append_records(RECORDS, START_MS, None)
    assert (partition.log.end_offset, partition.last_stable_offset) == (2, 2)


def test_append_records_of_transaction_is_stable_after_marker(partition: Partition) -> None:
    partition.append_records(RECORDS, START_MS, Producer(7, 0))
    assert (partition.log.end_offset, partition.last_stable_offset) == (2, 0)
    partition.append_marker(Marker(Producer(7, 0), 0, True, False), START_MS)
    assert (partition.log.end_offset, partition.last_stable_offset) == (3, 3)


def test_append_records_of_older_epoch_raises(partition: Partition) -> None:
    partition.append_records(RECORDS, START_MS, Producer(7, 2))
    with pytest.raises(StaleProducerEpoch):
        partition.append_records(RECORDS, START_MS, Producer(7, 1))


def test_delete_before_moves_the_last_stable_offset(partition: Partition) -> None:
    partition.append_records(RECORDS, START_MS, Producer(7, 0))
    partition.append_records(RECORDS, START_MS, None)
    partition.delete_before(2)
    assert (partition.log.start_offset, partition.last_stable_offset) == (2, 2)


def test_truncate_to_lowers_cleaned_until(partition: Partition) -> None:
    partition.append_records(RECORDS, START_MS, None)
    partition.append_records(RECORDS, START_MS, None)
    partition.cleaned_until = 4
    partition.truncate_to(2)
    assert (partition.log.end_offset, partition.cleaned_until) == (2, 2)


def test_partition_out_of_range_is_none() -> None:
    topic = World().cluster.topics.create("t", 2)
    assert [topic.partition(index) for index in (-1, 0, 1, 2)] == [None, *topic.partitions, None]


def test_add_partitions_puts_running_replicas_in_sync() -> None:
    world = World()
    topic = world.cluster.topics.create("t", 1)
    world.cluster.brokers[1].fenced = True
    world.cluster.topics.add_partitions(topic, [[1, 2], [2, 1]])
    assert [(partition.index, partition.leader, partition.isr) for partition in topic.partitions[1:]] == [(1, 2, [2]), (2, 2, [2])]


def test_is_internal_only_for_kafkas_own_topics() -> None:
    cluster = World().cluster
    cluster.topics.ensure_internal("__consumer_offsets")
    assert cluster.topics["__consumer_offsets"].is_internal
    assert not cluster.topics.create("__other", 1).is_internal
