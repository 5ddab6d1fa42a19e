"""Clusters whose record is read, and requests that are recorded together."""

from __future__ import annotations

from typing import Any

from odradek.broker.wire.record import WireRecord
from odradek.protocol.frame import encode_request
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import Client, World, a_batch, produce_request


def record_of(world: World) -> WireRecord:
    assert world.core.record is not None
    return world.core.record


def a_world(**options: Any) -> World:
    world = World(nodes=1, **options)
    world.cluster.topics.create("orders", 1, 1)
    return world


def pipelined(client: Client, count: int, *, acks: int = -1, size: int = 1) -> None:
    """Sends Produce requests as one piece of bytes, with the correlation ids from 100 on."""
    frames = [encode_request(PRODUCE, 9, 100 + n, "test", produce_request("orders", a_batch(bytes(size)), acks=acks)) for n in range(count)]
    client.feed(b"".join(b"".join(frame) for frame in frames))
