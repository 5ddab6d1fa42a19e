"""Measures the latency of 20 quiet clients, alone and beside one client that floods the broker.

The flood is a process that pipelines ApiVersions requests as fast as the broker reads them. Phases with and without it alternate, so that
both are measured under the same load of the machine.
"""

from __future__ import annotations

import itertools
import multiprocessing
import socket
import threading
import time
from collections.abc import Callable
from statistics import quantiles
from struct import pack

QUIET_CLIENTS, PHASES = 20, 3
PHASE_S = 2.0
PAUSE_S = 0.0005
TIMEOUT_S = 30
_REQUEST = pack(">ihhih", 10, 18, 0, 1, -1)  # ApiVersions v0
_FLOOD = _REQUEST * 1_000
_START = multiprocessing.get_context("spawn")

Address = tuple[str, int]


def quiet_p99_s(address: Address) -> tuple[float, float]:
    """Returns the 99th percentile of the quiet clients' latency in seconds: (alone, beside a flood)."""
    connections = [_connected(address) for _ in range(QUIET_CLIENTS)]
    alone: list[float] = []
    flooded: list[float] = []
    try:
        for _ in range(PHASES):
            alone += _latencies_s(connections)
            flooded += _beside_flood(address, lambda: _latencies_s(connections))
    finally:
        for connection in connections:
            connection.close()
    return _p99(alone), _p99(flooded)


def _p99(latencies_s: list[float]) -> float:
    return quantiles(latencies_s, n=100)[98]


def _connected(address: Address) -> socket.socket:
    connection = socket.create_connection(address)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, pack("ll", TIMEOUT_S, 0))
    return connection


def _latencies_s(connections: list[socket.socket]) -> list[float]:
    """Returns the latencies of requests that the clients send in turn, with a pause after each."""
    latencies = []
    end = time.perf_counter() + PHASE_S
    for connection in itertools.cycle(connections):
        began = time.perf_counter()
        if began > end:
            break
        connection.sendall(_REQUEST)
        size = int.from_bytes(connection.recv(4, socket.MSG_WAITALL))
        if len(connection.recv(size, socket.MSG_WAITALL)) != size:
            raise RuntimeError("a quiet client received no response")
        latencies.append(time.perf_counter() - began)
        time.sleep(PAUSE_S)
    return latencies


def _beside_flood(address: Address, measure: Callable[[], list[float]]) -> list[float]:
    started = _START.Event()
    flood = _START.Process(target=_flood, args=(address, started), daemon=True)
    flood.start()
    try:
        started.wait(TIMEOUT_S)
        return measure()
    finally:
        flood.terminate()
        flood.join()


def _flood(address: Address, started: threading.Event) -> None:
    connection = _connected(address)
    threading.Thread(target=_send_forever, args=(connection,), daemon=True).start()
    responses = bytearray(1 << 20)
    received = 0
    while size := connection.recv_into(responses):
        received += size
        if received > len(responses):
            started.set()


def _send_forever(connection: socket.socket) -> None:
    while True:
        connection.sendall(_FLOOD)
