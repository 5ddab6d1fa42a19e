"""A world with the topic `t` of one partition, and records of chosen timestamps in it, for retention and compaction."""

from __future__ import annotations

from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import START_MS, World, produce_request


def world_of(settings: dict[str, str], configs: dict[str, str]) -> World:
    """Returns a world. The names of `configs` are those of settings of topics with underscores in place of dots."""
    world = World(nodes=1, settings=settings)
    world.cluster.topics.create("t", 1, configs={name.replace("_", "."): text for name, text in configs.items()})
    return world


def start_of(world: World) -> int:
    """Returns the offset of the first record."""
    return world.cluster.topics["t"].partitions[0].log.start_offset


def append(world: World, timestamp: int = START_MS, key: bytes = b"k", size: int = 100) -> int:
    """Appends a record and returns its offset."""
    batch = bytes(build_batch([Record(0, timestamp, key, bytes(size), [])]))
    (answer,) = world.client().call(PRODUCE, 9, produce_request("t", batch)).responses[0].partition_responses
    return int(answer.base_offset)
