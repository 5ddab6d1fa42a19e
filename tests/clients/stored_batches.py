"""Reads properties of stored batches that clients do not show."""

from __future__ import annotations

import socket

from odradek.protocol.batches.records import batches
from odradek.protocol.frame import decode_response, encode_request
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic

VERSION = 10
"""The version of Fetch, which all emulated releases serve."""


def codecs(bootstrap_servers: str, topic: str) -> set[str]:
    """Returns the codecs of the batches in both partitions, from all nodes, because only a leader returns records."""
    partitions = [FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=1 << 20) for index in (0, 1)]
    request = FetchRequest(max_wait_ms=0, min_bytes=0, topics=[FetchTopic(topic=topic, partitions=partitions)])
    found = set()
    for address in bootstrap_servers.split(","):
        host, port = address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), 5) as connection, connection.makefile("rb") as answers:
            connection.sendall(b"".join(encode_request(FETCH, VERSION, 1, "test", request)))
            size = int.from_bytes(answers.read(4), "big")
            response = decode_response(FETCH, VERSION, memoryview(answers.read(size)))[1]
        for partition in response.responses[0].partitions:
            found |= {batch.header.compression.name.lower() for batch in batches(partition.records or b"")}
    return found
