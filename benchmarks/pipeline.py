"""Sends Produce requests over plain sockets, with 5 requests in flight on each of 16 connections."""

from __future__ import annotations

import socket
from itertools import cycle
from random import Random
from struct import pack
from typing import Self

from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record, read_header
from odradek.protocol.frame import decode_response, encode_request
from odradek.protocol.messages.produce import PRODUCE, PartitionProduceData, ProduceRequest, TopicProduceData

CONNECTIONS, IN_FLIGHT, BURSTS = 16, 5, 500
TIMEOUT_S = 30
VERSION = 9  # a flexible version that the mock supports too


def batch(records: int, size: int) -> bytes:
    """Returns a batch of `records` records whose values have `size` bytes."""
    return bytes(build_batch(Record(offset, 1_700_000_000_000, None, bytes(size), []) for offset in range(records)))


def varied_batches() -> list[bytes]:
    """Returns batches of one record with 150 different sizes."""
    return [batch(1, size) for size in range(50, 200)]


class Pipeline:
    """Appends batches of equal numbers of records to a partition, again and again and in random order. A context manager."""

    def __init__(self, address: tuple[str, int], topic: str, *batches: bytes, partition: int = 0) -> None:
        frames = [_frame(topic, partition, records) for records in batches]
        self._frame, random = frames[0], Random(1)
        self._bursts = cycle([b"".join(random.choices(frames, k=IN_FLIGHT)) for _ in range(BURSTS if len(frames) > 1 else 1)])
        self._connections = [_connected(address) for _ in range(CONNECTIONS)]
        self._records = read_header(batches[0]).records_count
        self._response = bytearray()
        self._end_offset = self._request() + self._records

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self._connections:
            connection.close()

    def run(self, count: int) -> int:
        """Sends at least `count` requests; returns their number when all are acknowledged. Raises RuntimeError when a record was lost."""
        responses = memoryview(bytearray(len(self._response) * IN_FLIGHT))
        rounds = -(-count // (CONNECTIONS * IN_FLIGHT))
        for connection in self._connections:
            connection.sendall(next(self._bursts))
        for _ in range(rounds - 1):
            for connection in self._connections:
                connection.recv_into(responses, 0, socket.MSG_WAITALL)
                connection.sendall(next(self._bursts))
        end_offset = 0
        for connection in self._connections:
            connection.recv_into(responses, 0, socket.MSG_WAITALL)
            end_offset = max(end_offset, self._base_offset(responses[-len(self._response) :]) + self._records)
        count = rounds * CONNECTIONS * IN_FLIGHT
        self._end_offset += count * self._records
        if end_offset != self._end_offset:
            raise RuntimeError(f"{self._end_offset} records were acknowledged, {end_offset} are in the log")
        return count

    def append_once(self) -> None:
        """Sends one request and waits for its acknowledgement."""
        self._request()
        self._end_offset += self._records

    def _request(self) -> int:
        """Sends a request and returns its base offset. The size of this response is that of all others."""
        connection = self._connections[0]
        connection.sendall(self._frame)
        length = connection.recv(4, socket.MSG_WAITALL)
        self._response[:] = length + connection.recv(int.from_bytes(length), socket.MSG_WAITALL)
        return self._base_offset(memoryview(self._response))

    def _base_offset(self, frame: memoryview) -> int:
        _, response = decode_response(PRODUCE, VERSION, frame[4:])
        appended = response.responses[0].partition_responses[0]
        if appended.error_code:
            raise RuntimeError(f"Produce failed with error {appended.error_code}")
        return int(appended.base_offset)


def _frame(topic: str, partition: int, records: bytes) -> bytes:
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=partition, records=memoryview(records))])
    request = ProduceRequest(transactional_id=None, acks=1, timeout_ms=10_000, topic_data=[data])
    return b"".join(encode_request(PRODUCE, VERSION, 1, "benchmark", request))


def _connected(address: tuple[str, int]) -> socket.socket:
    connection = socket.create_connection(address)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # The timeout is set in the kernel, because Python's own would make the socket non-blocking, and MSG_WAITALL would not wait.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, pack("ll", TIMEOUT_S, 0))
    return connection
