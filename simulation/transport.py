"""A connection in memory: a pipe with a transport at each end."""

from __future__ import annotations

import asyncio
import errno
import os
from collections import deque
from collections.abc import Iterable
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .network import Network, SimulatedHost, Tap

HIGH_BYTES = 65_536
_END, _ABORT = b"", None


class Pipe:
    """The two ends of a connection, of which the first is the client's. Both directions have the same latency."""

    def __init__(
        self,
        network: Network,
        name: str,
        chance: Random,
        addresses: tuple[tuple[str, int], tuple[str, int]],
        places: tuple[SimulatedHost, SimulatedHost],
        tap: Tap,
    ) -> None:
        self.network, self.name, self.chance, self.addresses, self.places, self.tap = network, name, chance, addresses, places, tap
        self.latency_s = chance.uniform(*network.conditions.latency)
        self.is_silent = False
        client, server = MemoryTransport(self, 0), MemoryTransport(self, 1)
        client.peer, server.peer = server, client
        self.ends = client, server

    def __str__(self) -> str:
        return f"{self.places[0].name} to {self.places[1].name}"

    @property
    def is_cut(self) -> bool:
        """Whether segments wait because the hosts are separated."""
        return bool(self.network.cuts) and self.network.are_cut(*self.places)

    def reset(self) -> None:
        """Ends the connection: both ends see RST."""
        for end in self.ends:
            end.lose(connection_reset())

    def kill(self, place: SimulatedHost) -> None:
        """Ends the connection if one of its ends is at a host that was killed. This end sees nothing, the other one RST."""
        for end, at in zip(self.ends, self.places, strict=True):
            if at is place:
                end.vanish()

    def continue_delivery(self) -> None:
        for end in self.ends:
            end.wake()


class MemoryTransport(asyncio.Transport):
    """One end of a pipe. `_arriving` has what its peer has written, with the time of arrival: bytes, the end, or an abort."""

    peer: MemoryTransport

    def __init__(self, pipe: Pipe, side: int) -> None:
        super().__init__({"sockname": pipe.addresses[side], "peername": pipe.addresses[1 - side]})
        self._pipe, self._side = pipe, side
        self._loop = pipe.network.loop
        self._protocol: Any = None
        self._arriving: deque[tuple[float, bytes | None]] = deque()
        self._last_arrival_s = 0.0
        self._unread = 0
        self._high, self._low = HIGH_BYTES, HIGH_BYTES // 4
        self._is_full = False
        self._reading = True
        self._closing = False
        self._lost = False
        self._delivery: asyncio.TimerHandle | None = None

    def begin(self, protocol: asyncio.BaseProtocol) -> None:
        """Gives the end its first protocol."""
        self._protocol = protocol
        protocol.connection_made(self)

    # asyncio.Transport

    def get_protocol(self) -> asyncio.BaseProtocol:
        protocol: asyncio.BaseProtocol = self._protocol
        return protocol

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = protocol

    def is_closing(self) -> bool:
        return self._closing

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._closing or not data:
            return
        segment = bytes(data)
        self._loop.trace.add(f"write {self._side} {self._pipe.name}", segment)
        if self._side:
            self._pipe.tap.answered(segment)
        if not self._is_hit():
            for part in self._parts(segment):
                self._send(part)
                self._unread += len(part)
            if self._unread > self._high and not self._is_full:
                self._is_full = True
                self._protocol.pause_writing()

    def _is_hit(self) -> bool:
        """Lets a reset or a half-open connection happen. Returns whether the segment is lost."""
        network = self._pipe.network
        chance, conditions, name = self._pipe.chance, network.conditions, self._pipe.name
        if (
            conditions.resets
            and chance.random() < conditions.resets
            and network.faults.happens(f"reset {name}", f"the connection from {self._pipe} is reset")
        ):
            self._loop.call_soon(self._pipe.reset)
            return True
        text = f"the connection from {self._pipe} is half-open"
        if conditions.half_open and chance.random() < conditions.half_open and network.faults.happens(f"half-open {name}", text):
            self._pipe.is_silent = True
        return self._pipe.is_silent

    def _parts(self, segment: bytes) -> Iterable[bytes]:
        chance = self._pipe.chance
        if len(segment) > 1 and chance.random() < self._pipe.network.conditions.splits:
            middle = chance.randrange(1, len(segment))
            return segment[:middle], segment[middle:]
        return (segment,)

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        self.write(b"".join(list_of_data))

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        if not self._closing:
            self._send(_END)

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            self._send(_END)
            self._loop.call_soon(self.lose, None)

    def abort(self) -> None:
        if not self._lost:
            self._closing = True
            self._send(_ABORT)
            self._loop.call_soon(self.lose, None)

    def pause_reading(self) -> None:
        self._reading = False

    def resume_reading(self) -> None:
        self._reading = True
        self.wake()

    def is_reading(self) -> bool:
        return self._reading and not self._closing

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._high = HIGH_BYTES if high is None else high
        self._low = self._high // 4 if low is None else low

    def get_write_buffer_limits(self) -> tuple[int, int]:
        return self._low, self._high

    def get_write_buffer_size(self) -> int:
        return max(0, self._unread - HIGH_BYTES)

    # Delivery

    def _send(self, part: bytes | None) -> None:
        if not self._pipe.is_silent:
            self.peer.arrive(part)

    def arrive(self, part: bytes | None) -> None:
        """Lets bytes, an end or an abort arrive after the latency, and after everything before."""
        latency_s = self._pipe.latency_s
        delay_s = latency_s + self._pipe.chance.expovariate(4 / latency_s) if latency_s else 0.0
        self._last_arrival_s = max(self._last_arrival_s, self._loop.now_s + delay_s)
        self._arriving.append((self._last_arrival_s, part))
        self.wake()

    def wake(self) -> None:
        """Delivers what has arrived at its time, unless this end does not read or its host is cut off."""
        if self._arriving and self._reading and not self._lost and self._delivery is None and not self._pipe.is_cut:
            self._delivery = self._loop.call_at(self._arriving[0][0], self._deliver)

    def _deliver(self) -> None:
        self._delivery = None
        if self._lost or not self._reading or self._pipe.is_cut:
            return
        _, part = self._arriving.popleft()
        if part is _ABORT:
            self.lose(connection_reset())
        elif not part:
            if not self._protocol.eof_received():
                self.close()
        else:
            self.peer.was_read(len(part))
            (self._pipe.tap.requested if self._side else self._pipe.tap.delivered)(part)
            self._pass_on(part)
            self.wake()

    def _pass_on(self, data: bytes) -> None:
        protocol = self._protocol
        if not isinstance(protocol, asyncio.BufferedProtocol):
            protocol.data_received(data)
            return
        while data and not self._lost:
            room: Any = protocol.get_buffer(len(data))
            size = min(len(room), len(data))
            room[:size] = data[:size]
            data = data[size:]
            protocol.buffer_updated(size)
            if data and not self._reading:
                self._arriving.appendleft((self._loop.now_s, data))
                self.peer.put_back(len(data))
                return

    def was_read(self, size: int) -> None:
        """Lets the protocol write again once the peer has read enough."""
        self._unread -= size
        if self._is_full and self._unread <= self._low and not self._lost:
            self._is_full = False
            self._loop.call_soon(self._protocol.resume_writing)

    def put_back(self, size: int) -> None:
        """Counts bytes again that the peer could not read."""
        self._unread += size

    def lose(self, error: Exception | None) -> None:
        """Ends this end, which its protocol learns at once."""
        if not self._lost:
            self._end()
            self._loop.trace.add(f"lost {self._side} {self._pipe.name} {type(error).__name__}")
            self._protocol.connection_lost(error)

    def vanish(self) -> None:
        """Ends this end without a word to its protocol, because its host was killed. The peer sees RST."""
        if not self._lost:
            self._send(_ABORT)
            self._end()

    def _end(self) -> None:
        self._lost = self._closing = True
        if self.peer._lost:  # noqa: SLF001  (it is of the same class)
            self._pipe.network.pipes.pop(self._pipe, None)


def connection_reset() -> ConnectionResetError:
    """Returns the error of a connection that has received RST."""
    return ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
