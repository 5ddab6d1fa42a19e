"""Produce requests with one batch as bytes."""

from __future__ import annotations

from odradek.protocol.frame import encode_request
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import World, produce_request


def frame(
    world: World, version: int, batch: bytes, *, correlation_id: int = 1, topic: str = "t", partition: int = 0, acks: int = -1
) -> bytes:
    found = world.cluster.topics.get(topic)
    topic_id = found.id if found and version >= 13 else bytes(16)
    request = produce_request(topic, batch, partition=partition, acks=acks, topic_id=topic_id)
    return b"".join(encode_request(PRODUCE, version, correlation_id, "test", request))
