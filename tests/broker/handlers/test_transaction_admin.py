"""DescribeTransactions, ListTransactions, DescribeProducers and WriteTxnMarkers."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.topics.names import CONSUMER_OFFSETS
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.describe_producers import DESCRIBE_PRODUCERS, DescribeProducersRequest, TopicRequest
from odradek.protocol.messages.describe_transactions import DESCRIBE_TRANSACTIONS, DescribeTransactionsRequest
from odradek.protocol.messages.list_transactions import LIST_TRANSACTIONS, ListTransactionsRequest
from odradek.protocol.messages.write_txn_markers import (
    WRITE_TXN_MARKERS,
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from tests.broker.harness import START_MS, World
from tests.broker.transactions.producer import STATE, Producer, wrong_node
from tests.broker.transactions.reading import fetch, read_committed


@pytest.fixture
def world() -> World:
    return World().with_topic("t", 2)


def describe(world: World, transactional_id: str) -> Any:
    request = DescribeTransactionsRequest(transactional_ids=[transactional_id])
    partition = world.cluster.coordinator_log.partition(transactional_id, STATE)
    assert partition is not None
    (state,) = world.client(partition.leader).call(DESCRIBE_TRANSACTIONS, 0, request).transaction_states
    return state


def test_describe_transactions_returns_state(world: World) -> None:
    producer = Producer(world, timeout_ms=7000)
    world.advance(5)
    state = describe(world, "x")
    assert (state.error_code, state.transaction_state, state.transaction_start_time_ms, state.topics) == (0, "Empty", -1, [])
    for partition in (1, 0):
        assert producer.write(b"v", partition=partition) == 0
    state = describe(world, "x")
    assert (state.transaction_state, state.transaction_timeout_ms, state.transaction_start_time_ms) == ("Ongoing", 7000, START_MS + 5)
    assert (state.producer_id, state.producer_epoch) == (producer.id, 0)
    assert [(topic.topic, topic.partitions) for topic in state.topics] == [("t", [1, 0])]
    producer.end(commit=True)
    state = describe(world, "x")
    assert (state.transaction_state, state.producer_epoch, state.topics) == ("CompleteCommit", 1, [])


def test_describe_transactions_unknown_returns_error(world: World) -> None:
    Producer(world)
    assert describe(world, "nobody").error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    assert describe(world, "").error_code == ErrorCode.INVALID_REQUEST
    other = wrong_node(world, "x", STATE).call(DESCRIBE_TRANSACTIONS, 0, DescribeTransactionsRequest(transactional_ids=["x"]))
    assert other.transaction_states[0].error_code == ErrorCode.NOT_COORDINATOR


def listed(world: World, version: int = 2, **options: Any) -> list[tuple[str, str]]:
    found = []
    for node in world.cluster.brokers.running:
        request = ListTransactionsRequest(**{"state_filters": [], "producer_id_filters": []} | options)
        answer = world.client(node).call(LIST_TRANSACTIONS, version, request)
        assert answer.error_code == 0
        found += [(each.transactional_id, each.transaction_state) for each in answer.transaction_states]
    return sorted(found)


def test_list_transactions_returns_matching_transactions(world: World) -> None:
    one, two = Producer(world, "one"), Producer(world, "two")
    assert one.write(b"v", transactional_id="one") == 0
    world.advance(1000)
    assert two.write(b"v", partition=1, transactional_id="two") == 0
    two.end(commit=False)
    everything = [("one", "Ongoing"), ("two", "CompleteAbort")]
    for version in range(3):
        assert listed(world, version) == everything
    assert listed(world, state_filters=["Ongoing"]) == everything[:1]
    assert listed(world, state_filters=["ongoing"]) == []
    assert listed(world, producer_id_filters=[two.id]) == everything[1:]
    assert listed(world, duration_filter=999) == everything[:1]
    assert listed(world, duration_filter=1000) == []
    assert listed(world, transactional_id_pattern="t.o") == everything[1:]
    assert listed(world, transactional_id_pattern="w") == []
    assert listed(world, transactional_id_pattern="") == everything


def test_list_transactions_invalid_filter_returns_error(world: World) -> None:
    request = ListTransactionsRequest(state_filters=["Dead", "Bogus", "PrepareEpochFence"], producer_id_filters=[])
    assert world.client().call(LIST_TRANSACTIONS, 0, request).unknown_state_filters == ["Bogus"]
    request = ListTransactionsRequest(state_filters=[], producer_id_filters=[], transactional_id_pattern="(")
    assert world.client().call(LIST_TRANSACTIONS, 2, request).error_code == ErrorCode.INVALID_REGULAR_EXPRESSION


def producers(world: World, topic: str = "t", partition: int = 0) -> Any:
    request = DescribeProducersRequest(topics=[TopicRequest(name=topic, partition_indexes=[partition])])
    return world.leader_of("t").call(DESCRIBE_PRODUCERS, 0, request).topics[0].partitions[0]


def test_describe_producers_returns_state(world: World) -> None:
    producer = Producer(world)
    assert producers(world).active_producers == []
    assert producer.write(b"a", b"b") == 0
    (state,) = producers(world).active_producers
    assert (state.producer_id, state.producer_epoch, state.last_sequence, state.last_timestamp) == (producer.id, 0, 1, 1001)
    assert (state.coordinator_epoch, state.current_txn_start_offset) == (-1, 0)
    producer.end(commit=True)
    (state,) = producers(world).active_producers
    assert (state.producer_epoch, state.last_sequence, state.last_timestamp) == (1, -1, START_MS)
    assert (state.coordinator_epoch, state.current_txn_start_offset) == (0, -1)


def test_describe_producers_on_follower_returns_state(world: World) -> None:
    producer = Producer(world)
    assert producer.write(b"a") == 0
    request = DescribeProducersRequest(topics=[TopicRequest(name="t", partition_indexes=[0])])
    answers = [world.client(node).call(DESCRIBE_PRODUCERS, 0, request).topics[0].partitions[0] for node in (1, 2)]
    assert [(answer.error_code, len(answer.active_producers)) for answer in answers] == [(0, 1), (0, 1)]


def test_describe_producers_unknown_partition_returns_error(world: World) -> None:
    leader = world.cluster.topics["t"].partitions[0].leader
    world.cluster.topics.create("elsewhere", assignments=[[3 - leader]])
    for topic, partition, code, message in (
        ("nope", 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition."),
        ("t", 9, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None),
        ("", 0, ErrorCode.INVALID_TOPIC_EXCEPTION, "Topic name is invalid: the empty string is not allowed"),
        ("elsewhere", 0, ErrorCode.NOT_LEADER_OR_FOLLOWER, None),
    ):
        answer = producers(world, topic, partition)
        assert (answer.error_code, answer.error_message, answer.active_producers) == (code, message, [])


def mark(world: World, version: int = 1, topic: str = "t", partition: int = 0, node: int | None = None, **options: Any) -> int:
    marker = WritableTxnMarker(**options, topics=[WritableTxnMarkerTopic(name=topic, partition_indexes=[partition])])
    client = world.leader_of("t") if node is None else world.client(node)
    answer = client.call(WRITE_TXN_MARKERS, version, WriteTxnMarkersRequest(markers=[marker]))
    return int(answer.markers[0].topics[0].partitions[0].error_code)


def test_write_txn_markers_ends_hanging_transaction(world: World) -> None:
    producer = Producer(world)
    assert producer.write(b"a") == 0
    marker = {"producer_id": producer.id, "producer_epoch": 0, "transaction_result": False}
    assert mark(world, **marker, coordinator_epoch=3) == 0
    assert read_committed(world, "t", 0) == ([], 2)
    assert mark(world, **marker, coordinator_epoch=2) == ErrorCode.TRANSACTION_COORDINATOR_FENCED
    # The coordinator's own marker is stale now, because it has a lower coordinator epoch.
    assert producer.end(commit=True).error_code == 0
    assert read_committed(world, "t", 0) == ([], 2)


def test_write_txn_markers_stale_returns_error(world: World) -> None:
    producer = Producer(world)
    assert producer.write(b"a") == 0
    marker = {"producer_id": producer.id, "transaction_result": True, "coordinator_epoch": 0}
    assert mark(world, **marker, producer_epoch=-2) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert mark(world, **marker, producer_epoch=-1) == ErrorCode.UNKNOWN_SERVER_ERROR
    assert mark(world, 2, **marker, producer_epoch=0, transaction_version=2) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert mark(world, 2, **marker, producer_epoch=1, transaction_version=2) == 0
    assert fetch(world, "t", 0, committed=True).last_stable_offset == 2


def test_offset_commit_behind_a_markers_epoch_returns_error(world: World) -> None:
    """Kafka's coordinator checks the epoch of its partition of __consumer_offsets too, and answers what the log refuses."""
    producer = Producer(world)
    assert producer.commit_offset(5) == 0
    offsets = world.cluster.coordinator_log.partition("g", CONSUMER_OFFSETS)
    assert offsets is not None
    marker = {"producer_id": producer.id, "producer_epoch": 9, "transaction_result": False, "coordinator_epoch": 0}
    assert mark(world, topic=CONSUMER_OFFSETS, partition=offsets.index, node=offsets.leader, **marker) == 0
    assert producer.commit_offset(5) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert producer.committed_offset() == [(-1, 0)]


def test_write_txn_markers_unknown_partition_returns_error(world: World) -> None:
    marker: dict[str, Any] = {"producer_id": 1, "producer_epoch": 0, "transaction_result": True, "coordinator_epoch": 0}
    assert mark(world, **marker, topic="nope") == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert mark(world, **marker, partition=1) == ErrorCode.NOT_LEADER_OR_FOLLOWER
