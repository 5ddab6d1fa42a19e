"""UnregisterBroker."""

from __future__ import annotations

from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.describe_cluster import DESCRIBE_CLUSTER, DescribeClusterRequest
from odradek.protocol.messages.unregister_broker import UNREGISTER_BROKER, UnregisterBrokerRequest
from tests.broker.harness import World


def unregister(world: World, node_id: int) -> int:
    answer = world.client(1).call(UNREGISTER_BROKER, 0, UnregisterBrokerRequest(broker_id=node_id))
    return int(answer.error_code)


def described(world: World) -> list[int]:
    request = DescribeClusterRequest(include_cluster_authorized_operations=False, include_fenced_brokers=True)
    return [broker.broker_id for broker in world.client(1).call(DESCRIBE_CLUSTER, 2, request).brokers]


def test_unregister_stopped_node_removes_it_until_it_starts() -> None:
    world = World(nodes=3)
    world.cluster.nodes.stop(3)
    assert described(world) == [1, 2, 3]
    assert unregister(world, 3) == 0
    assert described(world) == [1, 2]
    assert unregister(world, 3) == ErrorCode.BROKER_ID_NOT_REGISTERED
    world.cluster.nodes.start(3)
    assert described(world) == [1, 2, 3]


def test_unregister_running_node_ends_its_leaderships() -> None:
    world = World(nodes=2)
    partition = world.cluster.topics.create("t", assignments=[[2, 1]]).partitions[0]
    assert unregister(world, 2) == 0
    assert partition.leader == 1
    assert described(world) == [1]


def test_unregister_unknown_node_is_refused() -> None:
    assert unregister(World(), 9) == ErrorCode.BROKER_ID_NOT_REGISTERED
