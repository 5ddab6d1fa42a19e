"""Produce in transactions, of idempotent producers, and the expiry of producer states."""

from __future__ import annotations

import pytest

from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.produce import PRODUCE, PartitionProduceData, ProduceRequest, TopicProduceData
from tests.broker.harness import World, a_batch
from tests.broker.transactions.producer import STATE, Producer, half_ended_producer
from tests.broker.transactions.reading import read_committed


@pytest.fixture
def world() -> World:
    return World().with_topic("t", 2)


@pytest.fixture
def half_ended() -> Producer:
    return half_ended_producer()


def test_produce_v12_waits_for_previous_transaction(half_ended: Producer) -> None:
    world, client = half_ended.world, half_ended.world.client(1)
    client.send(PRODUCE, 12, half_ended.produce_request(b"y"))
    client.send(PRODUCE, 12, half_ended.produce_request(b"z"))
    for _ in range(5):
        assert client.receive() is None
        world.advance(20)
    assert client.receive().responses[0].partition_responses[0].error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    world.advance(20)
    world.cluster.nodes.start(2)
    assert client.receive() is None
    world.advance(20)
    assert client.receive().responses[0].partition_responses[0].error_code == 0
    assert read_committed(world, "t", 0) == ([b"x"], 2)
    assert half_ended.end(commit=True).error_code == 0
    assert read_committed(world, "t", 0) == ([b"x", b"z"], 4)


def test_produce_after_unreplicated_marker_waits_for_both() -> None:
    """The previous transaction is complete when its marker is replicated. Then the new batch waits for the follower as well."""
    world = World()
    partition = world.cluster.topics.create("t", assignments=[[1, 2]]).partitions[0]
    producer, client, control = Producer(world), world.client(1), world.cluster.replica_control
    assert producer.write(b"x") == 0
    control.lag(partition, 2, 0)
    assert producer.end(commit=True).error_code == 0
    assert read_committed(world, "t", 0) == ([], 0)
    client.send(PRODUCE, 12, producer.produce_request(b"y"))
    world.advance(20)
    assert (client.receive(), partition.log.end_offset) == (None, 2)
    control.end_lag(partition, 2)
    assert read_committed(world, "t", 0) == ([b"x"], 2)
    control.lag(partition, 2, 0)
    world.advance(20)
    assert (client.receive(), partition.log.end_offset) == (None, 3)
    control.end_lag(partition, 2)
    world.advance(0)
    assert client.receive().responses[0].partition_responses[0].error_code == 0


def test_produce_acks_0_after_wait_closes_connection(half_ended: Producer) -> None:
    client = half_ended.world.client(1)
    client.send(PRODUCE, 12, half_ended.produce_request(b"y", acks=0))
    for _ in range(5):
        assert not client.closed
        half_ended.world.advance(20)
    assert client.closed


@pytest.mark.parametrize(
    ("version", "code"),
    [(9, ErrorCode.INVALID_TXN_STATE), (10, ErrorCode.INVALID_TXN_STATE), (11, ErrorCode.TRANSACTION_ABORTABLE), (12, 0)],
)
def test_produce_without_transaction_by_version(world: World, version: int, code: int) -> None:
    producer = Producer(world)
    assert producer.write(b"x", version=version) == code
    assert world.cluster.topics["t"].partitions[0].high_watermark == (not code)


@pytest.mark.parametrize("version", [9, 11, 12])
def test_produce_of_fenced_producer_returns_error(world: World, version: int) -> None:
    old = Producer(world)
    assert old.add() == [0]
    assert Producer.init(old, 5).error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    assert old.write(b"x", version=version) == ErrorCode.INVALID_PRODUCER_EPOCH


def test_produce_without_coordinator_can_be_retried() -> None:
    world = World(settings={"transaction.state.log.replication.factor": "1"})
    world.cluster.topics.create("t", assignments=[[1, 2]])
    transactional_id = next(name for name in "abcdefgh" if world_coordinator(world, name) == 2)
    producer = Producer(world, transactional_id)
    world.cluster.nodes.stop(2)
    for version in (11, 12):
        assert producer.write(b"x", version=version, transactional_id=transactional_id) == ErrorCode.NOT_ENOUGH_REPLICAS
    assert producer.write(b"y", version=12, transactional_id=transactional_id, base_sequence=1) == ErrorCode.NOT_ENOUGH_REPLICAS
    world.cluster.nodes.start(2)
    # The second batch must not be accepted before the first one.
    out_of_order = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert producer.write(b"y", transactional_id=transactional_id, base_sequence=1) == out_of_order
    assert producer.write(b"x", transactional_id=transactional_id) == 0


def test_produce_without_verification_is_accepted() -> None:
    world = World(settings={"transaction.partition.verification.enable": "false"})
    world.cluster.topics.create("t", 1)
    assert Producer(world).write(b"x", version=11) == 0


def test_produce_outside_transaction_returns_error(world: World) -> None:
    producer = Producer(world)
    assert producer.write(b"x", transactional_id=None) == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert producer.write(b"x", base_sequence=1) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert producer.write(b"x") == 0
    assert producer.write(b"y", is_transactional=False) == ErrorCode.INVALID_TXN_STATE
    assert producer.write(b"y") == 0


def test_produce_with_two_producers_returns_error(world: World) -> None:
    world = World(nodes=1)
    world.cluster.topics.create("t", 2)
    data = [
        PartitionProduceData(
            index=index, records=a_batch(b"x", producer_id=index, producer_epoch=0, base_sequence=0, is_transactional=True)
        )
        for index in (0, 1)
    ]
    request = ProduceRequest(
        transactional_id="x",
        acks=-1,
        timeout_ms=1,
        topic_data=[TopicProduceData(name="t", partition_data=[*data, PartitionProduceData(index=0, records=b"")])],
    )
    answers = world.client().call(PRODUCE, 12, request).responses[0].partition_responses
    assert {answer.error_code for answer in answers} == {ErrorCode.INVALID_PRODUCER_ID_MAPPING}


def test_produce_duplicate_returns_time_of_records(world: World) -> None:
    """Apache Kafka returns a log append time even though the topic has timestamps of producers."""
    producer = Producer(world)
    batch = a_batch(b"x", b"y", producer_id=producer.id, producer_epoch=0, base_sequence=0)
    data = TopicProduceData(name="t", partition_data=[PartitionProduceData(index=0, records=batch)])
    request = ProduceRequest(acks=-1, timeout_ms=1, topic_data=[data])
    answers = [world.leader_of("t").call(PRODUCE, 9, request).responses[0].partition_responses[0] for _ in range(2)]
    assert [(answer.error_code, answer.base_offset, answer.log_append_time_ms) for answer in answers] == [(0, 0, -1), (0, 0, 1001)]


def world_coordinator(world: World, transactional_id: str) -> int:
    world.cluster.topics.ensure_internal(STATE)
    partition = world.cluster.coordinator_log.partition(transactional_id, STATE)
    assert partition is not None
    return partition.leader


def test_producer_state_expires() -> None:
    world = World(settings={"producer.id.expiration.ms": "1000", "producer.id.expiration.check.interval.ms": "500"})
    world.cluster.topics.create("t", 1)
    producer = Producer(world)
    assert producer.write(b"x", is_transactional=False, transactional_id=None) == 0
    producers = world.cluster.topics["t"].partitions[0].producers
    world.advance(999)
    assert len(producers) == 1
    world.advance(501)
    assert len(producers) == 0
    world.advance(10_000)
    assert "producer expiration" not in world.timers
