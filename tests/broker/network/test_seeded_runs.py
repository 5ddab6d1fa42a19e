"""Two runs of a seeded cluster with sockets, in processes with other hashes and other addresses of objects, answer the same bytes.

`tests/broker/test_determinism.py` compares the responses to all APIs without sockets.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path
from random import Random

from odradek import Cluster
from odradek.broker.wire.exchange import Event
from odradek.protocol.frame import encode_request
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest
from odradek.protocol.messages.init_producer_id import INIT_PRODUCER_ID, InitProducerIdRequest
from odradek.protocol.messages.join_group import JOIN_GROUP
from odradek.protocol.schema import Api, Message
from tests.broker.handlers.group_scene import join_request

ROOT = Path(__file__).parents[3]
CONNECTIONS = 24
ASKED: tuple[tuple[Api, int, Message], ...] = (
    (API_VERSIONS, 4, ApiVersionsRequest(client_software_name="test", client_software_version="1")),
    (INIT_PRODUCER_ID, 4, InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)),
    (
        JOIN_GROUP,
        5,
        join_request("billing"),
    ),
)


def answered(connection: socket.socket, api: Api, version: int, request: Message) -> bytes:
    connection.sendall(b"".join(encode_request(api, version, 1, "test", request)))
    size = int.from_bytes(connection.recv(4, socket.MSG_WAITALL), "big")
    return connection.recv(size, socket.MSG_WAITALL)


def run_script(minutes: float) -> None:
    """Prints the digests of all responses, and the order in which connections end when the node stops. Takes `minutes` of virtual time."""
    with Cluster(2, seed=7, topics={"orders": 4}) as cluster:
        ports = [int(address.rpartition(":")[2]) for address in cluster.bootstrap_servers.split(",")]
        connections, digests = [], []
        sizes = Random(time.time_ns())
        for _ in range(CONNECTIONS):
            # Other objects between those of the connections give each of them an address that differs between runs.
            ballast = [bytearray(sizes.randrange(4000)) for _ in range(100)]
            connections.append(socket.create_connection(("127.0.0.1", ports[0])))
            digests += [sha256(answered(connections[-1], *asked)).hexdigest() for asked in ASKED]
            del ballast[::2]
        cluster.clock.advance(minutes=minutes)
        digests += [sha256(answered(connections[0], *asked)).hexdigest() for asked in ASKED]
        numbers = {connection.getsockname()[1]: number for number, connection in enumerate(connections)}
        cluster.stop_node(1)
        ended = [entry for entry in cluster.wire.since() if isinstance(entry, Event) and entry.kind == "connection closed"]
        json.dump([digests, [numbers[int(str(event.fields["peer"]).rpartition(":")[2])] for event in ended]], sys.stdout)


def run_in_process(hash_seed: str, minutes: float) -> list[list[object]]:
    program = f"from tests.broker.network.test_seeded_runs import run_script; run_script({minutes})"
    environ = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    result: list[list[object]] = json.loads(run.stdout)
    return result


def test_seeded_runs_answer_and_end_connections_alike() -> None:
    first, second = run_in_process("1", 1), run_in_process("2", 1.5)
    assert first[0] == second[0], [number for number, pair in enumerate(zip(first[0], second[0], strict=True)) if pair[0] != pair[1]]
    assert first[1] == second[1] == list(range(CONNECTIONS))
