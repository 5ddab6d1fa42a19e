"""The broker that only receives: librdkafka's producer can write to it."""

from __future__ import annotations

import socket

from confluent_kafka import Producer

from benchmarks.brokers import floor

TIMEOUT_S = 10


def test_floor_acknowledges_small_and_large_batches() -> None:
    delivered: list[object] = []
    with floor() as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "acks": 1, "linger.ms": 5})
        for size in (10, 10, 200_000, 200_000):
            producer.produce("topic", bytes(size), on_delivery=lambda error, message: delivered.append(error))
            producer.flush(TIMEOUT_S)
    assert delivered == [None] * 4


def test_floor_survives_a_client_that_closes_its_connection() -> None:
    with floor() as broker:
        for _ in range(2):
            with socket.create_connection(broker.address, TIMEOUT_S) as connection:
                connection.sendall((1000).to_bytes(4) + b"begun")
        with socket.create_connection(broker.address, TIMEOUT_S) as connection:
            connection.sendall(bytes.fromhex("0000000a 0012 0000 00000007 ffff"))
            assert connection.recv(4, socket.MSG_WAITALL)
            assert connection.recv(4) == b"\0\0\0\x07"
