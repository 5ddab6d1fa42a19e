"""Producer ids and the expiration of producers."""

from __future__ import annotations

from tests.broker.harness import World, produce


def test_generate_returns_increasing_ids() -> None:
    producer_ids = World().cluster.producer_ids
    assert [producer_ids.generate() for _ in range(3)] == [0, 1, 2]


def test_producers_idle_too_long_are_expired() -> None:
    world = World(nodes=1, settings={"producer.id.expiration.ms": "1000", "producer.id.expiration.check.interval.ms": "400"})
    world.cluster.topics.create("t", 1)
    producers = world.cluster.topics["t"].partitions[0].producers
    producer_id = world.cluster.producer_ids.generate()
    produce(world, "t", b"a", producer_id=producer_id, producer_epoch=0, base_sequence=0)
    world.advance(800)
    assert len(producers) == 1
    world.advance(400)
    assert (len(producers), "producer expiration" in world.timers) == (0, False)
