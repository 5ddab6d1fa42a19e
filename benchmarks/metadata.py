"""Measures how long the Metadata of one topic with many partitions takes, from the request until the whole response has arrived.

The client is a plain socket that does not decode the measured responses, so the figure contains the broker's work and the transfer.
"""

from __future__ import annotations

import socket
import time
from statistics import median
from struct import pack

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from odradek.protocol.errors import ErrorCode
from odradek.protocol.frame import decode_response, encode_request
from odradek.protocol.messages.metadata import METADATA, MetadataRequest, MetadataRequestTopic

VERSION = 9  # flexible, as newer versions are, and supported by all peers
REQUESTS = 15
TIMEOUT_S = 60


def metadata_s(bootstrap_servers: str, topic: str, partitions: int) -> float:
    """Creates a topic and returns the median of the seconds of REQUESTS requests for it. Deletes the topic afterwards."""
    admin = AdminClient({"bootstrap.servers": bootstrap_servers, "log_level": 0})
    admin.create_topics([NewTopic(topic, partitions)])[topic].result(TIMEOUT_S)
    host, port = bootstrap_servers.split(",")[0].split(":")
    request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False)
    frame = b"".join(encode_request(METADATA, VERSION, 1, "bench", request))
    try:
        with socket.create_connection((host, int(port))) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, pack("ll", TIMEOUT_S, 0))
            _await_leaders(connection, frame, partitions)
            return median(_request(connection, frame)[0] for _ in range(REQUESTS))
    finally:
        admin.delete_topics([topic])[topic].result(TIMEOUT_S)


def _await_leaders(connection: socket.socket, frame: bytes, partitions: int) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        (described,) = decode_response(METADATA, VERSION, _request(connection, frame)[1])[1].topics
        if sum(partition.error_code == ErrorCode.NONE for partition in described.partitions) == partitions:
            return
        time.sleep(0.05)
    raise RuntimeError(f"not all of {partitions} partitions have a leader")


def _request(connection: socket.socket, frame: bytes) -> tuple[float, memoryview]:
    """Returns the seconds until the response has arrived, and the response without its length."""
    began = time.perf_counter()
    connection.sendall(frame)
    size = int.from_bytes(connection.recv(4, socket.MSG_WAITALL))
    response = bytearray(size)
    connection.recv_into(response, size, socket.MSG_WAITALL)
    return time.perf_counter() - began, memoryview(response)
