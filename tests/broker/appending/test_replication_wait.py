"""Produce with acks=all while a replica lags. The differential families `lag` and `topology` compare the same with Apache Kafka."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.topics.partition import Partition
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.produce import PRODUCE, PartitionProduceData, ProduceRequest, TopicProduceData
from tests.broker.harness import Client, World, a_batch, produce_request

LAG_MS, TIMEOUT_MS = 30_000, 60_000


def a_world(*replicas: int, settings: dict[str, str] | None = None, **configs: str) -> tuple[World, Partition]:
    world = World(nodes=3, settings=settings)
    chosen = {name.replace("_", "."): value for name, value in configs.items()}
    return world, world.cluster.topics.create("t", assignments=[replicas], configs=chosen).partitions[0]


def send(world: World, *, timeout_ms: int = TIMEOUT_MS, version: int = 9, **batch: Any) -> Client:
    """Sends a batch with acks=all and returns the client."""
    client = world.leader_of("t")
    request = produce_request("t", a_batch(b"v", **batch))
    request.timeout_ms = timeout_ms
    client.send(PRODUCE, version, request)
    return client


def outcome(client: Client) -> tuple[int, int] | None:
    """Returns error code and base offset of the response, None if there is none yet."""
    response = client.receive()
    if response is None:
        return None
    answer = response.responses[0].partition_responses[0]
    return answer.error_code, answer.base_offset


def test_produce_waits_until_the_follower_catches_up() -> None:
    world, partition = a_world(1, 2)
    world.cluster.replica_control.lag(partition, 2, 0)
    client = send(world)
    assert outcome(client) is None
    world.cluster.replica_control.end_lag(partition, 2)
    world.advance(0)
    assert outcome(client) == (0, 0)


def test_produce_waits_until_the_follower_leaves_the_isr() -> None:
    world, partition = a_world(1, 2)
    world.cluster.replica_control.lag(partition, 2, 0)
    client = send(world)
    world.advance(LAG_MS - 1)
    assert (outcome(client), partition.isr) == (None, [1, 2])
    world.advance(1)
    assert (outcome(client), partition.isr) == ((0, 0), [1])


def test_produce_waits_until_a_distant_follower_has_the_batch() -> None:
    world, partition = a_world(1, 2)
    world.cluster.replica_control.lag(partition, 2, 2)
    first = send(world)
    others = [send(world), send(world)]
    assert (outcome(first), [outcome(each) for each in others]) == ((0, 0), [None, None])


def test_produce_not_replicated_in_time_returns_timed_out() -> None:
    world, partition = a_world(1, 2)
    world.cluster.replica_control.lag(partition, 2, 0)
    client, hurried = send(world, timeout_ms=500), send(world, timeout_ms=0)
    assert outcome(hurried) == (ErrorCode.REQUEST_TIMED_OUT, 1)
    world.advance(499)
    assert outcome(client) is None
    world.advance(1)
    assert outcome(client) == (ErrorCode.REQUEST_TIMED_OUT, 0)
    assert partition.log.end_offset == 2


def test_produce_below_min_isr_waits_and_then_is_refused() -> None:
    world, partition = a_world(1, 2, min_insync_replicas="2")
    world.cluster.replica_control.lag(partition, 2, 0)
    client = send(world)
    world.advance(LAG_MS)
    assert (outcome(client), outcome(send(world)), partition.elr) == (None, (ErrorCode.NOT_ENOUGH_REPLICAS, -1), [2])
    world.advance(TIMEOUT_MS)
    assert outcome(client) == (ErrorCode.REQUEST_TIMED_OUT, 0)


def test_produce_replicated_below_min_isr_returns_after_append() -> None:
    """The batch reaches all replicas, and one of them leaves before the response is sent."""
    world, partition = a_world(1, 2, min_insync_replicas="2")
    world.cluster.replica_control.lag(partition, 2, 0)
    client = send(world)
    world.cluster.replica_control.end_lag(partition, 2)
    world.cluster.nodes.stop(2)
    world.advance(0)
    assert outcome(client) == (ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, 0)


def test_produce_to_a_deposed_leader_returns_the_new_one() -> None:
    world, partition = a_world(1, 2)
    world.cluster.replica_control.lag(partition, 2, 0)
    client = send(world, version=10)
    world.cluster.replica_control.move_leader(partition, 2)
    world.advance(0)
    response = client.receive()
    answer = response.responses[0].partition_responses[0]
    assert (answer.error_code, answer.current_leader.leader_id, answer.current_leader.leader_epoch) == (6, 2, 1)
    assert [endpoint.node_id for endpoint in response.node_endpoints] == [2]
    assert partition.log.end_offset == 0


def test_produce_truncated_by_a_leader_that_returned_is_refused() -> None:
    world, partition = a_world(1, 2)
    world.cluster.replica_control.lag(partition, 2, 0)
    client = send(world)
    for node in (2, 1):
        world.cluster.replica_control.move_leader(partition, node)
    world.advance(0)
    assert outcome(client) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, 0)


def test_produce_sent_again_waits_for_the_first_copy() -> None:
    world, partition = a_world(1, 2)
    world.cluster.replica_control.lag(partition, 2, 0)
    clients = [send(world, producer_id=7, producer_epoch=0, base_sequence=0) for _ in range(2)]
    assert [outcome(client) for client in clients] == [None, None]
    world.cluster.replica_control.end_lag(partition, 2)
    world.advance(0)
    assert [outcome(client) for client in clients] == [(0, 0), (0, 0)]
    assert partition.log.end_offset == 1


def test_produce_with_a_learnt_shortcut_waits_as_well() -> None:
    world, partition = a_world(1, 2)
    client = world.leader_of("t")
    for _ in range(2):
        assert client.call(PRODUCE, 9, produce_request("t", a_batch(b"v"))).responses[0].partition_responses[0].error_code == 0
    world.cluster.replica_control.lag(partition, 2, 0)
    client.send(PRODUCE, 9, produce_request("t", a_batch(b"v")))
    assert outcome(client) is None
    world.cluster.replica_control.end_lag(partition, 2)
    world.advance(0)
    assert outcome(client) == (0, 2)
    assert client.call(PRODUCE, 9, produce_request("t", a_batch(b"v"))).responses[0].partition_responses[0].base_offset == 3


def test_produce_to_two_partitions_waits_for_the_slower_one() -> None:
    world = World(nodes=2)
    first, second = world.cluster.topics.create("t", assignments=[[1, 2], [1, 2]]).partitions
    world.cluster.replica_control.lag(first, 2, 0)
    data = [PartitionProduceData(index=index, records=a_batch(b"v")) for index in range(2)]
    client = world.client(1)
    request = ProduceRequest(acks=-1, timeout_ms=500, topic_data=[TopicProduceData(name="t", partition_data=data)])
    client.send(PRODUCE, 9, request)
    assert client.receive() is None
    world.advance(500)
    assert [each.error_code for each in client.receive().responses[0].partition_responses] == [ErrorCode.REQUEST_TIMED_OUT, 0]
    assert second.high_watermark == 1


@pytest.mark.parametrize("acks", [0, 1])
def test_produce_without_acks_of_all_does_not_wait(acks: int) -> None:
    world, partition = a_world(1, 2)
    world.cluster.replica_control.lag(partition, 2, 0)
    client = world.leader_of("t")
    client.send(PRODUCE, 9, produce_request("t", a_batch(b"v"), acks=acks))
    assert outcome(client) == ((0, 0) if acks else None)
    assert partition.log.end_offset == 1
