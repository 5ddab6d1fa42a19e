"""Measures how long a canary waits while another client sends one large request of each API: `python -m benchmarks.isolation`.

Each API gets requests of 1 MB, 10 MB and the limit (`socket.request.max.bytes`), with as many array elements as a request may have, whose
texts are as long as the size needs, and with more elements, which are refused. The canary sends ApiVersions every millisecond on a
connection of its own. A wait above 50 ms is measured again, because the noise of a machine only adds time. The exit code is 1 if one
remains. `--tls` encrypts both connections, `--apis Fetch,Produce` and `--sizes 1` limit the run.
"""

from __future__ import annotations

import argparse
import multiprocessing
import socket
import ssl
import sys
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from struct import pack
from typing import NamedTuple

from odradek.protocol.codec import MAX_ITEMS
from odradek.protocol.frame import encode_request
from odradek.protocol.messages import APIS
from odradek.protocol.schema import Api
from tests.broker.harness import World
from tests.broker.requests import Maker, Naming, Place, minimal, places
from tests.fuzz.broker_process import BrokerProcess

LIMIT_BYTES, MARGIN_BYTES = 104_857_600, 1_000
SIZES_BYTES = {"1": 1_000_000, "10": 10_000_000, "limit": LIMIT_BYTES - MARGIN_BYTES}
MAX_WAIT_S, TRIES = 0.050, 4
MAX_TEXT_BYTES, STEP_BYTES = 32_000, 100
PAUSE_S, TIMEOUT_S = 0.001, 120
_VERSIONS = pack(">ihhih", 10, 18, 0, 1, -1)
_SPAWN = multiprocessing.get_context("spawn")

Address = tuple[str, int]


class Load(NamedTuple):
    """A request: its API, the array with many elements, the wanted size, and the frame."""

    place: Place
    size: str
    elements: int
    frame: bytes


class Wait(NamedTuple):
    """The longest wait of the canary beside a load, and how long the load took until it was answered or refused."""

    longest_s: float
    took_s: float
    outcome: str


def main() -> int:
    options = _parser().parse_args()
    apis = [api for api in APIS.values() if not options.apis or api.name in options.apis.split(",")]
    serve = ("--nodes=1", "--port=0", *(("--tls", "auto") if options.tls else ()))
    too_long = 0
    with BrokerProcess({"auto.create.topics.enable": "false"}, topics=["a_0:100", "a_1:1"], options=serve) as broker:
        canary = _Canary(broker.addresses[0], tls=options.tls)
        print("| request | size | elements | bytes | outcome | took | canary waited |\n|---|---|---|---|---|---|---|")
        for load in _loads(apis, options.sizes.split(",")):
            wait = _measured(load, broker.addresses[0], canary, tls=options.tls)
            too_long += wait.longest_s > MAX_WAIT_S
            print(
                f"| {load.place} | {load.size} | {load.elements} | {len(load.frame)} | {wait.outcome} | {wait.took_s * 1000:.0f} ms "
                f"| {wait.longest_s * 1000:.1f} ms |",
                flush=True,
            )
        errors = broker.logged_errors()
    print(f"{too_long} waits above {MAX_WAIT_S * 1000:.0f} ms", *errors, sep="\n")
    return 1 if too_long or errors else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.isolation", description="Measure the waits beside large requests.")
    parser.add_argument("--apis", default="", help="names of APIs, separated by commas; default: all")
    parser.add_argument("--sizes", default=",".join(SIZES_BYTES), help="sizes in MB, or limit; default: %(default)s")
    parser.add_argument("--tls", action="store_true", help="encrypt the connections")
    return parser


def _loads(apis: list[Api], sizes: list[str]) -> Iterator[Load]:
    """Yields the loads. Requests of 1 MB are made for each array of an API, larger ones for the deepest."""
    world = World(1)
    for api in apis:
        found = sorted(places(api), key=lambda place: len(place.path))
        for size in sizes:
            for place in found if size == "1" else found[-1:]:
                for elements in (MAX_ITEMS - 2 * len(place.path), 2 * MAX_ITEMS):
                    yield Load(place, size, elements, _frame(world, place, elements, SIZES_BYTES[size]))
            if not found:
                yield Load(Place(api, api.versions.last, ()), size, 0, _padded(api, SIZES_BYTES[size]))


def _frame(world: World, place: Place, elements: int, size_bytes: int) -> bytes:
    """Returns a frame of about `size_bytes`, of fewer if there are too few texts or they would be too long."""

    def made(prefix_bytes: int) -> bytes:
        request = Maker(world, place, elements, Naming("b" * prefix_bytes + ".")).request()
        return b"".join(encode_request(place.api, place.version, 1, "load", request))

    short, longer = len(made(0)), len(made(STEP_BYTES))
    missing = (size_bytes - short) * STEP_BYTES // (longer - short) if longer > short else 0
    return made(min(max(missing, 0), MAX_TEXT_BYTES))


def _padded(api: Api, size_bytes: int) -> bytes:
    """Returns a minimal request followed by bytes that a broker ignores."""
    frame = b"".join(encode_request(api, api.versions.last, 1, "load", minimal(api)))
    return pack(">i", size_bytes) + frame[4:] + bytes(size_bytes + 4 - len(frame))


def _measured(load: Load, address: Address, canary: _Canary, *, tls: bool) -> Wait:
    best = Wait(float("inf"), 0, "")
    for _ in range(TRIES):
        canary.longest_s()
        began = time.monotonic()
        outcome = _send(load.frame, address, tls=tls)
        took = time.monotonic() - began
        time.sleep(3 * PAUSE_S)
        best = min(best, Wait(canary.longest_s(), took, outcome))
        if best.longest_s <= MAX_WAIT_S:
            break
    return best


def _connect(address: Address, *, tls: bool) -> socket.socket:
    connection = socket.create_connection(address, TIMEOUT_S)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if not tls:
        return connection
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context.wrap_socket(connection)


def _send(frame: bytes, address: Address, *, tls: bool) -> str:
    """Sends a frame on a new connection, and reads the whole response."""
    with _connect(address, tls=tls) as connection:
        try:
            connection.sendall(frame)
            size = int.from_bytes(_read(connection, 4), "big")
            _read(connection, size)
        except TimeoutError:
            return "waits"
        except OSError:
            return "refused"
    return "answered"


def _read(connection: socket.socket, size: int) -> bytes:
    """Returns the next bytes, only the last part of which is kept. Raises ConnectionError at the end of the connection."""
    part = b""
    while size:
        part = connection.recv(min(size, 1 << 20))
        if not part:
            raise ConnectionError("the broker has closed the connection")
        size -= len(part)
    return part


class _Canary:
    """A process that measures how long the broker takes for a small request."""

    def __init__(self, address: Address, *, tls: bool) -> None:
        self._channel, other = _SPAWN.Pipe()
        _SPAWN.Process(target=_sing, args=(address, tls, other), daemon=True).start()
        self._channel.recv()

    def longest_s(self) -> float:
        """Returns the longest wait since the last call, including one that lasts still."""
        self._channel.send(None)
        return float(self._channel.recv())


def _sing(address: Address, tls: bool, channel: Connection) -> None:
    connection, longest_s = _connect(address, tls=tls), 0.0
    channel.send(None)
    while True:
        began = time.monotonic()
        connection.sendall(_VERSIONS)
        _read(connection, int.from_bytes(_read(connection, 4), "big"))
        longest_s = max(longest_s, time.monotonic() - began)
        if channel.poll(PAUSE_S):
            channel.recv()
            channel.send(longest_s)
            longest_s = 0.0


if __name__ == "__main__":
    sys.exit(main())
