"""The floor of bulk Produce: a broker that receives each request into new memory, computes its CRC and acknowledges it.

It checks nothing, and keeps the requests until the connection is closed. A broker that keeps what it receives cannot cost less than this,
apart from the way in which it gets its memory. Runs in a process of its own: prints its address, and ends when standard input is closed.
"""

from __future__ import annotations

import mmap
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from crc32c import crc32c

from odradek.protocol.frame import encode_response, read_request_header
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from odradek.protocol.messages.metadata import (
    METADATA,
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from odradek.protocol.messages.produce import PRODUCE, PartitionProduceResponse, ProduceRequest, ProduceResponse, TopicProduceResponse
from odradek.protocol.schema import Message

LARGE_BYTES = 64 * 1024
_PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
_VERSIONS = {API_VERSIONS: (0, 3), METADATA: (1, 9), PRODUCE: (3, 9)}


def main() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    host, port = listener.getsockname()
    threading.Thread(target=_accept, args=(listener,), daemon=True).start()
    print(f"bootstrap.servers={host}:{port}", flush=True)
    sys.stdin.read()


def _accept(listener: socket.socket) -> None:
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=_serve, args=(connection, listener.getsockname()), daemon=True).start()


def _serve(connection: socket.socket, address: tuple[str, int]) -> None:
    kept, response, answered = [], bytearray(), None
    for frame in _frames(connection):
        kept.append(frame)
        header = read_request_header(frame)
        if header.api is PRODUCE:
            crc32c(frame)
        if header.api is not PRODUCE or answered is not PRODUCE:
            request = header.api.request.decoders[header.version](frame, header.position)[0]
            message = _RESPONSES[header.api.key](request, address)
            response[:] = b"".join(encode_response(header.api, header.version, header.correlation_id, message))
        response[4:8] = frame[4:8]  # the correlation id; a Produce gets the response to the one before it
        connection.sendall(response)
        answered = header.api


def _frames(connection: socket.socket) -> Iterator[memoryview]:
    """Yields each frame in memory of its own, until the client closes the connection."""
    while len(prefix := connection.recv(4, socket.MSG_WAITALL)) == 4:
        size, filled = int.from_bytes(prefix), 0
        frame = memoryview(mmap.mmap(-1, size, flags=_PRIVATE) if size > LARGE_BYTES else bytearray(size))
        while filled < size:
            filled += connection.recv_into(frame[filled:])
        yield frame


def _api_versions(request: ApiVersionsRequest, address: tuple[str, int]) -> ApiVersionsResponse:
    return ApiVersionsResponse(
        api_keys=[ApiVersion(api_key=api.key, min_version=first, max_version=last) for api, (first, last) in _VERSIONS.items()]
    )


def _metadata(request: MetadataRequest, address: tuple[str, int]) -> MetadataResponse:
    """Returns one partition for each topic that the client asks for."""
    host, port = address
    partition = MetadataResponsePartition(partition_index=0, leader_id=1, leader_epoch=0, replica_nodes=[1], isr_nodes=[1])
    return MetadataResponse(
        brokers=[MetadataResponseBroker(node_id=1, host=host, port=port)],
        controller_id=1,
        topics=[MetadataResponseTopic(name=topic.name, partitions=[partition]) for topic in request.topics or []],
    )


def _acknowledged(request: ProduceRequest, address: tuple[str, int]) -> ProduceResponse:
    (topic,) = request.topic_data
    partition = PartitionProduceResponse(index=topic.partition_data[0].index, base_offset=0)
    return ProduceResponse(responses=[TopicProduceResponse(name=topic.name, partition_responses=[partition])])


_RESPONSES: dict[int, Callable[[Any, tuple[str, int]], Message]] = {
    API_VERSIONS.key: _api_versions,
    METADATA.key: _metadata,
    PRODUCE.key: _acknowledged,
}


if __name__ == "__main__":
    main()
