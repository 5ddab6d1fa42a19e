"""The network of a run: hosts, listeners, latency, resets, half-open connections and partitions, all in memory and by the seed."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import Callable
from contextvars import ContextVar
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from .transport import Pipe

if TYPE_CHECKING:
    from .faults import SimulatedFaults
    from .loop import SimulatedLoop

LOOPBACK = "127.0.0.1"
CLIENT_HOST = "10.0.255.1"
_FIRST_PORT, _FIRST_CLIENT_PORT = 20_001, 50_001
_ROUND_TRIPS_TO_CONNECT = 1.5


class SimulatedHost:
    """A host while it runs. After it was killed, another one with the same name takes its place."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_alive = True


here: ContextVar[SimulatedHost] = ContextVar("place", default=SimulatedHost("test"))  # noqa: B039  (it never changes)
"""The host on which the present task runs."""


class Conditions(NamedTuple):
    """The treatment of segments.

    `latency` is the range, in seconds, from which each connection has one value. `splits`, `resets` and `half_open` are the shares of
    segments that arrive in two parts, that are answered by RST, and after which the connection is silent for ever.
    """

    latency: tuple[float, float] = (0.0002, 0.002)
    splits: float = 0.1
    resets: float = 0.0
    half_open: float = 0.0


class Tap(Protocol):
    """Sees the bytes of a connection."""

    def requested(self, data: bytes) -> None:
        """Bytes of the client have arrived at the server."""

    def answered(self, data: bytes) -> None:
        """The server has written bytes."""

    def delivered(self, data: bytes) -> None:
        """Bytes of the server have arrived at the client."""


class MemoryServer(asyncio.AbstractServer):
    """The result of `loop.create_server`."""

    def __init__(self, network: Network, factory: Callable[[], asyncio.BaseProtocol], address: tuple[str, int]) -> None:
        self._network, self.factory, self.address = network, factory, address
        self.place = here.get()

    @property
    def sockets(self) -> tuple[Any, ...]:
        """Objects whose `getsockname()` returns the address."""
        return (_Socket(self.address),)

    def close(self) -> None:
        self._network.close(self)

    def is_serving(self) -> bool:
        return self._network.listeners.get(self.address) is self

    async def wait_closed(self) -> None:
        """Returns at once, because closing takes no time."""

    async def start_serving(self) -> None:
        """Returns at once, because the server serves from its creation."""

    async def serve_forever(self) -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            self.close()

    def get_loop(self) -> asyncio.AbstractEventLoop:
        return self._network.loop


class _Socket(NamedTuple):
    address: tuple[str, int]
    family: int = socket.AF_INET

    def getsockname(self) -> tuple[str, int]:
        return self.address


class Network:
    """The hosts and connections of one run.

    `places` are the names of hosts by address, for servers that share an IP address; `taps` make what sees the bytes of the connections to
    an address.
    """

    def __init__(self, loop: SimulatedLoop, faults: SimulatedFaults, seed: int) -> None:
        self.loop, self.faults, self.seed = loop, faults, seed
        self.conditions = Conditions()
        self.listeners: dict[tuple[str, int], MemoryServer] = {}
        self.pipes: dict[Pipe, None] = {}
        self.places: dict[tuple[str, int], SimulatedHost] = {}
        self.taps: dict[tuple[str, int], Callable[[], Tap]] = {}
        self.cuts: dict[int, tuple[frozenset[str], frozenset[str]]] = {}
        self._numbers = count(1)
        self._connections: dict[str, count[int]] = {}
        """The numbers of the next connections by the names of hosts."""
        self._addresses: dict[str, str] = {"localhost": LOOPBACK, "0.0.0.0": LOOPBACK}
        self._ports, self._client_ports = count(_FIRST_PORT), count(_FIRST_CLIENT_PORT)
        self._healed: list[asyncio.Future[None]] = []

    def resolve(self, host: Any, port: Any) -> list[Any]:
        """Returns what `getaddrinfo` does: one IPv4 address."""
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (self._address(host), int(port or 0)))]

    def _address(self, host: Any) -> str:
        name = host.decode() if isinstance(host, bytes) else host or LOOPBACK
        if name.replace(".", "").isdigit():
            return name if name != "0.0.0.0" else LOOPBACK
        return self._addresses.setdefault(name, f"10.0.{len(self._addresses) // 250}.{len(self._addresses) % 250 + 1}")

    def listen(self, factory: Callable[[], asyncio.BaseProtocol], host: Any, port: Any) -> MemoryServer:
        """Returns a server that accepts connections from now on. Raises OSError if the address is in use."""
        host = host[0] if isinstance(host, list | tuple) else host
        address = self._address(host), int(port or 0) or next(self._ports)
        if address in self.listeners:
            raise OSError(errno.EADDRINUSE, f"error while attempting to bind on address {address}: address already in use")
        server = self.listeners[address] = MemoryServer(self, factory, address)
        return server

    def close(self, server: MemoryServer) -> None:
        """Refuses connections to a server from now on."""
        if self.listeners.get(server.address) is server:
            del self.listeners[server.address]

    async def connect(self, factory: Callable[[], asyncio.BaseProtocol], host: Any, port: Any) -> tuple[asyncio.Transport, Any]:
        """Connects to a listener after the time of a handshake. Raises ConnectionRefusedError, and OSError on a host that was killed."""
        place, address = here.get(), (self._address(host), int(port))
        if not place.is_alive:
            raise OSError(errno.ENETDOWN, os.strerror(errno.ENETDOWN))
        name = f"{place.name}/{next(self._connections.setdefault(place.name, count(1)))}"
        chance = Random(f"{self.seed} {name}")  # of its own, so that a fault elsewhere changes nothing here
        await asyncio.sleep(chance.uniform(*self.conditions.latency) * 2 * _ROUND_TRIPS_TO_CONNECT)
        server = self.listeners.get(address)
        target = self.places.get(address) or (server.place if server else place)
        while self.are_cut(place, target):
            healed: asyncio.Future[None] = self.loop.create_future()
            self._healed.append(healed)
            await healed
        if (server := self.listeners.get(address)) is None or not place.is_alive:
            self.loop.trace.add(f"refused {address}")
            raise ConnectionRefusedError(errno.ECONNREFUSED, f"Connect call failed {address}")
        host = CLIENT_HOST if server.address[0] != LOOPBACK else LOOPBACK
        addresses = (host, next(self._client_ports)), server.address
        pipe = Pipe(self, name, chance, addresses, (place, target), self.taps.get(server.address, _no_tap)())
        self.pipes[pipe] = None
        self.loop.trace.add(f"connect {name} {addresses}")
        client, accepted = pipe.ends
        protocol = factory()
        accepted.begin(server.factory())
        client.begin(protocol)
        return client, protocol

    # Failures

    def are_cut(self, one: SimulatedHost, other: SimulatedHost) -> bool:
        """Returns whether no segment gets from one host to another, nor back."""
        return any(_lies_between(cut, one.name, other.name) for cut in self.cuts.values())

    def cut(self, one: frozenset[str], other: frozenset[str]) -> int:
        """Separates two groups of hosts until `heal` is called with the number that this returns. Segments wait."""
        number = next(self._numbers)
        self.cuts[number] = one, other
        return number

    def heal(self, number: int) -> None:
        """Ends a separation. Segments that have waited arrive."""
        del self.cuts[number]
        waiting, self._healed = self._healed, []
        for healed in waiting:
            if not healed.done():
                healed.set_result(None)
        for pipe in list(self.pipes):
            pipe.continue_delivery()

    def end(self) -> None:
        """Ends all connections without a word to anybody, because the run has ended."""
        for pipe in list(self.pipes):
            for end in pipe.ends:
                end.vanish()
        self.listeners.clear()
        self.taps.clear()

    def kill(self, place: SimulatedHost) -> None:
        """Ends a host as a power cut does: it sends nothing any more, and its peers see RST."""
        place.is_alive = False
        for address, server in list(self.listeners.items()):
            if server.place is place:
                del self.listeners[address]
        for pipe in list(self.pipes):
            pipe.kill(place)


def _lies_between(cut: tuple[frozenset[str], frozenset[str]], one: str, other: str) -> bool:
    left, right = cut
    return (one in left and other in right) or (one in right and other in left)


class _NoTap:
    def requested(self, data: bytes) -> None:
        """Sees nothing."""

    answered = delivered = requested


def _no_tap() -> Tap:
    return _NoTap()
