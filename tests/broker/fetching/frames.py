"""Fetch requests of one partition as bytes, and the bytes of their responses."""

from __future__ import annotations

from typing import Any

from odradek.protocol.frame import encode_request
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from tests.broker.harness import Client, World


def request(world: World, offset: int, version: int = 12, partition: int = 0, client_id: str = "test", **options: Any) -> bytes:
    """Returns the frame of a Fetch of one partition. `options` may contain fields of the request and of the partition."""
    topic = world.cluster.topics["t"]
    fields: dict[str, Any] = {"max_wait_ms": 500, "min_bytes": 1}
    inner: dict[str, Any] = {"partition_max_bytes": 1 << 20}
    for name, value in options.items():
        (inner if name in FetchPartition.__annotations__ else fields)[name] = value
    wanted = FetchPartition(partition=partition, fetch_offset=offset, **inner)
    topics = [FetchTopic(topic="t", topic_id=topic.id if version >= 13 else bytes(16), partitions=[wanted])]
    message = FetchRequest(topics=topics, **fields)
    return b"".join(encode_request(FETCH, version, 7, client_id, message))


def response(client: Client, data: bytes) -> bytes:
    """Returns all bytes that the client receives after it has sent some."""
    client.feed(data)
    received, client.sent = bytes(client.sent), bytearray()
    return received
