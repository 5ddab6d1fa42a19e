"""kafka_exporter's metrics: names, labels and values, also for partitions without a leader, hostile names and 10,000 partitions."""

from __future__ import annotations

from odradek.broker.metrics import kafka_exporter
from odradek.broker.metrics.openmetrics import labels
from odradek.broker.scheduling.slices import ITEMS
from tests.broker.harness import World, produce
from tests.broker.metrics.activity import commit
from tests.broker.metrics.expositions import Labels, labelled, of

ADDRESSES = {1: "127.0.0.1:9092", 2: "127.0.0.1:9093", 3: "127.0.0.1:9094"}


def rendered(world: World) -> dict[str, dict[Labels, float]]:
    return of(kafka_exporter.pieces(world.cluster, ADDRESSES))


def partition(topic: str, index: int) -> Labels:
    return labelled(topic=topic, partition=str(index))


def progress(group: str, topic: str, index: int) -> Labels:
    return labelled(consumergroup=group, topic=topic, partition=str(index))


def test_brokers_are_the_nodes_that_are_alive() -> None:
    world = World(3)
    world.cluster.nodes.stop(2)
    found = rendered(world)
    assert found["kafka_brokers"] == {labelled(): 2}
    assert found["kafka_broker_info"] == {labelled(id="1", address="127.0.0.1:9092"): 1, labelled(id="3", address="127.0.0.1:9094"): 1}


def test_partition_has_offsets_leader_and_replicas() -> None:
    world = World(3)
    world.cluster.topics.create("orders", assignments=[[1, 2, 3], [2, 3, 1]])
    for _ in range(3):
        produce(world, "orders", b"a", b"b")
    world.cluster.topics["orders"].partitions[0].delete_before(2)
    world.cluster.nodes.stop(1)
    found = rendered(world)
    first, second = partition("orders", 0), partition("orders", 1)
    assert found["kafka_topic_partitions"][labelled(topic="orders")] == 2
    assert found["kafka_topic_partition_current_offset"] == {first: 6, second: 0}
    assert found["kafka_topic_partition_oldest_offset"] == {first: 2, second: 0}
    assert found["kafka_topic_partition_leader"] == {first: 2, second: 2}
    assert found["kafka_topic_partition_leader_is_preferred"] == {first: 0, second: 1}
    assert found["kafka_topic_partition_replicas"] == {first: 3, second: 3}
    assert found["kafka_topic_partition_in_sync_replica"] == {first: 2, second: 2}
    assert found["kafka_topic_partition_under_replicated_partition"] == {first: 1, second: 1}


def test_partition_without_leader_has_neither_leader_nor_offsets() -> None:
    world = World(2)
    world.cluster.topics.create("orders", assignments=[[1], [2]])
    commit(world, "billing", {("orders", 0): 0, ("orders", 1): 0})
    world.cluster.nodes.stop(1)
    found = rendered(world)
    for name in ("current_offset", "oldest_offset", "leader"):
        assert partition("orders", 0) not in found[f"kafka_topic_partition_{name}"]
        assert partition("orders", 1) in found[f"kafka_topic_partition_{name}"]
    assert found["kafka_topic_partition_leader_is_preferred"][partition("orders", 0)] == 0


def test_group_has_offsets_and_lag_of_topics_with_commits() -> None:
    world = World(1)
    world.cluster.topics.create("orders", 3)
    world.cluster.topics.create("other", 1)
    produce(world, "orders", b"a", b"b", b"c")
    produce(world, "orders", b"a", partition=1)
    commit(world, "billing", {("orders", 0): 1, ("orders", 1): 5})
    found = rendered(world)
    keys = [progress("billing", "orders", index) for index in range(3)]
    assert found["kafka_consumergroup_current_offset"] == dict(zip(keys, (1, 5, -1), strict=True))
    assert found["kafka_consumergroup_lag"] == dict(zip(keys, (2, -4, -1), strict=True))
    assert found["kafka_consumergroup_current_offset_sum"] == {labelled(consumergroup="billing", topic="orders"): 1 + 5 - 1}
    assert found["kafka_consumergroup_lag_sum"] == {labelled(consumergroup="billing", topic="orders"): 2 - 4}
    assert found["kafka_consumergroup_members"] == {labelled(consumergroup="billing"): 0}


def test_group_without_coordinator_is_left_out() -> None:
    world = World(1)
    world.cluster.topics.create("orders", 1)
    commit(world, "billing", {("orders", 0): 1})
    assert rendered(world)["kafka_consumergroup_members"] == {labelled(consumergroup="billing"): 0}
    world.cluster.nodes.stop(1)
    assert "kafka_consumergroup_members" not in rendered(world)


def test_hostile_names_stay_one_label_value() -> None:
    world = World(1)
    world.cluster.topics.create("orders", 1)
    name = 'a"} 1\nkafka_brokers 99\n# EOF\n\\\r\u2028\x00<script>'
    commit(world, name, {("orders", 0): 1})
    found = rendered(world)
    assert found["kafka_brokers"] == {labelled(): 1}
    assert found["kafka_consumergroup_lag"] == {progress(name, "orders", 0): -1}
    assert labels(name='\\"\n') == '{name="\\\\\\"\\n"}'


def test_large_cluster_is_rendered_in_slices() -> None:
    world = World(1)
    world.cluster.topics.create("large", 10_000)
    for number in range(50):
        world.cluster.topics.create(f"small-{number}", 1)
    commit(world, "billing", {("large", 9_999): 0})
    pieces = list(kafka_exporter.pieces(world.cluster, ADDRESSES))
    assert max(piece.count("\n") for piece in pieces) <= ITEMS + 2
    found = of(pieces)
    assert sum(found["kafka_topic_partition_leader"].values()) == 10_050 + 50  # and 50 partitions of __consumer_offsets
    assert len(found["kafka_consumergroup_lag"]) == 10_000


def test_topic_deleted_between_slices_is_left_out() -> None:
    world = World(1)
    world.cluster.topics.create("orders", 1)
    world.cluster.topics.create("payments", 1)
    commit(world, "billing", {("orders", 0): 0, ("payments", 0): 0})
    commit(world, "audit", {("orders", 0): 0})
    pieces = kafka_exporter.pieces(world.cluster, ADDRESSES)
    text = [next(pieces)]
    world.cluster.delete_topic(world.cluster.topics["orders"])
    world.cluster.groups.delete("audit")
    found = of([*text, *pieces])
    assert {key for key in found["kafka_topic_partition_leader"] if ("topic", "orders") in key} == set()
    assert found["kafka_consumergroup_lag"] == {progress("billing", "payments", 0): 0}
    assert found["kafka_consumergroup_members"] == {labelled(consumergroup="billing"): 0}
